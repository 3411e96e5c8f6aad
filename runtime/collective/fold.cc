#include "runtime/collective/fold.h"

#include <cstring>
#include <type_traits>

#include "runtime/tensor/element_type.h"

namespace cohort {
namespace {

// What a result of T is kept in until it is complete: float32 for 16-bit floats.
template <typename T>
struct Wide {
  using type = T;
};
template <>
struct Wide<Float16> {
  using type = float;
};
template <>
struct Wide<BFloat16> {
  using type = float;
};

template <typename T>
T Load(const char* part, size_t i) {  // parts lie at any address
  T value;
  std::memcpy(&value, part + i * sizeof(T), sizeof(T));
  return value;
}

// Integers wrap: their arithmetic is that of a type that neither overflows nor is promoted to int.
template <typename T>
using Unsigned = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

struct Sum {
  template <typename T>
  static T Of(T a, T b) {
    if constexpr (std::is_same_v<T, bool>)
      return a || b;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
    else
      return a + b;
  }
};
struct Prod {
  template <typename T>
  static T Of(T a, T b) {
    if constexpr (std::is_same_v<T, bool>)
      return a && b;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Unsigned<T>>(a) * static_cast<Unsigned<T>>(b));
    else
      return a * b;
  }
};
// `a != a`: a NaN stays.
struct Min {
  template <typename T>
  static T Of(T a, T b) {
    return a < b || a != a ? a : b;
  }
};
struct Max {
  template <typename T>
  static T Of(T a, T b) {
    return a > b || a != a ? a : b;
  }
};

template <typename T, typename Op>
void Fold(absl::Span<const char* const> parts, size_t count, void* out) {
  using W = typename Wide<T>::type;
  if (parts.size() == 1) {
    if (out != parts[0]) std::memcpy(out, parts[0], count * sizeof(T));
    return;
  }
  T* const result = static_cast<T*>(out);
  if (parts.size() == 2) {
    const char* const a = parts[0];
    const char* const b = parts[1];
#pragma GCC ivdep  // `out` may be a part: the same element, never another
    for (size_t i = 0; i < count; ++i) result[i] = T(Op::Of(W(Load<T>(a, i)), W(Load<T>(b, i))));
    return;
  }
  W sums[kFoldElements];
  for (size_t i = 0; i < count; ++i) sums[i] = Op::Of(W(Load<T>(parts[0], i)), W(Load<T>(parts[1], i)));
  for (const char* part : parts.subspan(2)) {
    for (size_t i = 0; i < count; ++i) sums[i] = Op::Of(sums[i], W(Load<T>(part, i)));
  }
  for (size_t i = 0; i < count; ++i) result[i] = T(sums[i]);
}

}  // namespace

FoldFunction FindFold(DType dtype, ReduceOp op) {
  FoldFunction fold = nullptr;
  DispatchElementType(dtype, [&](auto zero) {
    using T = decltype(zero);
    switch (op) {
      case ReduceOp::kSum:
        fold = Fold<T, Sum>;
        break;
      case ReduceOp::kMin:
        fold = Fold<T, Min>;
        break;
      case ReduceOp::kMax:
        fold = Fold<T, Max>;
        break;
      case ReduceOp::kProd:
        fold = Fold<T, Prod>;
        break;
    }
  });
  return fold;
}

}  // namespace cohort
