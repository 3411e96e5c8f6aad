#ifndef COHORT_RUNTIME_DATASET_INDEX_CHAIN_H_
#define COHORT_RUNTIME_DATASET_INDEX_CHAIN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "runtime/dataset/permutation.h"

namespace cohort {

// Transformations of a sequence that only choose and order, as arithmetic on positions: the element at a position of
// the result is found by walking the chain back to a position of the input. Used by one thread at a time.
class IndexChain {
 public:
  static constexpr int64_t kEndless = INT64_MAX;

  // Where an element comes from: its position in the input, in which epoch of the input. A repetition is an epoch of
  // what it repeats, so that each has its own shuffle.
  struct Place {
    int64_t index = 0;
    int64_t epoch = 0;
  };

  explicit IndexChain(int64_t input_size) : size_(input_size) {}

  // kEndless after Repeat(-1).
  int64_t size() const { return size_; }

  // Each appends a step to the chain.
  // Each epoch in an order of its own, or, without `reshuffle`, all in that of epoch 0. InvalidArgument: an endless
  // sequence has no permutation.
  absl::Status Shuffle(uint64_t seed, bool reshuffle = true);
  void Take(int64_t count);
  void Skip(int64_t count);
  void Shard(int64_t num_shards, int64_t index);  // elements index, index + num_shards, ...
  void Repeat(int64_t count);                     // count < 0: without end

  // 0 <= position < size().
  Place At(int64_t epoch, int64_t position);

 private:
  enum class Kind { kShuffle, kSkip, kShard, kRepeat };
  struct Step {
    Kind kind;
    int64_t input_size = 0;
    int64_t first = 0;                      // kSkip, kShard
    int64_t stride = 1;                     // kShard
    int64_t count = 0;                      // kRepeat
    uint64_t seed = 0;                      // kShuffle
    bool reshuffle = true;                  // kShuffle
    int64_t order_epoch = -1;               // of `order`
    std::optional<Permutation> order = {};  // of the epoch last asked for
  };

  int64_t size_;
  std::vector<Step> steps_;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_DATASET_INDEX_CHAIN_H_
