#ifndef COHORT_RUNTIME_DATASET_BATCHING_H_
#define COHORT_RUNTIME_DATASET_BATCHING_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/dataset/iterator.h"

namespace cohort {

// How a stream of examples becomes batches.
struct StreamBatching {
  int64_t batch_size = 1;
  bool drop_remainder = false;
  int64_t num_workers = 1;  // of each batch this worker's part (runtime/distribute/batch_split.h)
  int64_t worker = 0;
  bool pad = false;            // fill examples of several shapes up to the largest of their batch
  double padding_value = 0.0;  // of numbers; strings are filled with ""
};

// InvalidArgument, from Next: examples of several shapes in one batch that may not be padded; names both. From here:
// examples of too many dimensions.
absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeBatch(std::unique_ptr<DatasetIterator> input,
                                                           const StreamBatching& batching);

// The rows of the input's elements, one at a time. InvalidArgument: a component that is a scalar; from Next: components
// with different numbers of rows.
absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeUnbatch(std::unique_ptr<DatasetIterator> input);

// The rows of the input's batches, cut anew by `sizes` in turn (rule 7.6; no empty batch where a round would begin
// after the last row). Errors as of MakeUnbatch.
absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeRebatch(std::unique_ptr<DatasetIterator> input,
                                                             std::vector<int64_t> sizes);

// Each batch cut into `pieces` parts of ceil(n / pieces) rows, the last ones shorter or empty (rule 7.7).
absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeSplitBatch(std::unique_ptr<DatasetIterator> input, int64_t pieces);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DATASET_BATCHING_H_
