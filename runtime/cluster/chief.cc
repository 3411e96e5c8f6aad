#include "runtime/cluster/chief.h"

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/cluster/host_port.h"
#include "runtime/cluster/requirements.h"
#include "runtime/cluster/validation.h"

namespace cohort {
namespace {

std::string FullName(absl::string_view job) { return absl::StrCat("/job:", job, "/replica:0/task:0"); }

}  // namespace

absl::StatusOr<TaskId> LeaderTask(const ClusterSpec& cluster) {
  COHORT_RETURN_IF_ERROR(ValidateCluster(cluster));
  if (cluster.empty()) return TaskId{kWorker, 0};
  for (const char* job : {kChief, kWorker}) {
    if (cluster.has_task({job, 0})) return TaskId{job, 0};
  }
  return absl::InvalidArgumentError(
      "the leader is chief 0, or else worker 0, but TF_CONFIG lists neither of them (a partial view of an elastic "
      "job?)");
}

absl::StatusOr<bool> IsChief(const ClusterSpec& cluster, const TaskId& task) {
  if (cluster.empty() && task.job.empty()) return true;
  COHORT_RETURN_IF_ERROR(ValidateCluster(cluster, task));
  if (task.job == kChief || task.job == kEvaluator) return true;
  return task.job == kWorker && task.index == 0 && !cluster.has_job(kChief);
}

absl::StatusOr<int> WorkerCount(const ClusterSpec& cluster, absl::string_view job) {
  if (cluster.empty() && job.empty()) return 1;
  // Only the job is asked about, so its first index stands for all of them.
  const int any = cluster.count(job) > 0 ? cluster.task_indices(job)->front() : 0;
  COHORT_RETURN_IF_ERROR(ValidateCluster(cluster, {std::string(job), any}));
  if (job == kEvaluator) return cluster.has_job(job) ? cluster.count(job) : 1;
  if (job == kChief || job == kWorker) return cluster.count(kChief) + cluster.count(kWorker);
  return absl::InvalidArgumentError(absl::StrCat("Unexpected task_type ", Quoted(job), ": only chief, worker and ",
                                                 "evaluator are counted as workers"));
}

absl::StatusOr<int> IdInCluster(const ClusterSpec& cluster, const TaskId& task) {
  COHORT_RETURN_IF_ERROR(ValidateCluster(cluster, task));
  if (task.job == kChief) return 0;
  if (task.job == kWorker) return task.index + cluster.count(kChief);
  if (task.job == kEvaluator) return task.index;
  return absl::InvalidArgumentError(absl::StrCat("There is no id for task_type ", Quoted(task.job)));
}

std::vector<TaskId> SyncGroup(const ClusterSpec& cluster) {
  std::vector<TaskId> group;
  for (const TaskId& task : cluster.tasks()) {  // "chief" sorts before "worker"
    if (task.job == kChief || task.job == kWorker) group.push_back(task);
  }
  return group;
}

absl::StatusOr<std::string> CollectiveLeader(const ClusterSpec& cluster, const TaskId& task) {
  if (cluster.empty()) return "";
  COHORT_RETURN_IF_ERROR(ValidateCluster(cluster, task));
  if (task.job == kEvaluator) return "";
  return FullName(cluster.has_job(kChief) ? kChief : kWorker);
}

std::string CoordinationLeader(const ClusterSpec& cluster) {
  for (const char* job : {kPs, kChief, kWorker}) {
    if (cluster.has_task({job, 0})) return FullName(job);
  }
  return "";
}

absl::StatusOr<bool> ShouldCheckpoint(absl::string_view strategy, const TfConfig& config) {
  COHORT_RETURN_IF_ERROR(ValidateForStrategy(strategy, config));
  if (strategy != "multi_worker_mirrored" && strategy != "parameter_server") return true;
  return IsChief(config.cluster, config.self.value_or(TaskId{}));
}

}  // namespace cohort
