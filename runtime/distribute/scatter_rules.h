#ifndef COHORT_RUNTIME_DISTRIBUTE_SCATTER_RULES_H_
#define COHORT_RUNTIME_DISTRIBUTE_SCATTER_RULES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/distribute/indexed_slices.h"
#include "runtime/distribute/variable_rules.h"

namespace cohort {

// scatter_add, scatter_sub, ... of distributed variables (spec 6.17): row indices[i] = row op values[i], one after the
// other, so duplicates apply each.
enum class ScatterOp : uint8_t { kAdd, kSub, kMul, kDiv, kMin, kMax, kUpdate };

// `tensor` after the scatter, in memory of its own. InvalidArgument: rows of another dtype or shape, an index out of
// range, an integer divided by zero.
absl::StatusOr<Tensor> Scatter(ScatterOp op, const Tensor& tensor, const IndexedSlices& slices);

// All components after the scatter. Unimplemented: any op on an ON_READ variable; min, max and update with aggregation
// SUM or MEAN. InvalidArgument: as Scatter; one copy for all replicas without an aggregation.

// In cross-replica context: the same slices for each component, or of a PerReplica component k's for component k.
absl::StatusOr<std::vector<Tensor>> ScatterCrossReplica(const VariableState& variable, ScatterOp op,
                                                        const Nest& slices);
// In replica context: slices[r] from replica r. SUM and MEAN combine as ReduceSlices and scatter once.
absl::StatusOr<std::vector<Tensor>> ScatterInReplicas(const VariableState& variable, ScatterOp op,
                                                      absl::Span<const IndexedSlices> slices);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DISTRIBUTE_SCATTER_RULES_H_
