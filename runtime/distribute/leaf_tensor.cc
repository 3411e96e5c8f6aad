#include "runtime/distribute/leaf_tensor.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/distribute/elementwise.h"

namespace cohort {
namespace {

absl::Status NotATensor(const Nest& leaf) {
  if (leaf.kind() == Nest::Kind::kPerReplica) {
    return absl::InvalidArgumentError(
        "a PerReplica was used as one tensor: it looks like you are using a PerReplica object while not inside a "
        "replica context; use it inside run, or reduce or gather it first");
  }
  return absl::InvalidArgumentError(absl::StrCat("a ", KindName(leaf.kind()), " is no tensor"));
}

// A host number as the widest dtype of its kind.
Tensor WideScalar(const Nest& leaf) {
  if (leaf.kind() == Nest::Kind::kBool) return Tensor::Scalar<bool>(leaf.bool_value());
  if (leaf.kind() == Nest::Kind::kInt) return Tensor::Scalar<int64_t>(leaf.int_value());
  return Tensor::Scalar<double>(leaf.double_value());
}

// Whether `wide` of a host number says the same in `dtype`. Floats may round, but not become infinite.
bool Fits(const Nest& leaf, const Tensor& wide, DType dtype) {
  if ((leaf.kind() == Nest::Kind::kBool) != (dtype == DType::kBool)) return false;
  if (leaf.kind() == Nest::Kind::kDouble) {
    return IsFloating(dtype) && (AllFinite(CastTo(wide, dtype)) || !AllFinite(wide));
  }
  if (IsFloating(dtype)) return AllFinite(CastTo(wide, dtype));
  if (dtype == DType::kU64 && leaf.int_value() < 0) return false;
  return leaf.kind() == Nest::Kind::kBool || CastTo(CastTo(wide, dtype), DType::kI64).BitwiseEquals(wide);
}

}  // namespace

absl::StatusOr<Tensor> LeafTensor(const Nest& leaf) {
  switch (leaf.kind()) {
    case Nest::Kind::kTensor:
      return leaf.tensor();
    case Nest::Kind::kBool:
      return Tensor::Scalar<bool>(leaf.bool_value());
    case Nest::Kind::kDouble:
      return Tensor::Scalar<float>(static_cast<float>(leaf.double_value()));
    case Nest::Kind::kString:
      return Tensor::OfStrings(Shape(), {leaf.string()});
    case Nest::Kind::kMirrored:
      return LeafTensor(leaf.children()[0]);
    case Nest::Kind::kInt:
      if (leaf.int_value() != static_cast<int32_t>(leaf.int_value())) {
        return absl::InvalidArgumentError(
            absl::StrCat("the number ", leaf.int_value(), " does not fit an int32: make it an int64 tensor"));
      }
      return Tensor::Scalar<int32_t>(static_cast<int32_t>(leaf.int_value()));
    default:
      return NotATensor(leaf);
  }
}

absl::StatusOr<Tensor> LeafTensorInReplica(const Nest& leaf, int replica) {
  if (!leaf.is_distributed()) return LeafTensor(leaf);
  if (replica < 0 || static_cast<size_t>(replica) >= leaf.children().size()) {
    return absl::InvalidArgumentError(absl::StrCat("a ", KindName(leaf.kind()), " of ", leaf.children().size(),
                                                   " values has none for replica ", replica));
  }
  return LeafTensor(leaf.children()[replica]);
}

absl::StatusOr<Tensor> LeafTensorOf(DType dtype, const Nest& leaf) {
  if (leaf.is_host_scalar()) {
    const Tensor wide = WideScalar(leaf);
    if (DTypeSize(dtype) == 0 || !Fits(leaf, wide, dtype)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the ", KindName(leaf.kind()), " ", leaf.ToString(), " cannot become a ", DTypeName(dtype)));
    }
    return CastTo(wide, dtype);
  }
  COHORT_ASSIGN_OR_RETURN(Tensor tensor, LeafTensor(leaf));
  if (tensor.dtype() != dtype) {
    return absl::InvalidArgumentError(
        absl::StrCat("a ", tensor.spec().ToString(), " where a ", DTypeName(dtype), " is wanted: cast it"));
  }
  return tensor;
}

}  // namespace cohort
