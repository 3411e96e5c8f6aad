#include "runtime/distribute/reduction_part.h"

#include <array>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"
#include "runtime/base/error_kind.h"
#include "runtime/base/status_macros.h"
#include "runtime/distribute/elementwise.h"
#include "runtime/tensor/element_type.h"

namespace cohort {
namespace {

absl::Status NoSums(ReplicaReduceOp op, DType dtype) {
  return InvalidTypeError(
      absl::StrCat("values of ", DTypeName(dtype), " have no ", ReplicaReduceOpName(op), ", only numbers have"));
}

using AxisMask = std::array<bool, Shape::kMaxRank>;

absl::StatusOr<AxisMask> MaskOf(absl::Span<const int64_t> axes, const Shape& shape) {
  AxisMask mask{};
  for (const int64_t axis : axes) {
    if (axis < -shape.rank() || axis >= shape.rank()) {
      return absl::InvalidArgumentError(
          absl::StrCat("axis ", axis, " is out of range for rank ", shape.rank(), ", shape ", shape.ToString()));
    }
    bool& reduced = mask[axis < 0 ? axis + shape.rank() : axis];
    if (reduced) return absl::InvalidArgumentError(absl::StrCat("axis ", axis, " is listed twice"));
    reduced = true;
  }
  return mask;
}

template <typename T>
void Add(T& sum, T value) {
  if constexpr (std::is_integral_v<T>) {  // wraps
    using U = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    sum = static_cast<T>(static_cast<U>(sum) + static_cast<U>(value));
  } else {
    sum = static_cast<T>(sum + value);
  }
}

// Adds elements in row-major order. strides[d]: how far the sums move with dimension d, 0 where it is reduced.
template <typename T>
void SumInto(const Tensor& value, const std::array<int64_t, Shape::kMaxRank>& strides, Tensor& sums) {
  const Shape& shape = value.shape();
  const int rank = shape.rank();
  const T* from = value.values<T>().data();
  T* to = sums.mutable_values<T>().data();
  if (value.num_elements() == 0) return;
  std::array<int64_t, Shape::kMaxRank> at{};
  const int64_t row = rank == 0 ? 1 : shape.dim(rank - 1);
  const int64_t step = rank == 0 ? 0 : strides[rank - 1];
  int64_t place = 0;
  for (int64_t i = 0; i < value.num_elements(); i += row) {
    for (int64_t j = 0; j < row; ++j) Add(to[place + j * step], from[i + j]);
    for (int d = rank - 2; d >= 0; --d) {
      place += strides[d];
      if (++at[d] < shape.dim(d)) break;
      place -= strides[d] * shape.dim(d);
      at[d] = 0;
    }
  }
}

ReductionPart SumOver(const AxisMask& mask, const Tensor& value) {
  ReductionPart part{Tensor(), 1};
  const Shape& shape = value.shape();
  std::array<int64_t, Shape::kMaxRank> strides{};
  int64_t stride = 1;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    if (mask[d]) {
      part.count *= shape.dim(d);
    } else {
      strides[d] = stride;
      stride *= shape.dim(d);
    }
  }
  Shape kept;
  for (int d = 0; d < shape.rank(); ++d) {
    if (!mask[d]) kept.push_back(shape.dim(d));
  }
  part.sum = Tensor::Zeros(value.dtype(), kept);
  DispatchElementType(value.dtype(), [&](auto zero) {
    using T = decltype(zero);
    // Accumulators are never bool or of 16 bits.
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) SumInto<T>(value, strides, part.sum);
  });
  return part;
}

// sum / count in the accumulator's floats; integers in float64.
template <typename T>
Tensor Quotient(const Tensor& sum, int64_t count) {
  using F = std::conditional_t<std::is_integral_v<T>, double, T>;
  Tensor result(kDTypeOf<F>, sum.shape());
  const absl::Span<F> to = result.mutable_values<F>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<F>(sum.values<T>()[i]) / static_cast<F>(count);
  return result;
}

Tensor DivideSum(const Tensor& sum, int64_t count) {
  switch (sum.dtype()) {
    case DType::kF32:
      return Quotient<float>(sum, count);
    case DType::kF64:
      return Quotient<double>(sum, count);
    case DType::kU64:
      return Quotient<uint64_t>(sum, count);
    default:
      return Quotient<int64_t>(sum, count);
  }
}

}  // namespace

absl::StatusOr<DType> ReducedDType(ReplicaReduceOp op, DType dtype) {
  if (!IsNumeric(dtype)) return NoSums(op, dtype);
  if (op == ReplicaReduceOp::kSum || IsFloating(dtype)) return dtype;
  return DTypeSize(dtype) <= 2 ? DType::kF32 : DType::kF64;
}

absl::StatusOr<DType> AccumulatorDType(ReplicaReduceOp op, DType dtype) {
  if (!IsNumeric(dtype)) return NoSums(op, dtype);
  if (IsFloating(dtype)) return dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  if (op == ReplicaReduceOp::kSum) return dtype;
  return dtype == DType::kU64 ? DType::kU64 : DType::kI64;
}

absl::StatusOr<ReductionPart> PartOf(ReplicaReduceOp op, const Tensor& value, const Axes& axes) {
  COHORT_ASSIGN_OR_RETURN(const DType dtype, AccumulatorDType(op, value.dtype()));
  if (!axes || axes->empty()) return ReductionPart{CastTo(value, dtype), 1};
  COHORT_ASSIGN_OR_RETURN(const AxisMask mask, MaskOf(*axes, value.shape()));
  return SumOver(mask, CastTo(value, dtype));
}

absl::StatusOr<Tensor> FoldParts(ReplicaReduceOp op, DType dtype, absl::Span<const ReductionPart> parts) {
  COHORT_CHECK(!parts.empty(), "a reduction needs a part of each replica");
  COHORT_ASSIGN_OR_RETURN(const DType result, ReducedDType(op, dtype));
  int64_t count = 0;
  for (size_t r = 0; r < parts.size(); ++r) {
    COHORT_CHECK(parts[r].sum.dtype() == parts[0].sum.dtype(), "parts have one accumulator's dtype");
    count += parts[r].count;
    if (parts[r].sum.shape() == parts[0].sum.shape()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(ReplicaReduceOpName(op), " over replicas needs equal shapes: ", parts[0].sum.shape().ToString(),
                     " on replica 0, ", parts[r].sum.shape().ToString(), " on replica ", r,
                     "; batches of different sizes need the axis of the batch"));
  }
  Tensor sum = parts[0].sum;
  if (parts.size() > 1) sum = sum.Clone();
  for (const ReductionPart& part : parts.subspan(1)) COHORT_RETURN_IF_ERROR(Apply(ElementOp::kAdd, sum, part.sum));
  return CastTo(op == ReplicaReduceOp::kSum ? sum : DivideSum(sum, count), result);
}

}  // namespace cohort
