#ifndef COHORT_RUNTIME_CLUSTER_VALIDATION_H_
#define COHORT_RUNTIME_CLUSTER_VALIDATION_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/base/task_id.h"
#include "runtime/cluster/cluster_spec.h"

namespace cohort {

inline constexpr char kChief[] = "chief";
inline constexpr char kWorker[] = "worker";
inline constexpr char kPs[] = "ps";
inline constexpr char kEvaluator[] = "evaluator";

// True for the four jobs above.
bool IsAllowedJob(absl::string_view job);

// What every question about a cluster and one of its tasks requires; `task` with an empty job means no task. An
// evaluator need not be in the cluster. InvalidArgument, first of: a job outside the four; a task of such a job; a task
// whose job is not in the cluster; two chiefs; two evaluators; an index that the job does not have.
absl::Status ValidateCluster(const ClusterSpec& cluster, const TaskId& task = {});

}  // namespace cohort

#endif  // COHORT_RUNTIME_CLUSTER_VALIDATION_H_
