#include "runtime/dataset/permutation.h"

#include <algorithm>
#include <cmath>

#include "runtime/base/hash.h"

namespace cohort {
namespace {

// hash mod m without a division: the high half of hash * m. Uniform up to m / 2^64.
uint64_t Below(uint64_t hash, uint64_t m) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(hash) * m) >> 64);
}

uint64_t AddMod(uint64_t x, uint64_t y, uint64_t m) {
  const uint64_t sum = x + y;
  return sum >= m ? sum - m : sum;
}

}  // namespace

uint64_t EpochKey(uint64_t seed, int64_t epoch) {
  return SplitMix64(SplitMix64(seed) ^ SplitMix64(static_cast<uint64_t>(epoch) ^ 0x65706f6368ull));  // "epoch"
}

Permutation::Permutation(int64_t n, uint64_t key) : n_(n) {
  a_ = std::max<uint64_t>(1, static_cast<uint64_t>(std::sqrt(static_cast<double>(n_))));
  b_ = std::max<uint64_t>(1, n_ / a_ + (n_ % a_ != 0 ? 1 : 0));
  for (int i = 0; i < kRounds; ++i) round_keys_[i] = SplitMix64(key + (i + 1) * 0x9e3779b97f4a7c15);
}

uint64_t Permutation::Once(uint64_t value) const {
  uint64_t x = value % a_;
  uint64_t y = value / a_;
  for (int i = 0; i < kRounds; i += 2) {
    x = AddMod(x, Below(SplitMix64(round_keys_[i] ^ y), a_), a_);
    y = AddMod(y, Below(SplitMix64(round_keys_[i + 1] ^ x), b_), b_);
  }
  return y * a_ + x;
}

int64_t Permutation::operator()(int64_t i) const {
  uint64_t value = Once(i);
  while (value >= n_) value = Once(value);
  return static_cast<int64_t>(value);
}

}  // namespace cohort
