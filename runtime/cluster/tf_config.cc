#include "runtime/cluster/tf_config.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime/base/error_kind.h"
#include "runtime/base/status_macros.h"
#include "runtime/cluster/host_port.h"
#include "runtime/cluster/json_value.h"
#include "runtime/cluster/validation.h"

namespace cohort {
namespace {

using Kind = JsonValue::Kind;

constexpr size_t kMaxBytes = 16 << 20;  // Linux allows 128 KiB in a variable; more can only be a mistake
constexpr char kOldChief[] = "master";

absl::Status WrongKind(absl::string_view path, absl::string_view want, const JsonValue& got) {
  return InvalidTypeError(absl::StrCat(path, ": must be ", want, ", not ", got.KindName()));
}

// What "cluster" and "task" say, before one is held against the other.
struct Draft {
  std::vector<ClusterSpec::Job> jobs;
  bool elastic = false;  // some job is written as an object: the partial view of an elastic TFJob
  std::optional<TaskId> task;
  bool has_index = false;
  std::vector<std::string> warnings;
};

absl::StatusOr<int> ParseIndex(absl::string_view path, const JsonValue& value) {
  int64_t index = value.integer;
  bool ok = value.kind == Kind::kInt;
  if (value.kind == Kind::kString) {
    const absl::string_view digits = absl::StripPrefix(value.text, "-");
    ok = !digits.empty() && std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit) &&
         absl::SimpleAtoi(value.text, &index);
  }
  constexpr int64_t kMax = std::numeric_limits<int>::max();
  if (!ok || index > kMax || index < -kMax) {
    const bool plain = value.kind == Kind::kNull || value.kind == Kind::kArray || value.kind == Kind::kObject;
    return absl::InvalidArgumentError(absl::StrCat(path, ": must be a whole number, not ",
                                                   plain ? std::string(value.KindName()) : Quoted(value.text)));
  }
  return static_cast<int>(index);
}

absl::StatusOr<int> ParseSparseKey(const std::string& path, const std::string& key) {
  COHORT_ASSIGN_OR_RETURN(const int index, ParseIndex(path, {.kind = Kind::kString, .text = key}));
  if (index < 0 || index > ClusterSpec::kMaxIndex) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": a task index must be from 0 to ", ClusterSpec::kMaxIndex, ", not ", index));
  }
  return index;
}

absl::Status ReadAddress(const std::string& path, int index, const JsonValue& value, ClusterSpec::Job& job) {
  if (value.kind != Kind::kString) return WrongKind(path, "an address \"host:port\"", value);
  if (!job.tasks.emplace(index, value.text).second) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": index ", index, " appears twice"));
  }
  return absl::OkStatus();
}

absl::Status ReadJob(const std::string& path, const std::string& name, const JsonValue& value, Draft& draft) {
  ClusterSpec::Job job{name, {}};
  switch (value.kind) {
    case Kind::kNull:  // Kubeflow's way to say that an elastic job has no ps
      return absl::OkStatus();
    case Kind::kArray:
      for (size_t i = 0; i < value.items.size(); ++i) {
        const int index = static_cast<int>(i);
        COHORT_RETURN_IF_ERROR(ReadAddress(absl::StrCat(path, "[", i, "]"), index, value.items[i], job));
      }
      if (job.tasks.empty())
        return absl::InvalidArgumentError(absl::StrCat(path, ": the job has no tasks; leave it out"));
      break;
    case Kind::kObject:
      draft.elastic = true;
      for (const auto& [key, address] : value.members) {
        const std::string here = absl::StrCat(path, ".", absl::CHexEscape(key.substr(0, 20)));
        COHORT_ASSIGN_OR_RETURN(const int index, ParseSparseKey(here, key));
        COHORT_RETURN_IF_ERROR(ReadAddress(here, index, address, job));
      }
      break;
    default:
      return WrongKind(path, "a list of addresses or an object of index and address", value);
  }
  if (!job.tasks.empty()) draft.jobs.push_back(std::move(job));
  return absl::OkStatus();
}

absl::Status ReadCluster(const std::string& path, const JsonValue& value, Draft& draft) {
  if (value.kind != Kind::kObject) return WrongKind(path, "an object of jobs", value);
  for (const auto& [name, job] : value.members) {
    if (!IsAllowedJob(name) && name != kOldChief) {
      return absl::InvalidArgumentError(absl::StrCat("Disallowed task type found in ", path, ": ", Quoted(name),
                                                     "; allowed jobs are chief, worker, ps, evaluator"));
    }
    if (name == kOldChief) {
      if (value.Find(kChief) != nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat(path, ": has both 'chief' and 'master', which is an old name of chief; keep one"));
      }
      draft.warnings.push_back(absl::StrCat(path, ": 'master' is an old name of 'chief'"));
    }
    COHORT_RETURN_IF_ERROR(ReadJob(absl::StrCat(path, ".", name), name == kOldChief ? kChief : name, job, draft));
  }
  return absl::OkStatus();
}

