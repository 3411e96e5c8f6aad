#ifndef COHORT_RUNTIME_TENSOR_FLOAT16_H_
#define COHORT_RUNTIME_TENSOR_FLOAT16_H_

#include <bit>
#include <cstdint>

namespace cohort {

// IEEE 754 binary16: 1 sign bit, 5 exponent bits, 10 fraction bits. Storage only: arithmetic happens in float.
struct Float16 {
  uint16_t bits = 0;

  Float16() = default;
  explicit Float16(float value) : bits(FromFloat(value)) {}
  explicit operator float() const { return ToFloat(bits); }
  // Equal bits: a NaN equals itself, zeros of two signs differ.
  friend bool operator==(const Float16&, const Float16&) = default;

  static Float16 FromBits(uint16_t bits) {
    Float16 h;
    h.bits = bits;
    return h;
  }

  // Nearest, ties to even; above 65519.99 infinity; NaN stays a (quiet) NaN with its sign.
  static constexpr uint16_t FromFloat(float value) {
    const uint32_t f = std::bit_cast<uint32_t>(value);
    const uint16_t sign = static_cast<uint16_t>((f >> 16) & 0x8000);
    const uint32_t magnitude = f & 0x7fffffff;
    if (magnitude > 0x7f800000) return sign | 0x7e00 | static_cast<uint16_t>((magnitude >> 13) & 0x3ff);
    if (magnitude >= 0x47800000) return sign | 0x7c00;  // 2^16 and above
    if (magnitude < 0x33000000) return sign;            // below half of the smallest subnormal, 2^-25
    const int exponent = static_cast<int>(magnitude >> 23);
    uint32_t fraction = magnitude & 0x7fffff;
    // How many of the fraction's low bits do not fit; subnormal results lose more.
    int drop = 13;
    uint32_t base = 0;
    if (exponent < 113) {  // below 2^-14: subnormal
      fraction |= 0x800000;
      drop = 126 - exponent;
    } else {
      base = static_cast<uint32_t>(exponent - 112) << 10;
    }
    const uint32_t kept = fraction >> drop;
    const uint32_t rest = fraction & ((1u << drop) - 1);
    const uint32_t half = 1u << (drop - 1);
    const uint32_t up = rest > half || (rest == half && (kept & 1)) ? 1 : 0;
    return static_cast<uint16_t>(sign | (base + kept + up));  // a carry goes into the exponent, as it should
  }

  static constexpr float ToFloat(uint16_t bits) {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
    const uint32_t exponent = (bits >> 10) & 0x1f;
    const uint32_t fraction = bits & 0x3ff;
    if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000 | (fraction << 13));
    if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
    const float subnormal = static_cast<float>(fraction) * 0x1p-24f;  // exact
    return sign ? -subnormal : subnormal;
  }
};

// The upper half of a float: 1 sign bit, 8 exponent bits, 7 fraction bits. Storage only.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float value) : bits(FromFloat(value)) {}
  explicit operator float() const { return ToFloat(bits); }
  // Equal bits: a NaN equals itself, zeros of two signs differ.
  friend bool operator==(const BFloat16&, const BFloat16&) = default;

  static BFloat16 FromBits(uint16_t bits) {
    BFloat16 b;
    b.bits = bits;
    return b;
  }

  // Nearest, ties to even; NaN stays a (quiet) NaN with its sign.
  static constexpr uint16_t FromFloat(float value) {
    const uint32_t f = std::bit_cast<uint32_t>(value);
    if ((f & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>((f >> 16) | 0x40);
    return static_cast<uint16_t>((f + 0x7fff + ((f >> 16) & 1)) >> 16);
  }
  static constexpr float ToFloat(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_TENSOR_FLOAT16_H_
