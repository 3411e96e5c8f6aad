#ifndef COHORT_RUNTIME_BASE_PHILOX_H_
#define COHORT_RUNTIME_BASE_PHILOX_H_

#include <array>
#include <cstdint>

namespace cohort {

// Philox4x32-10: 128 random bits as a pure function of a 128-bit counter and a 64-bit key. Numbers that are functions
// of what they are for (seed, name, element) come out the same on every task, in any order. Source: Salmon, Moraes,
// Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.
using PhiloxBlock = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

constexpr PhiloxBlock Philox4x32(PhiloxBlock counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

// The block for a 64-bit key and two 64-bit halves of the counter, low words first.
constexpr PhiloxBlock Philox4x32(uint64_t key, uint64_t counter_low, uint64_t counter_high = 0) {
  return Philox4x32(PhiloxBlock{static_cast<uint32_t>(counter_low), static_cast<uint32_t>(counter_low >> 32),
                                static_cast<uint32_t>(counter_high), static_cast<uint32_t>(counter_high >> 32)},
                    PhiloxKey{static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)});
}

// In [0, 1), of the 53 upper bits of two words.
constexpr double UnitDouble(uint32_t high, uint32_t low) {
  return static_cast<double>(((uint64_t{high} << 32) | low) >> 11) * 0x1p-53;
}

}  // namespace cohort

#endif  // COHORT_RUNTIME_BASE_PHILOX_H_
