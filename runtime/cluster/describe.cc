#include "runtime/cluster/describe.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status_macros.h"
#include "runtime/cluster/chief.h"
#include "runtime/cluster/json_value.h"
#include "runtime/cluster/validation.h"

namespace cohort {
namespace {

absl::Status DescribeTask(const TfConfig& config, const ListenOptions& options, const LocalNetwork& network,
                          ProcessDescription& result) {
  const TaskId& self = *config.self;
  COHORT_ASSIGN_OR_RETURN(result.chief, IsChief(config.cluster, self));
  const std::vector<TaskId> group = SyncGroup(config.cluster);
  if (const auto it = std::find(group.begin(), group.end(), self); it != group.end()) {
    result.group_rank = static_cast<int>(std::distance(group.begin(), it));
  }
  if (self.job == kEvaluator) {
    COHORT_ASSIGN_OR_RETURN(result.group_size, WorkerCount(config.cluster, kEvaluator));
  }
  if (!config.cluster.has_task(self)) return absl::OkStatus();  // an evaluator of its own
  COHORT_ASSIGN_OR_RETURN(result.address, config.cluster.task_address(self));
  COHORT_ASSIGN_OR_RETURN(result.listen, ChooseListenAddress(result.address, options, network), _ << self);
  return absl::OkStatus();
}

std::string JsonOrNull(absl::string_view text) { return text.empty() ? "null" : JsonQuoted(text); }

std::string JsonOrNull(const std::optional<TaskId>& task) { return task ? JsonQuoted(task->ToString()) : "null"; }

std::string ListenJson(const std::optional<ListenAddress>& listen) {
  if (!listen) return "null";
  return absl::StrCat("{\"address\":", JsonQuoted(listen->ToString()),
                      ",\"loopback\":", listen->loopback ? "true" : "false", ",\"reason\":", JsonQuoted(listen->reason),
                      "}");
}

}  // namespace

absl::StatusOr<ProcessDescription> Describe(const TfConfig& config, const ListenOptions& options,
                                            const LocalNetwork& network) {
  ProcessDescription result;
  result.local = config.local();
  result.warnings = config.warnings;
  if (config.local()) {
    COHORT_ASSIGN_OR_RETURN(result.task, OwnTask(config));
    result.chief = true;
    if (result.task->job == kWorker) {
      result.leader = result.task;
      result.group_rank = 0;
    }
    return result;
  }
  result.task = config.self;
  result.cluster_fingerprint = config.cluster.Fingerprint();
  result.group_size = static_cast<int>(SyncGroup(config.cluster).size());
  for (const ClusterSpec::Job& job : config.cluster.jobs()) result.tasks[job.name] = config.cluster.count(job.name);
  if (const auto leader = LeaderTask(config.cluster); leader.ok()) {
    result.leader = *leader;
    COHORT_ASSIGN_OR_RETURN(result.leader_address, config.cluster.task_address(*leader));
  }
  if (config.self) {
    COHORT_RETURN_IF_ERROR(DescribeTask(config, options, network, result));
  }
  return result;
}

std::string ToText(const ProcessDescription& d) {
  std::string text;
  const auto line = [&text](absl::string_view name, absl::string_view value) {
    absl::StrAppend(&text, name, std::string(name.size() < 10 ? 10 - name.size() : 1, ' '), value, "\n");
  };
  const auto task_at = [](const TaskId& task, const std::string& address) {
    return address.empty() ? task.ToString() : absl::StrCat(task.ToString(), " at ", address);
  };
  if (d.local) {
    line("task", absl::StrCat(d.task->ToString(), ", local: no cluster, no port"));
  } else {
    line("task", d.task ? task_at(*d.task, d.address) : "none: a client of this cluster");
  }
  line("chief", d.chief ? "yes" : "no");
  line("leader", d.leader ? task_at(*d.leader, d.leader_address) : "not listed here");
  if (!d.local) {
    line("cluster", absl::StrJoin(d.tasks, ", ", [](std::string* out, const auto& job) {
           absl::StrAppend(out, job.second, " ", job.first);
         }));
  }
  line("group", d.group_rank ? absl::StrCat("rank ", *d.group_rank, " of ", d.group_size)
                             : absl::StrCat("not in it; size ", d.group_size));
  if (d.listen) line("listen", absl::StrCat(d.listen->ToString(), " (", d.listen->reason, ")"));
  for (const std::string& warning : d.warnings) line("warning", warning);
  return text;
}

std::string ToJson(const ProcessDescription& d) {
  const std::string tasks = absl::StrJoin(d.tasks, ",", [](std::string* out, const auto& job) {
    absl::StrAppend(out, JsonQuoted(job.first), ":", job.second);
  });
  const std::string warnings = absl::StrJoin(
      d.warnings, ",", [](std::string* out, const std::string& warning) { out->append(JsonQuoted(warning)); });
  return absl::StrCat("{\"local\":", d.local ? "true" : "false", ",\"task\":", JsonOrNull(d.task),
                      ",\"address\":", JsonOrNull(d.address), ",\"chief\":", d.chief ? "true" : "false",
                      ",\"leader\":", JsonOrNull(d.leader), ",\"leader_address\":", JsonOrNull(d.leader_address),
                      ",\"tasks\":{", tasks, "},\"group_size\":", d.group_size,
                      ",\"group_rank\":", d.group_rank ? absl::StrCat(*d.group_rank) : "null",
                      ",\"listen\":", ListenJson(d.listen), ",\"cluster_fingerprint\":\"",
                      absl::Hex(d.cluster_fingerprint, absl::kZeroPad16), "\",\"warnings\":[", warnings, "]}");
}

}  // namespace cohort
