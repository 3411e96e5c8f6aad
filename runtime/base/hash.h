#ifndef COHORT_RUNTIME_BASE_HASH_H_
#define COHORT_RUNTIME_BASE_HASH_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace cohort {

// Hashes whose values are part of what we promise (seeds, wire), the same on every machine and in every release.

// FNV-1a, 64 bits: of "" 0xcbf29ce484222325. `hash` continues over the bytes that come next.
// Source: draft-eastlake-fnv.
constexpr uint64_t Fnv1a64(absl::string_view bytes, uint64_t hash = 0xcbf29ce484222325) {
  for (const char c : bytes) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

// One step of splitmix64 from state `x`: a bijection that spreads every input bit over all 64.
// The generator's n-th number from seed s is SplitMix64(s + n * 0x9e3779b97f4a7c15), n from 0.
// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
constexpr uint64_t SplitMix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace cohort

#endif  // COHORT_RUNTIME_BASE_HASH_H_
