#include "runtime/cluster/validation.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status_macros.h"
#include "runtime/cluster/host_port.h"

namespace cohort {
namespace {

// "worker has 2 tasks (valid 0..1)"; a sparse job lists its indices.
std::string Describe(const ClusterSpec& cluster, const std::string& job) {
  const int count = cluster.count(job);
  const std::string tasks = absl::StrCat("'", job, "' has ", count, count == 1 ? " task" : " tasks");
  if (count == 0) return tasks;
  const std::vector<int> indices = *cluster.task_indices(job);
  if (indices.back() + 1 == count) return absl::StrCat(tasks, " (valid 0..", count - 1, ")");
  return absl::StrCat(tasks, " (valid ", absl::StrJoin(indices.begin(), indices.begin() + std::min(count, 20), ", "),
                      count > 20 ? ", ...)" : ")");
}

absl::Status CheckIndex(const ClusterSpec& cluster, const TaskId& task) {
  const bool in_cluster = cluster.has_job(task.job);
  if (task.job.empty() || cluster.has_task(task) || (!in_cluster && task.index >= 0)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("index ", task.index, task.index < 0 ? " is below 0" : " exceeds the maximum id of ",
                   task.index < 0 ? "" : task.job, in_cluster ? absl::StrCat(": ", Describe(cluster, task.job)) : ""));
}

absl::Status AtMostOne(const ClusterSpec& cluster, const std::string& job) {
  if (cluster.count(job) <= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("there must be at most one '", job, "' job in the cluster, this one has ", cluster.count(job)));
}

}  // namespace

bool IsAllowedJob(absl::string_view job) { return job == kChief || job == kWorker || job == kPs || job == kEvaluator; }

absl::Status ValidateCluster(const ClusterSpec& cluster, const TaskId& task) {
  for (const ClusterSpec::Job& job : cluster.jobs()) {
    if (!IsAllowedJob(job.name)) {
      return absl::InvalidArgumentError(absl::StrCat("Disallowed task type found in the cluster: ", Quoted(job.name),
                                                     "; allowed jobs are chief, worker, ps, evaluator"));
    }
  }
  if (!task.job.empty() && !IsAllowedJob(task.job)) {
    return absl::InvalidArgumentError(
        absl::StrCat("Unrecognized task_type: ", Quoted(task.job), "; allowed jobs are chief, worker, ps, evaluator"));
  }
  if (!task.job.empty() && task.job != kEvaluator && !cluster.has_job(task.job)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", task.job, "' not found in cluster_spec: there is no ", task.job, " in the cluster, which has ",
        cluster.empty() ? "no jobs" : absl::StrJoin(cluster.jobs(), ", ", [](std::string* out, const auto& job) {
          absl::StrAppend(out, job.name, " (", job.tasks.size(), ")");
        })));
  }
  COHORT_RETURN_IF_ERROR(AtMostOne(cluster, kChief));
  COHORT_RETURN_IF_ERROR(AtMostOne(cluster, kEvaluator));
  return CheckIndex(cluster, task);
}

}  // namespace cohort
