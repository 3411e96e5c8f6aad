#ifndef COHORT_RUNTIME_CLUSTER_CHIEF_H_
#define COHORT_RUNTIME_CLUSTER_CHIEF_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/task_id.h"
#include "runtime/cluster/cluster_spec.h"
#include "runtime/cluster/tf_config.h"

namespace cohort {

// Who does what in a cluster, by configuration alone. All are pure; `task` with an empty job means no task. All return
// ValidateCluster's errors first.

// The task that keeps roster and jobs: chief 0, else worker 0; worker 0 in local mode. The only leader that the runtime
// knows: the two names further down are API answers. InvalidArgument: the cluster lists neither.
absl::StatusOr<TaskId> LeaderTask(const ClusterSpec& cluster);

// Chief and evaluator are; worker 0 is if there is no chief; nobody else. A process in local mode is its own chief.
absl::StatusOr<bool> IsChief(const ClusterSpec& cluster, const TaskId& task);

// Tasks that train in sync with `job`: chief and workers together, an evaluator alone (1, or as many as are listed).
// InvalidArgument: ps; a job that is not in the cluster.
absl::StatusOr<int> WorkerCount(const ClusterSpec& cluster, absl::string_view job);

// Chief 0; a worker's index plus the number of chiefs; an evaluator's index. InvalidArgument: ps, no task.
absl::StatusOr<int> IdInCluster(const ClusterSpec& cluster, const TaskId& task);

// Chief, then the workers by index: the tasks of the synchronous group in rank order.
std::vector<TaskId> SyncGroup(const ClusterSpec& cluster);

// "/job:chief/replica:0/task:0", else worker's; "" in local mode and for an evaluator.
absl::StatusOr<std::string> CollectiveLeader(const ClusterSpec& cluster, const TaskId& task);

// The first of ps 0, chief 0, worker 0 that exists, as "/job:ps/replica:0/task:0"; "" if none.
std::string CoordinationLeader(const ClusterSpec& cluster);

// Whether `strategy`, named as in --strategy, saves checkpoints and summaries on this task: only the chief does with
// multi_worker_mirrored and parameter_server, everybody with the others. InvalidArgument: an unknown strategy.
absl::StatusOr<bool> ShouldCheckpoint(absl::string_view strategy, const TfConfig& config);

}  // namespace cohort

#endif  // COHORT_RUNTIME_CLUSTER_CHIEF_H_
