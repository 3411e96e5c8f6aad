#ifndef COHORT_RUNTIME_DATASET_PREFETCH_H_
#define COHORT_RUNTIME_DATASET_PREFETCH_H_

#include <cstdint>
#include <memory>

#include "runtime/dataset/iterator.h"

namespace cohort {

// Makes up to `buffer_size` >= 1 elements of `input` ahead, on a thread of its own. Next exchanges the caller's element
// for a finished one, whose memory is filled again later: buffer_size + the caller's elements go round, nothing is
// copied. The thread starts with the first Next and ends with the iterator. An error of `input` is returned in its
// place, after the elements before it. DeadlineExceeded: `input` took longer than five minutes for one element.
std::unique_ptr<DatasetIterator> MakePrefetch(std::unique_ptr<DatasetIterator> input, int64_t buffer_size);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DATASET_PREFETCH_H_
