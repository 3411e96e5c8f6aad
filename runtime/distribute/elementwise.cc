#include "runtime/distribute/elementwise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"
#include "runtime/tensor/element_type.h"

namespace cohort {
namespace {

template <typename T>
constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

// What T is computed in. Integers wrap, so theirs is a type that neither overflows nor is promoted to int.
template <typename T>
using Wrapping = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <typename T>
T Divide(T a, T b) {
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    if (b == T(-1)) return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a));  // the smallest one wraps
  }
  return static_cast<T>(a / b);
}

template <ElementOp op, typename T>
T Compute(T a, T b) {
  if constexpr (kIsHalf<T>) {
    return T(Compute<op>(static_cast<float>(a), static_cast<float>(b)));
  } else if constexpr (op == ElementOp::kMin) {
    return a < b || a != a ? a : b;  // a NaN stays
  } else if constexpr (op == ElementOp::kMax) {
    return a > b || a != a ? a : b;
  } else if constexpr (op == ElementOp::kDiv) {
    return Divide(a, b);
  } else if constexpr (std::is_integral_v<T>) {
    using W = Wrapping<T>;
    const W x = static_cast<W>(a), y = static_cast<W>(b);
    return static_cast<T>(op == ElementOp::kAdd ? x + y : op == ElementOp::kSub ? x - y : x * y);
  } else {
    return op == ElementOp::kAdd ? a + b : op == ElementOp::kSub ? a - b : a * b;
  }
}

template <ElementOp op, typename T>
void Loop(absl::Span<T> target, absl::Span<const T> operand) {
  for (size_t i = 0; i < target.size(); ++i) target[i] = Compute<op>(target[i], operand[i]);
}

template <typename T>
absl::Status ApplyTyped(ElementOp op, absl::Span<T> target, absl::Span<const T> operand) {
  switch (op) {
    case ElementOp::kAdd:
      Loop<ElementOp::kAdd>(target, operand);
      break;
    case ElementOp::kSub:
      Loop<ElementOp::kSub>(target, operand);
      break;
    case ElementOp::kMul:
      Loop<ElementOp::kMul>(target, operand);
      break;
    case ElementOp::kDiv:
      if (std::is_integral_v<T> && std::find(operand.begin(), operand.end(), T()) != operand.end()) {
        return absl::InvalidArgumentError(absl::StrCat("a ", DTypeName(kDTypeOf<T>), " is divided by zero"));
      }
      Loop<ElementOp::kDiv>(target, operand);
      break;
    case ElementOp::kMin:
      Loop<ElementOp::kMin>(target, operand);
      break;
    case ElementOp::kMax:
      Loop<ElementOp::kMax>(target, operand);
      break;
    case ElementOp::kReplace:
      break;
  }
  return absl::OkStatus();
}

// --- Conversions go through the widest type of their kind, a block at a time: 13 readers and 3 x 13 writers instead of
// 13 x 13 loops.

constexpr int64_t kBlock = 256;

template <typename T, typename W>
void Read(const Tensor& from, int64_t begin, int64_t count, W* wide) {
  const T* values = from.values<T>().data() + begin;
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (kIsHalf<T>) {
      wide[i] = static_cast<float>(values[i]);
    } else {
      wide[i] = static_cast<W>(values[i]);
    }
  }
}

