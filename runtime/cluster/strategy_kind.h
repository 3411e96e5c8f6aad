#ifndef COHORT_RUNTIME_CLUSTER_STRATEGY_KIND_H_
#define COHORT_RUNTIME_CLUSTER_STRATEGY_KIND_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cohort {

// How a program is spread over the cluster.
enum class StrategyKind { kDefault, kOneDevice, kMirrored, kMultiWorkerMirrored, kCentralStorage, kParameterServer };

absl::string_view StrategyName(StrategyKind kind);  // "multi_worker_mirrored"
// InvalidArgument: another name; lists those there are.
absl::StatusOr<StrategyKind> ParseStrategy(absl::string_view name);

}  // namespace cohort

#endif  // COHORT_RUNTIME_CLUSTER_STRATEGY_KIND_H_
