#include "runtime/remote/tensor_coding.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace cohort {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 40;

absl::StatusOr<int64_t> CheckedElements(const Shape& shape) {
  int64_t elements = 1;
  for (const int64_t dim : shape.dims()) {
    if (dim < 0) return absl::InvalidArgumentError(absl::StrCat("tensor: shape ", shape.ToString(), " is not defined"));
    if (dim != 0 && elements > kMaxElements / dim) {
      return absl::InvalidArgumentError(absl::StrCat("tensor: shape ", shape.ToString(), " is too large"));
    }
    elements *= dim;
  }
  return elements;
}

absl::StatusOr<Tensor> StringsFromProto(const wire::Tensor& proto, Shape shape) {
  COHORT_ASSIGN_OR_RETURN(const int64_t elements, CheckedElements(shape));
  if (proto.strings_size() != elements || !proto.data().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("tensor: ", proto.strings_size(), " strings for shape ", shape.ToString()));
  }
  return Tensor::OfStrings(std::move(shape), {proto.strings().begin(), proto.strings().end()});
}

}  // namespace

wire::Shape ToProto(const Shape& shape) {
  wire::Shape proto;
  for (const int64_t dim : shape.dims()) proto.add_dims(dim);
  return proto;
}

absl::StatusOr<Shape> FromProto(const wire::Shape& proto) {
  if (proto.dims_size() > Shape::kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("shape: ", proto.dims_size(), " dimensions, at most ", Shape::kMaxRank, " are possible"));
  }
  Shape shape;
  for (const int64_t dim : proto.dims()) {
    if (dim < 0 && dim != Shape::kUnknown) return absl::InvalidArgumentError(absl::StrCat("shape: dimension ", dim));
    shape.push_back(dim);
  }
  return shape;
}

absl::StatusOr<DType> DTypeFromProto(int32_t number) {
  const auto dtype = static_cast<DType>(number);
  const bool fits = number >= 0 && number < 256;
  if (fits && (number == 0 || dtype == DType::kString || dtype == DType::kResource || DTypeSize(dtype) > 0)) {
    return dtype;
  }
  return absl::InvalidArgumentError(absl::StrCat("dtype: no such number: ", number));
}

wire::TensorSpec ToProto(const TensorSpec& spec) {
  wire::TensorSpec proto;
  proto.set_dtype(static_cast<int32_t>(spec.dtype));
  *proto.mutable_shape() = ToProto(spec.shape);
  return proto;
}

absl::StatusOr<TensorSpec> FromProto(const wire::TensorSpec& proto) {
  COHORT_ASSIGN_OR_RETURN(const DType dtype, DTypeFromProto(proto.dtype()));
  COHORT_ASSIGN_OR_RETURN(Shape shape, FromProto(proto.shape()));
  return TensorSpec{dtype, std::move(shape)};
}

absl::StatusOr<size_t> CheckedBytes(const TensorSpec& spec) {
  const size_t size = DTypeSize(spec.dtype);
  if (size == 0) return absl::InvalidArgumentError(absl::StrCat("tensor: no elements of ", DTypeName(spec.dtype)));
  COHORT_ASSIGN_OR_RETURN(const int64_t elements, CheckedElements(spec.shape));
  return static_cast<size_t>(elements) * size;
}

wire::Tensor ToProto(const Tensor& tensor) {
  wire::Tensor proto;
  if (!tensor.has_value()) return proto;
  *proto.mutable_spec() = ToProto(tensor.spec());
  if (tensor.dtype() == DType::kString) {
    for (const std::string& element : tensor.strings()) proto.add_strings(element);
  } else if (tensor.num_bytes() > 0) {
    proto.set_data(tensor.data(), tensor.num_bytes());
  }
  return proto;
}

absl::StatusOr<Tensor> FromProto(const wire::Tensor& proto) {
  COHORT_ASSIGN_OR_RETURN(TensorSpec spec, FromProto(proto.spec()), _ << "tensor");
  if (spec.dtype == DType::kInvalid && spec.shape.rank() == 0 && proto.data().empty()) return Tensor();
  if (spec.dtype == DType::kString) return StringsFromProto(proto, std::move(spec.shape));
  COHORT_ASSIGN_OR_RETURN(const size_t bytes, CheckedBytes(spec));
  if (proto.data().size() != bytes || proto.strings_size() > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("tensor: ", proto.data().size(), " bytes of data for ", spec.ToString(), ", not ", bytes));
  }
  if (spec.dtype == DType::kBool &&
      std::any_of(proto.data().begin(), proto.data().end(), [](unsigned char c) { return c > 1; })) {
    return absl::InvalidArgumentError("tensor: a bool that is neither 0 nor 1");
  }
  Tensor tensor(spec.dtype, std::move(spec.shape));
  if (bytes > 0) std::memcpy(tensor.mutable_data(), proto.data().data(), bytes);
  return tensor;
}

}  // namespace cohort
