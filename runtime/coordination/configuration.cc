#include "runtime/coordination/configuration.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "runtime/base/first_cause.h"

namespace cohort {
namespace {

bool Trains(const TaskId& task) { return task.job == "chief" || task.job == "worker"; }

// "/job:worker/replica:0/task:1/device:GPU:0" and "GPU:0" -> "GPU".
absl::string_view DeviceType(absl::string_view name) {
  const size_t ordinal = name.rfind(':');
  absl::string_view type = name.substr(0, ordinal);
  const size_t start = type.find_last_of(":/");
  return start == absl::string_view::npos ? type : type.substr(start + 1);
}

// "2 CPU, 4 GPU", by type in alphabetical order.
std::string DeviceCounts(const std::vector<std::string>& devices) {
  std::map<absl::string_view, int> counts;
  for (const std::string& device : devices) ++counts[DeviceType(device)];
  return absl::StrJoin(
      counts, ", ", [](std::string* out, const auto& count) { absl::StrAppend(out, count.second, " ", count.first); });
}

std::string ClusterText(const MemberInfo& info) {
  const std::string fingerprint = IncarnationText(info.cluster_fingerprint);
  return info.cluster.empty() ? fingerprint : absl::StrCat(info.cluster, " (", fingerprint, ")");
}

absl::Status Differs(absl::string_view field, const MemberInfo& member, absl::string_view value,
                     const MemberInfo& leader, absl::string_view leader_value) {
  absl::Status status = absl::FailedPreconditionError(
      absl::StrCat("the configurations of two tasks differ: ", field, " is ", value, " on ",
                   TaskText(member.task, member.address), " and ", leader_value, " on the leader, ",
                   TaskText(leader.task, leader.address), "; start all tasks with the same configuration"));
  SetFirstCause(status, {member.task, member.address, member.incarnation, 0, "join", {}, {}});
  return status;
}

}  // namespace

absl::Status CheckSameConfiguration(const MemberInfo& member, const MemberInfo& leader) {
  if (member.protocol_version != leader.protocol_version) {
    return Differs("the protocol version", member, absl::StrCat(member.protocol_version), leader,
                   absl::StrCat(leader.protocol_version));
  }
  if (member.cluster_fingerprint != leader.cluster_fingerprint) {
    return Differs("the cluster", member, ClusterText(member), leader, ClusterText(leader));
  }
  if (Trains(member.task) && Trains(leader.task)) {
    const std::string devices = DeviceCounts(member.devices);
    const std::string leader_devices = DeviceCounts(leader.devices);
    if (devices != leader_devices) return Differs("the number of devices", member, devices, leader, leader_devices);
  }
  return absl::OkStatus();
}

std::vector<std::string> ConfigurationWarnings(const MemberInfo& member, const MemberInfo& leader) {
  std::vector<std::string> warnings;
  const auto compare = [&](absl::string_view what, const std::string& value, const std::string& leader_value) {
    if (value == leader_value) return;
    warnings.push_back(absl::StrCat(what, " of ", TaskText(member.task, member.address), " are '", value,
                                    "', of the leader '", leader_value, "': equal bits are not promised"));
  };
  compare("CPU features", member.cpu_isa, leader.cpu_isa);
  compare("library versions", member.library_versions, leader.library_versions);
  return warnings;
}

}  // namespace cohort
