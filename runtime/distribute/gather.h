#ifndef COHORT_RUNTIME_DISTRIBUTE_GATHER_H_
#define COHORT_RUNTIME_DISTRIBUTE_GATHER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/distribute/nest.h"
#include "runtime/distribute/replica_ids.h"
#include "runtime/tensor/tensor.h"

namespace cohort {

// Concatenation over replicas, in replica order (spec 5.18, 5.19). Sizes may differ along `axis`, which may count from
// the end, and nowhere else.

// The shape of the whole. InvalidArgument: a scalar; ranks or other dimensions that differ (names both shapes and the
// replica); an axis out of [-rank, rank). At least one shape (checked).
absl::StatusOr<Shape> GatheredShape(absl::Span<const Shape> shapes, int64_t axis);

// Errors as GatheredShape, and dtypes that differ.
absl::StatusOr<Tensor> GatherTensors(absl::Span<const Tensor> values, int64_t axis);

// strategy.gather: leaf by leaf. A PerReplica has the values of all N replicas. A plain value comes back as it is, but
// with more than one worker it is each worker's contribution. Unimplemented: a sparse value.
absl::StatusOr<Nest> Gather(const StrategyShape& strategy, const Nest& value, int64_t axis);

// all_gather in replica context: values[r] is what replica r gives, the result what each replica gets.
// InvalidArgument, with the path: structures that differ; as GatherTensors. Unimplemented: a sparse value.
absl::StatusOr<Nest> AllGather(absl::Span<const Nest> values, int64_t axis);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DISTRIBUTE_GATHER_H_
