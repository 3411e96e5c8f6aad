#ifndef COHORT_RUNTIME_DISTRIBUTE_REDUCE_H_
#define COHORT_RUNTIME_DISTRIBUTE_REDUCE_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/distribute/nest.h"
#include "runtime/distribute/replica_ids.h"
#include "runtime/distribute/replica_reduce_op.h"
#include "runtime/tensor/tensor.h"

namespace cohort {

// Combining what replicas computed (spec 5.1-5.12). All folds go from the left in replica order.

// The values of all replicas, in replica order (at least one, checked), of one dtype.
// InvalidArgument: dtypes or, after the axis reduction, shapes that differ: names both and the replica; axes and dtypes
// as PartOf.
absl::StatusOr<Tensor> ReduceTensors(ReplicaReduceOp op, absl::Span<const Tensor> values, const Axes& axes);

// Rows of all replicas one after the other, duplicates kept; a mean divides the values by the number of replicas.
// InvalidArgument as ConcatSlices.
absl::StatusOr<IndexedSlices> ReduceSlices(ReplicaReduceOp op, absl::Span<const IndexedSlices> values);

// strategy.reduce and reduce_to: leaf by leaf. A PerReplica has the values of all N replicas. A plain value stands for
// (5.7):
//   default, one_device                 itself; axes are reduced, without axes the op is ignored
//   any other, with axes                one copy on each replica
//   N = 1; parameter_server             itself
//   multi_worker_mirrored with W > 1    the contribution of each worker: the sum is W times it
//   N > 1, mean; or all zeros           itself
//   N > 1, sum                          InvalidArgument "non-DistributedValues"
// A Mirrored value without axes: its value for a mean, InvalidArgument for a sum.
// InvalidArgument, with the path: the above, and as ReduceTensors. Unimplemented: axes of a sparse value.
absl::StatusOr<Nest> Reduce(const StrategyShape& strategy, ReplicaReduceOp op, const Nest& value, const Axes& axes);

// all_reduce in replica context: values[r] is what replica r gives, the result what each replica gets. Its gradient is
// AllReduce of the gradients with the same op. InvalidArgument, with the path: structures that differ; as
// ReduceTensors.
absl::StatusOr<Nest> AllReduce(ReplicaReduceOp op, absl::Span<const Nest> values);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DISTRIBUTE_REDUCE_H_