absl::Status ReadTask(const JsonValue& value, Draft& draft) {
  if (value.kind != Kind::kObject) return WrongKind("task", "an object", value);
  const JsonValue* type = value.Find("type");
  const JsonValue* index = value.Find("index");
  if (type == nullptr && index == nullptr) return absl::OkStatus();
  if (type == nullptr) return absl::InvalidArgumentError("task.type: is missing although task.index is given");
  if (type->kind != Kind::kString && type->kind != Kind::kInt) return WrongKind("task.type", "a string", *type);
  TaskId task{type->text, 0};
  if (task.job == kOldChief) {
    task.job = kChief;
    draft.warnings.push_back("task.type: 'master' is an old name of 'chief'");
  }
  if (!IsAllowedJob(task.job)) {
    return absl::InvalidArgumentError(absl::StrCat("task.type: Unrecognized task_type ", Quoted(task.job),
                                                   "; allowed jobs are chief, worker, ps, evaluator"));
  }
  draft.has_index = index != nullptr;
  if (index != nullptr) {
    COHORT_ASSIGN_OR_RETURN(task.index, ParseIndex("task.index", *index));
  }
  draft.task = std::move(task);
  return absl::OkStatus();
}

// The operator of elastic TFJobs shows a ps only itself, and always at position 0. Move it to where it belongs.
void PlaceElasticPs(Draft& draft) {
  if (!draft.elastic || !draft.task || draft.task->job != kPs || draft.task->index <= 0) return;
  for (ClusterSpec::Job& job : draft.jobs) {
    if (job.name != kPs || job.tasks.size() != 1 || !job.tasks.contains(0)) continue;
    draft.warnings.push_back(
        absl::StrCat("cluster.ps: lists only ", job.tasks[0], ", taken as the address of ", draft.task->ToString()));
    job.tasks = {{draft.task->index, job.tasks[0]}};
  }
}

absl::Status CheckTask(const ClusterSpec& cluster, const Draft& draft, bool from_sparse) {
  if (!draft.task) return absl::OkStatus();
  const TaskId& task = *draft.task;
  const bool missing = from_sparse ? !cluster.has_task(task) : cluster.empty();
  if (missing && task.job != kEvaluator) {
    return absl::InvalidArgumentError(
        absl::StrCat("'cluster' is missing or empty although a task is named, ", task.ToString(),
                     from_sparse ? ", which 'sparseCluster' does not list" : "; unset TF_CONFIG for a local run"));
  }
  COHORT_RETURN_IF_ERROR(ValidateCluster(cluster, task)) << "task";
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadString(const JsonValue& root, const char* key) {
  const JsonValue* value = root.Find(key);
  if (value == nullptr) return "";
  if (value->kind != Kind::kString) return WrongKind(key, "a string", *value);
  return value->text;
}

// Reads "cluster", or "sparseCluster" in its place, as older operators of elastic TFJobs call it.
absl::Status ReadEitherCluster(const JsonValue& root, Draft& draft) {
  const JsonValue* cluster = root.Find("cluster");
  const JsonValue* sparse = root.Find("sparseCluster");
  if (cluster != nullptr && sparse != nullptr) {
    return absl::InvalidArgumentError("there are both 'cluster' and 'sparseCluster'; keep one");
  }
  if (cluster != nullptr) return ReadCluster("cluster", *cluster, draft);
  if (sparse != nullptr) return ReadCluster("sparseCluster", *sparse, draft);
  return absl::OkStatus();
}

absl::StatusOr<ClusterSpec> CheckedCluster(std::vector<ClusterSpec::Job> jobs) {
  COHORT_ASSIGN_OR_RETURN(ClusterSpec cluster, ClusterSpec::Create(std::move(jobs)));
  COHORT_RETURN_IF_ERROR(CheckAddresses(cluster)) << "cluster";
  COHORT_RETURN_IF_ERROR(ValidateCluster(cluster)) << "cluster";
  return cluster;
}

void AddWarnings(const JsonValue& root, const Draft& draft, TfConfig& config) {
  config.warnings = draft.warnings;
  for (const char* key : {"job", "model_dir"}) {
    if (root.Find(key) != nullptr) config.warnings.push_back(absl::StrCat(key, ": no longer has a meaning, ignored"));
  }
  if (!config.rpc_layer.empty() && config.rpc_layer != "grpc") {
    config.warnings.push_back(
        absl::StrCat("rpc_layer: ", Quoted(config.rpc_layer), " is not spoken here, tasks use grpc"));
  }
  if (config.self && !draft.has_index && config.cluster.count(config.self->job) > 1) {
    config.warnings.push_back(absl::StrCat("task.index: is missing, taken as 0 of the ",
                                           config.cluster.count(config.self->job), " tasks of ", config.self->job));
  }
}

}  // namespace

