#ifndef COHORT_RUNTIME_REMOTE_TENSOR_CODING_H_
#define COHORT_RUNTIME_REMOTE_TENSOR_CODING_H_

#include "absl/status/statusor.h"
#include "proto/tensor.pb.h"
#include "runtime/tensor/tensor.h"

namespace cohort {

wire::Shape ToProto(const Shape& shape);
// A dimension is at least 0, or Shape::kUnknown; there are at most Shape::kMaxRank.
absl::StatusOr<Shape> FromProto(const wire::Shape& proto);

wire::TensorSpec ToProto(const TensorSpec& spec);
absl::StatusOr<TensorSpec> FromProto(const wire::TensorSpec& proto);

// A known dtype, kInvalid included.
absl::StatusOr<DType> DTypeFromProto(int32_t number);

// The bytes of a tensor of `spec`. InvalidArgument unless the shape is fully defined, the dtype has elements of a fixed
// size, and the product fits into 2^40.
absl::StatusOr<size_t> CheckedBytes(const TensorSpec& spec);

// The default Tensor is the default message. The other way the bytes are copied into memory of the tensor's own.
wire::Tensor ToProto(const Tensor& tensor);
absl::StatusOr<Tensor> FromProto(const wire::Tensor& proto);

}  // namespace cohort

#endif  // COHORT_RUNTIME_REMOTE_TENSOR_CODING_H_
