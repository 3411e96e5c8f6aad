#ifndef COHORT_RUNTIME_DATASET_SHUFFLE_H_
#define COHORT_RUNTIME_DATASET_SHUFFLE_H_

#include <cstdint>
#include <memory>

#include "runtime/dataset/iterator.h"

namespace cohort {

// Shuffles a stream. Without `reshuffle` every epoch has the order of epoch 0 (of its own elements). The order depends
// on (seed, epoch) alone, so that a position is all there is to restore.
struct ShuffleOptions {
  int64_t buffer_size = 0;  // elements in memory; 0: all of the epoch
  uint64_t seed = 0;
  bool reshuffle = true;
};

// With a buffer: element k comes from a random place of the buffer, which the input's next element then takes. A seek
// finds out by arithmetic which of the input's elements lie in the buffer at the position, and reads from the first of
// them on. Without: the whole epoch is read, then given in the order of Permutation(size, EpochKey(seed, epoch)), the
// same as a Shuffle of a source that can be read in any order. FailedPrecondition, from Next: an endless input.
std::unique_ptr<DatasetIterator> MakeShuffle(std::unique_ptr<DatasetIterator> input, const ShuffleOptions& options);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DATASET_SHUFFLE_H_
