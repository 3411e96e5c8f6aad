#ifndef COHORT_WORKER_FEED_H_
#define COHORT_WORKER_FEED_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "runtime/dataset/iterator.h"
#include "runtime/graph/dataset_def.h"

namespace cohort {

// The batches of one data set, one ahead: whoever takes batch k knows whether there is a batch k + 1, as the step
// header must say. Batches land in two fixed slots in turn. Used by one thread.
class Feed {
 public:
  static absl::StatusOr<std::unique_ptr<Feed>> Create(const DatasetDef& definition);

  // Stands before the first batch of `epoch`; where it stood, if it is in the middle of that epoch already.
  absl::Status StartEpoch(int64_t epoch);
  // Likewise, from the start of the epoch in any case.
  absl::Status RestartEpoch(int64_t epoch);

  bool has_next() const { return has_next_; }
  // The next batch; after the end of the data an empty one, so that this replica can still take part in a step of
  // replicas that have more. Valid until the next call. After an error there is no next batch.
  absl::StatusOr<const Element*> Take();

  int64_t epoch() const { return epoch_; }
  int64_t batches_per_epoch() const { return iterator_->cardinality(); }

 private:
  explicit Feed(std::unique_ptr<DatasetIterator> iterator);

  std::unique_ptr<DatasetIterator> iterator_;
  Element slots_[2];
  Element empty_;  // no examples, the specs' other dimensions, 0 where they are unknown
  int next_slot_ = 0;
  bool has_next_ = false;
  int64_t epoch_ = -1;
};

}  // namespace cohort

#endif  // COHORT_WORKER_FEED_H_