template <typename T, typename W>
T Narrow(W value) {
  if constexpr (kIsHalf<T>) {
    return T(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    return value != W();
  } else if constexpr (std::is_floating_point_v<W> && std::is_integral_v<T>) {
    constexpr W kBelow = static_cast<W>(std::numeric_limits<T>::min());
    if (std::isnan(value)) return T();
    if (value <= kBelow) return std::numeric_limits<T>::min();
    // 2^digits is exact in W, the largest T may be not.
    if (value >= std::ldexp(W(1), std::numeric_limits<T>::digits)) return std::numeric_limits<T>::max();
    return static_cast<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

template <typename W>
void Write(const W* wide, int64_t begin, int64_t count, Tensor& to) {
  DispatchElementType(to.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* values = to.mutable_values<T>().data() + begin;
    for (int64_t i = 0; i < count; ++i) values[i] = Narrow<T>(wide[i]);
  });
}

template <typename T>
void Convert(const Tensor& from, Tensor& to) {
  using W = std::conditional_t<kIsHalf<T> || std::is_floating_point_v<T>, double,
                               std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;
  W wide[kBlock];
  for (int64_t begin = 0; begin < from.num_elements(); begin += kBlock) {
    const int64_t count = std::min(kBlock, from.num_elements() - begin);
    Read<T>(from, begin, count, wide);
    Write(wide, begin, count, to);
  }
}

}  // namespace

absl::Status Apply(ElementOp op, Tensor& target, const Tensor& operand) {
  COHORT_CHECK(target.dtype() == operand.dtype() && target.num_elements() == operand.num_elements(),
               "elementwise arithmetic needs equal dtypes and sizes");
  if (op == ElementOp::kReplace) {
    if (target.dtype() == DType::kString) {
      target.mutable_strings() = operand.strings();
    } else if (target.num_bytes() > 0) {
      std::copy_n(static_cast<const char*>(operand.data()), operand.num_bytes(),
                  static_cast<char*>(target.mutable_data()));
    }
    return absl::OkStatus();
  }
  if (!IsNumeric(target.dtype())) {
    return absl::InvalidArgumentError(absl::StrCat("no arithmetic of ", DTypeName(target.dtype())));
  }
  absl::Status status;
  DispatchElementType(target.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, bool>) status = ApplyTyped<T>(op, target.mutable_values<T>(), operand.values<T>());
  });
  return status;
}

bool IsNumeric(DType dtype) { return IsInteger(dtype) || IsFloating(dtype); }

Tensor CastTo(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  Tensor result(dtype, tensor.shape());
  const bool known = DispatchElementType(tensor.dtype(), [&](auto zero) { Convert<decltype(zero)>(tensor, result); });
  COHORT_CHECK(known && DTypeSize(dtype) > 0, "only numbers and bool can be cast");
  return result;
}

Tensor RowView(const Tensor& tensor, int64_t row) {
  COHORT_CHECK(tensor.shape().rank() > 0 && row >= 0 && row < tensor.shape().dim(0), "the row is not in the tensor");
  TensorSpec spec{tensor.dtype(), Shape(tensor.shape().dims().subspan(1))};
  const size_t row_bytes = spec.shape.num_elements() * DTypeSize(tensor.dtype());
  const size_t offset = static_cast<const char*>(tensor.data()) - static_cast<const char*>(tensor.buffer()->data());
  return Tensor(std::move(spec), tensor.buffer(), offset + row * row_bytes);
}

bool AllFinite(const Tensor& tensor) {
  bool finite = true;
  DispatchElementType(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kIsHalf<T> || std::is_floating_point_v<T>) {
      using F = std::conditional_t<kIsHalf<T>, float, T>;
      for (const T value : tensor.values<T>()) finite = finite && std::isfinite(static_cast<F>(value));
    }
  });
  return finite;
}

bool AllZero(const Tensor& tensor) {
  bool zeros = tensor.dtype() != DType::kString;
  DispatchElementType(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kIsHalf<T>) {
      for (const T value : tensor.values<T>()) zeros = zeros && static_cast<float>(value) == 0;
    } else {
      for (const T value : tensor.values<T>()) zeros = zeros && value == T();
    }
  });
  return zeros;
}

bool SameHandle(const Tensor& a, const Tensor& b) {
  if (!a.has_value() || !b.has_value()) return a.has_value() == b.has_value();
  if (!(a.spec() == b.spec())) return false;
  return a.dtype() == DType::kString ? &a.strings() == &b.strings() : a.data() == b.data();
}

}  // namespace cohort
