#ifndef COHORT_RUNTIME_DISTRIBUTE_REDUCTION_PART_H_
#define COHORT_RUNTIME_DISTRIBUTE_REDUCTION_PART_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/distribute/replica_reduce_op.h"
#include "runtime/tensor/tensor.h"

namespace cohort {

// `dtype`, or what a mean of it has: int8, uint8, int16, uint16 -> float32; wider integers -> float64.
// InvalidType: neither integer nor float.
absl::StatusOr<DType> ReducedDType(ReplicaReduceOp op, DType dtype);

// One replica's contribution. Parts of all replicas travel as a sum of `sum` and a sum of `count`.
struct ReductionPart {
  // Of AccumulatorDType: 16-bit floats in float32; integers of a mean in int64 or uint64, of a sum in their own dtype,
  // which wraps.
  Tensor sum;
  int64_t count = 0;  // what the mean divides by: 1 without axes, else the product of the reduced dimensions
};

// InvalidType: strings and bool.
absl::StatusOr<DType> AccumulatorDType(ReplicaReduceOp op, DType dtype);

// `value` summed over `axes` in row-major order. InvalidArgument: an axis out of [-rank, rank) or twice, which names
// the rank. InvalidType: a dtype without sums.
absl::StatusOr<ReductionPart> PartOf(ReplicaReduceOp op, const Tensor& value, const Axes& axes);

// The parts, one a replica (at least one, checked), folded from the left and divided once; `dtype` is the values'. A
// mean of no elements is NaN. InvalidArgument: shapes that differ (names both and the replica).
absl::StatusOr<Tensor> FoldParts(ReplicaReduceOp op, DType dtype, absl::Span<const ReductionPart> parts);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DISTRIBUTE_REDUCTION_PART_H_
