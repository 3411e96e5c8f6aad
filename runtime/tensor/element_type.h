#ifndef COHORT_RUNTIME_TENSOR_ELEMENT_TYPE_H_
#define COHORT_RUNTIME_TENSOR_ELEMENT_TYPE_H_

#include <cstdint>
#include <type_traits>

#include "runtime/tensor/dtype.h"
#include "runtime/tensor/float16.h"

// Applies a macro to each C++ type that a tensor's memory may hold, with its DType: M(float, DType::kF32) ...
#define COHORT_FOR_EACH_ELEMENT_TYPE(M) \
  M(bool, DType::kBool)                 \
  M(int8_t, DType::kI8)                 \
  M(int16_t, DType::kI16)               \
  M(int32_t, DType::kI32)               \
  M(int64_t, DType::kI64)               \
  M(uint8_t, DType::kU8)                \
  M(uint16_t, DType::kU16)              \
  M(uint32_t, DType::kU32)              \
  M(uint64_t, DType::kU64)              \
  M(Float16, DType::kF16)               \
  M(BFloat16, DType::kBF16)             \
  M(float, DType::kF32)                 \
  M(double, DType::kF64)

namespace cohort {

// The DType of a C++ element type: kDTypeOf<float> == DType::kF32.
template <typename T>
inline constexpr DType kDTypeOf = DType::kInvalid;
#define COHORT_INTERNAL_DTYPE_OF(T, dtype) \
  template <>                              \
  inline constexpr DType kDTypeOf<T> = dtype;
COHORT_FOR_EACH_ELEMENT_TYPE(COHORT_INTERNAL_DTYPE_OF)
#undef COHORT_INTERNAL_DTYPE_OF

// Calls `f` with a value-initialised element of `dtype`'s C++ type and returns true; false for other dtypes (strings).
//   DispatchElementType(tensor.dtype(), [&](auto zero) { using T = decltype(zero); ... });
template <typename F>
bool DispatchElementType(DType dtype, F&& f) {
  switch (dtype) {
#define COHORT_INTERNAL_CASE(T, d) \
  case d:                          \
    f(T());                        \
    return true;
    COHORT_FOR_EACH_ELEMENT_TYPE(COHORT_INTERNAL_CASE)
#undef COHORT_INTERNAL_CASE
    default:
      return false;
  }
}

}  // namespace cohort

#endif  // COHORT_RUNTIME_TENSOR_ELEMENT_TYPE_H_
