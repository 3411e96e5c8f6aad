#ifndef COHORT_RUNTIME_DISTRIBUTE_SAVED_VALUE_H_
#define COHORT_RUNTIME_DISTRIBUTE_SAVED_VALUE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/distribute/variable_rules.h"
#include "runtime/tensor/tensor.h"

namespace cohort {

// One logical variable is one entry of a checkpoint, whatever the number of replicas or shards, so it may be restored
// under another strategy or none (spec 6.21).

// Mirrored and one copy: component 0; ON_READ: what a read gives. InvalidArgument: ON_READ without aggregation.
absl::StatusOr<Tensor> SavedValue(const VariableState& variable);

// The components after a restore of `saved`: each is it, but of ON_READ SUM saved / N, so that a read gives it back.
// InvalidArgument: another dtype or shape than the variable's (names both); ON_READ without aggregation.
absl::StatusOr<std::vector<Tensor>> RestoredComponents(const VariableState& variable, const Tensor& saved);

// The full tensor of shards that hold its rows in order. InvalidArgument: shards that do not fit.
absl::StatusOr<Tensor> SavedValueOfShards(absl::Span<const Tensor> shards);
// `saved` cut into contiguous shards, the first (rows mod shards) of them one row larger: 10 rows in 4 are 3, 3, 2, 2.
// InvalidArgument: a scalar, or fewer than one shard.
absl::StatusOr<std::vector<Tensor>> RestoredShards(const Tensor& saved, int num_shards);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DISTRIBUTE_SAVED_VALUE_H_
