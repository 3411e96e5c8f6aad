#ifndef COHORT_RUNTIME_CLUSTER_REQUIREMENTS_H_
#define COHORT_RUNTIME_CLUSTER_REQUIREMENTS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/cluster/tf_config.h"

namespace cohort {

// What a strategy, named as in --strategy, requires of its cluster. parameter_server: at least one ps and one worker.
// multi_worker_mirrored: with a cluster, a chief or a worker, and a task that is not a ps. The others run anywhere.
// InvalidArgument says what is missing, or names the strategies there are.
absl::Status ValidateForStrategy(absl::string_view strategy, const TfConfig& config);

// What a daemon requires, else InvalidArgument: "cluster", "task", an address of its own, and a chief or a worker to
// lead (but for an elastic ps, which sees only itself).
absl::Status ValidateForDaemon(const TfConfig& config);

}  // namespace cohort

#endif  // COHORT_RUNTIME_CLUSTER_REQUIREMENTS_H_
