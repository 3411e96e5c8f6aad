#ifndef COHORT_RUNTIME_DATASET_COMBINATION_H_
#define COHORT_RUNTIME_DATASET_COMBINATION_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/dataset/iterator.h"

namespace cohort {

using DatasetIterators = std::vector<std::unique_ptr<DatasetIterator>>;

// The components of one element of each input, in the order of the inputs; as long as the shortest.
std::unique_ptr<DatasetIterator> MakeZip(DatasetIterators inputs);

// One input after the other. InvalidArgument: elements of other dtypes or ranks; a dimension in which they differ is
// unknown.
absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeConcatenate(DatasetIterators inputs);

// Up to `block_length` elements of each of `cycle_length` inputs in turn; an input that ends gives its place to the
// next one that is not yet open. Elements as of MakeConcatenate.
absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeInterleave(DatasetIterators inputs, int64_t cycle_length,
                                                                int64_t block_length);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DATASET_COMBINATION_H_
