#ifndef COHORT_RUNTIME_DISTRIBUTE_LEAF_TENSOR_H_
#define COHORT_RUNTIME_DISTRIBUTE_LEAF_TENSOR_H_

#include "absl/status/statusor.h"
#include "runtime/distribute/nest.h"

namespace cohort {

// A leaf as a tensor. Host scalars take the dtypes that TensorFlow gives to literals: int32, float32, bool, string.
// InvalidArgument: an integer beyond int32 (make it an int64 tensor), none, an object, a sparse value; a PerReplica, as
// only a replica has one value of it (4.9). A Mirrored value gives its first component.
absl::StatusOr<Tensor> LeafTensor(const Nest& leaf);

// As above inside replica r, where a PerReplica or Mirrored value is its component r.
absl::StatusOr<Tensor> LeafTensorInReplica(const Nest& leaf, int replica);

// A leaf as a tensor of `dtype`: host numbers are converted, tensors must have it already.
// InvalidArgument as LeafTensor; a number that the dtype cannot hold (2.5 for int32); a tensor of another dtype.
absl::StatusOr<Tensor> LeafTensorOf(DType dtype, const Nest& leaf);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DISTRIBUTE_LEAF_TENSOR_H_
