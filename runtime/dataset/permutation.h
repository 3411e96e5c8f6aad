#ifndef COHORT_RUNTIME_DATASET_PERMUTATION_H_
#define COHORT_RUNTIME_DATASET_PERMUTATION_H_

#include <array>
#include <cstdint>

namespace cohort {

// A pseudorandom order of 0..n-1, made from its key alone: the number at any place is computed, nothing is stored. So
// every worker knows the order of the whole data set without asking, and any place of any epoch costs the same.
//
// A Feistel network over pairs (x, y) with x < a, y < b and ab >= n, ab - n < a, whose rounds add a keyed hash of one
// half to the other; numbers >= n go through it again until they fall below n (cycle walking).
// Source: Black and Rogaway, "Ciphers with arbitrary finite domains", 2002 (generalised Feistel cipher).
class Permutation {
 public:
  // 0 <= n <= 2^62.
  Permutation(int64_t n, uint64_t key);

  // The number at place i, 0 <= i < n.
  int64_t operator()(int64_t i) const;

 private:
  static constexpr int kRounds = 6;
  uint64_t Once(uint64_t value) const;

  uint64_t n_;
  uint64_t a_;
  uint64_t b_;
  std::array<uint64_t, kRounds> round_keys_;
};

// The key of an epoch's order.
uint64_t EpochKey(uint64_t seed, int64_t epoch);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DATASET_PERMUTATION_H_
