#include "runtime/dataset/index_chain.h"

#include <algorithm>

namespace cohort {

absl::Status IndexChain::Shuffle(uint64_t seed, bool reshuffle) {
  if (size_ == kEndless)
    return absl::InvalidArgumentError("an endless data set cannot be shuffled: shuffle, then repeat");
  steps_.push_back({.kind = Kind::kShuffle, .input_size = size_, .seed = seed, .reshuffle = reshuffle});
  return absl::OkStatus();
}

void IndexChain::Take(int64_t count) { size_ = std::min(size_, count); }

void IndexChain::Skip(int64_t count) {
  steps_.push_back({.kind = Kind::kSkip, .input_size = size_, .first = count});
  if (size_ != kEndless) size_ -= std::min(size_, count);
}

void IndexChain::Shard(int64_t num_shards, int64_t index) {
  steps_.push_back({.kind = Kind::kShard, .input_size = size_, .first = index, .stride = num_shards});
  if (size_ != kEndless) size_ = size_ / num_shards + (index < size_ % num_shards ? 1 : 0);
}

void IndexChain::Repeat(int64_t count) {
  steps_.push_back({.kind = Kind::kRepeat, .input_size = size_, .count = count});
  if (size_ == 0 || count == 0) {
    size_ = 0;
  } else if (count < 0 || size_ > kEndless / count) {
    size_ = kEndless;
  } else {
    size_ *= count;
  }
}

IndexChain::Place IndexChain::At(int64_t epoch, int64_t position) {
  Place place{position, epoch};
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    switch (step->kind) {
      case Kind::kSkip:
      case Kind::kShard:
        place.index = step->first + place.index * step->stride;
        break;
      case Kind::kRepeat:
        if (step->input_size == kEndless) break;
        // Without end every epoch of the result starts one repetition later than the one before.
        place.epoch = place.epoch * std::max<int64_t>(step->count, 1) + place.index / step->input_size;
        place.index %= step->input_size;
        break;
      case Kind::kShuffle: {
        const int64_t order = step->reshuffle ? place.epoch : 0;
        if (step->order_epoch != order || !step->order) {
          step->order.emplace(step->input_size, EpochKey(step->seed, order));
          step->order_epoch = order;
        }
        place.index = (*step->order)(place.index);
        break;
      }
    }
  }
  return place;
}

}  // namespace cohort