absl::StatusOr<TfConfig> ParseTfConfig(absl::string_view text) {
  if (absl::StripAsciiWhitespace(text).empty()) {
    return absl::InvalidArgumentError("the text is set but empty; unset it for a local run");
  }
  if (text.size() > kMaxBytes) {
    return absl::InvalidArgumentError(absl::StrCat("the text has ", text.size(), " bytes, more than ", kMaxBytes));
  }
  COHORT_ASSIGN_OR_RETURN(const JsonValue root, ParseJson(text));
  if (root.kind != Kind::kObject) return WrongKind("the top level", "an object", root);
  TfConfig config;
  Draft draft;
  COHORT_ASSIGN_OR_RETURN(config.rpc_layer, ReadString(root, "rpc_layer"));
  COHORT_ASSIGN_OR_RETURN(config.session_master, ReadString(root, "session_master"));
  COHORT_RETURN_IF_ERROR(ReadEitherCluster(root, draft));
  if (const JsonValue* task = root.Find("task"); task != nullptr) {
    COHORT_RETURN_IF_ERROR(ReadTask(*task, draft));
  }
  PlaceElasticPs(draft);
  COHORT_ASSIGN_OR_RETURN(config.cluster, CheckedCluster(std::move(draft.jobs)));
  COHORT_RETURN_IF_ERROR(CheckTask(config.cluster, draft, root.Find("sparseCluster") != nullptr));
  config.self = draft.task;
  AddWarnings(root, draft, config);
  return config;
}

absl::StatusOr<TfConfig> TfConfigFromEnv() {
  const char* text = std::getenv("TF_CONFIG");
  if (text == nullptr) return TfConfig{};
  COHORT_ASSIGN_OR_RETURN(TfConfig config, ParseTfConfig(text), _ << "TF_CONFIG");
  return config;
}

absl::StatusOr<ClusterSpec> ParseClusterSpec(absl::string_view json) {
  COHORT_ASSIGN_OR_RETURN(const JsonValue root, ParseJson(json));
  Draft draft;
  COHORT_RETURN_IF_ERROR(ReadCluster("cluster", root, draft));
  return CheckedCluster(std::move(draft.jobs));
}

std::string ToText(const TfConfig& config) {
  std::string text;
  const auto add = [&text](absl::string_view key, absl::string_view json) {
    absl::StrAppend(&text, text.empty() ? "" : ",", "\"", key, "\":", json);
  };
  if (!config.cluster.empty()) add("cluster", config.cluster.ToJson());
  if (config.self) {
    add("task", absl::StrCat("{\"type\":", JsonQuoted(config.self->job), ",\"index\":", config.self->index, "}"));
  }
  if (!config.rpc_layer.empty()) add("rpc_layer", JsonQuoted(config.rpc_layer));
  if (!config.session_master.empty()) add("session_master", JsonQuoted(config.session_master));
  return absl::StrCat("{", text, "}");
}

absl::StatusOr<TaskId> OwnTask(const TfConfig& config) {
  if (config.self) return *config.self;
  if (config.local()) return TaskId{kWorker, 0};
  return absl::InvalidArgumentError("TF_CONFIG has a 'cluster' but no 'task': it must also say who this process is");
}

absl::StatusOr<std::string> OwnAddress(const TfConfig& config) {
  if (config.local()) return absl::InvalidArgumentError("TF_CONFIG has no 'cluster', so this process has no address");
  COHORT_ASSIGN_OR_RETURN(const TaskId task, OwnTask(config));
  return config.cluster.task_address(task);
}

absl::StatusOr<std::string> MasterAddress(const TfConfig& config, std::optional<TaskId> task) {
  if (!config.session_master.empty()) return config.session_master;
  const auto& jobs = config.cluster.jobs();
  if (jobs.empty() || (jobs.size() == 1 && jobs[0].tasks.size() == 1)) return "";
  if (!task) {
    COHORT_ASSIGN_OR_RETURN(task, OwnTask(config));
  }
  COHORT_ASSIGN_OR_RETURN(const std::string address, config.cluster.task_address(*task));
  return config.rpc_layer.empty() ? address : absl::StrCat(config.rpc_layer, "://", address);
}

}  // namespace cohort
