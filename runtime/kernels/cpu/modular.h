#ifndef COHORT_RUNTIME_KERNELS_CPU_MODULAR_H_
#define COHORT_RUNTIME_KERNELS_CPU_MODULAR_H_

#include <type_traits>

namespace cohort::cpu {

template <typename T, bool kIsInteger = std::is_integral_v<T>>
struct ModularType {
  using Type = T;
};
template <typename T>
struct ModularType<T, true> {
  using Type = std::make_unsigned_t<T>;
};

// What T computes in: integers of 32 and 64 bits in unsigned ones, so that they wrap around as TensorFlow's do, where
// signed ones would be undefined; floats in themselves. The result is cast back to T.
template <typename T>
using Modular = typename ModularType<T>::Type;

}  // namespace cohort::cpu

#endif  // COHORT_RUNTIME_KERNELS_CPU_MODULAR_H_
