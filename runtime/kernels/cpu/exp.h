#ifndef COHORT_RUNTIME_KERNELS_CPU_EXP_H_
#define COHORT_RUNTIME_KERNELS_CPU_EXP_H_

#include <bit>
#include <cstdint>

namespace cohort::cpu {

// e^x for loops that the compiler is to vectorise: no branches, no calls. Within 2 ulp where the result is normal;
// overflows to infinity above 88.7, to zero below -104; NaN stays NaN.
// x = n ln 2 + r, |r| <= ln 2 / 2; e^r by Cephes' polynomial; 2^n in two factors, so that n may be beyond the exponent.
[[gnu::always_inline]] inline float VectorExp(float x) {
  constexpr float kLog2E = 1.44269504088896341f;
  constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  float y = x < -105.0f ? -105.0f : x;
  y = y > 89.0f ? 89.0f : y;
  const float shifted = y * kLog2E + kRound;
  const float n = shifted - kRound;
  const float r = (y - n * kLn2High) - n * kLn2Low;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  const int32_t whole = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kRound);
  const int32_t half = whole >> 1;
  const float first = std::bit_cast<float>((half + 127) << 23);
  const float second = std::bit_cast<float>((whole - half + 127) << 23);
  return p * first * second;
}

}  // namespace cohort::cpu

#endif  // COHORT_RUNTIME_KERNELS_CPU_EXP_H_
