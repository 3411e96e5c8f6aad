#ifndef COHORT_RUNTIME_DATASET_SELECTION_H_
#define COHORT_RUNTIME_DATASET_SELECTION_H_

#include <cstdint>
#include <memory>

#include "runtime/dataset/iterator.h"

namespace cohort {

// Streams of some of the elements of `input`, as runtime/graph/dataset_def.h says.
std::unique_ptr<DatasetIterator> MakeTake(std::unique_ptr<DatasetIterator> input, int64_t count);
std::unique_ptr<DatasetIterator> MakeSkip(std::unique_ptr<DatasetIterator> input, int64_t count);
// What lies between is skipped as the input can: files do not read it.
std::unique_ptr<DatasetIterator> MakeShard(std::unique_ptr<DatasetIterator> input, int64_t num_shards, int64_t index);
// count < 0: without end. Repetition r of epoch e is the input's epoch e * count + r (without end: e + r).
std::unique_ptr<DatasetIterator> MakeRepeat(std::unique_ptr<DatasetIterator> input, int64_t count);
// Puts the number of the element, from `start`, before its components: int64 [].
std::unique_ptr<DatasetIterator> MakeEnumerate(std::unique_ptr<DatasetIterator> input, int64_t start);
// Keeps the elements of the input's epoch 0 in memory, as they are first read, and gives them in every epoch.
std::unique_ptr<DatasetIterator> MakeCache(std::unique_ptr<DatasetIterator> input);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DATASET_SELECTION_H_
