#include "runtime/cluster/device_name.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/base/status_macros.h"
#include "runtime/cluster/host_port.h"

namespace cohort {
namespace {

constexpr absl::string_view kBuiltInTypes[] = {"CPU", "GPU", "TPU", "TPU_SYSTEM", "XLA_CPU", "XLA_GPU"};

bool IsName(absl::string_view text) {
  return !text.empty() && absl::ascii_isalpha(text[0]) &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

// "/GPU:1" and the like have no "device:" in front; only these types may.
bool IsBuiltIn(absl::string_view type) {
  return std::any_of(std::begin(kBuiltInTypes), std::end(kBuiltInTypes),
                     [type](absl::string_view t) { return absl::EqualsIgnoreCase(t, type); });
}

absl::Status Bad(absl::string_view why) { return absl::InvalidArgumentError(why); }

absl::Status SetNumber(absl::string_view text, std::optional<int>& field) {
  if (field) return Bad("appears twice");
  if (text == "*") return absl::OkStatus();
  int value = 0;
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
  if (!digits || !absl::SimpleAtoi(text, &value)) return Bad("needs a number from 0, or '*'");
  field = value;
  return absl::OkStatus();
}

absl::Status SetJob(absl::string_view text, DeviceName& name) {
  if (name.job) return Bad("appears twice");
  if (text == "*") return absl::OkStatus();
  if (!IsName(text)) return Bad("a job's name is letters, digits and '_', and begins with a letter");
  name.job = std::string(text);
  return absl::OkStatus();
}

// words: the type, then perhaps an ordinal.
absl::Status SetDevice(absl::Span<const absl::string_view> words, DeviceName& name) {
  if (name.type) return Bad("multiple device types");
  if (words.size() > 2 || !IsName(words[0])) return Bad("needs a device type and a number, as in device:GPU:0");
  const bool upper = absl::EqualsIgnoreCase(words[0], "CPU") || absl::EqualsIgnoreCase(words[0], "GPU");
  name.type = upper ? absl::AsciiStrToUpper(words[0]) : std::string(words[0]);
  return words.size() == 2 ? SetNumber(words[1], name.ordinal) : absl::OkStatus();
}

absl::Status SetPart(absl::string_view part, DeviceName& name) {
  std::vector<absl::string_view> words = absl::StrSplit(part, ':');
  if (IsBuiltIn(words[0])) {
    const std::string type = absl::AsciiStrToUpper(words[0]);
    words[0] = type;
    return SetDevice(words, name);
  }
  if (words[0] == "device" && words.size() > 1) return SetDevice(absl::MakeConstSpan(words).subspan(1), name);
  if (words.size() == 2 && words[0] == "job") return SetJob(words[1], name);
  if (words.size() == 2 && words[0] == "replica") return SetNumber(words[1], name.replica);
  if (words.size() == 2 && words[0] == "task") return SetNumber(words[1], name.task);
  return Bad("unknown attribute");
}

void Overlay(const DeviceName& over, DeviceName& name) {
  if (over.job) {
    name.job = over.job;
    name.task = 0;
  }
  if (over.replica) name.replica = over.replica;
  if (over.task) name.task = over.task;
  if (over.type) {
    if (over.type != name.type) name.ordinal = 0;  // an ordinal means nothing for another type
    name.type = over.type;
  }
  if (over.ordinal) name.ordinal = over.ordinal;
}

}  // namespace

std::string DeviceName::ToString() const {
  std::string text;
  if (job) absl::StrAppend(&text, "/job:", *job);
  if (replica) absl::StrAppend(&text, "/replica:", *replica);
  if (task) absl::StrAppend(&text, "/task:", *task);
  if (type) absl::StrAppend(&text, "/device:", *type, ":", ordinal ? absl::StrCat(*ordinal) : "*");
  return text;
}

absl::StatusOr<DeviceName> ParseDeviceName(absl::string_view text) {
  DeviceName name;
  for (absl::string_view part : absl::StrSplit(text, '/', absl::SkipEmpty())) {
    COHORT_RETURN_IF_ERROR(SetPart(part, name)) << "device " << Quoted(text) << ", part " << Quoted(part);
  }
  return name;
}

DeviceName Canonicalize(const DeviceName& device, const DeviceName& fallback, const std::optional<TaskId>& process) {
  DeviceName name{.job = process ? process->job : "localhost",
                  .replica = 0,
                  .task = process ? process->index : 0,
                  .type = "CPU",
                  .ordinal = 0};
  Overlay(fallback, name);
  Overlay(device, name);
  return name;
}

absl::StatusOr<std::string> CanonicalDevice(absl::string_view device, absl::string_view fallback,
                                            const std::optional<TaskId>& process) {
  COHORT_ASSIGN_OR_RETURN(const DeviceName name, ParseDeviceName(device));
  COHORT_ASSIGN_OR_RETURN(const DeviceName scope, ParseDeviceName(fallback));
  return Canonicalize(name, scope, process).ToString();
}

absl::StatusOr<std::string> CanonicalDeviceWithoutJobAndTask(absl::string_view device) {
  COHORT_ASSIGN_OR_RETURN(const DeviceName parsed, ParseDeviceName(device));
  DeviceName name = Canonicalize(parsed);
  name.job.reset();
  name.task.reset();
  return name.ToString();
}

DeviceName HostDevice(const DeviceName& device) {
  DeviceName host = device;
  host.type = "CPU";
  host.ordinal = 0;
  return host;
}

std::map<std::string, int> CountAccelerators(absl::Span<const DeviceName> devices, const TaskId& task) {
  std::map<std::string, int> counts;
  for (const DeviceName& device : devices) {
    if (device.job == task.job && device.task == task.index && device.type && *device.type != "CPU") {
      ++counts[*device.type];
    }
  }
  return counts;
}

}  // namespace cohort
