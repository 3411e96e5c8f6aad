#include "worker/feed.h"

#include <utility>

#include "runtime/base/status_macros.h"

namespace cohort {

absl::StatusOr<std::unique_ptr<Feed>> Feed::Create(const DatasetDef& definition) {
  COHORT_ASSIGN_OR_RETURN(std::unique_ptr<DatasetIterator> iterator, MakeIterator(definition));
  return std::unique_ptr<Feed>(new Feed(std::move(iterator)));
}

Feed::Feed(std::unique_ptr<DatasetIterator> iterator) : iterator_(std::move(iterator)) {
  for (const TensorSpec& spec : iterator_->element_spec()) {
    Shape shape = spec.shape;
    for (int i = 0; i < shape.rank(); ++i) {
      if (i == 0 || shape.dim(i) == Shape::kUnknown) shape.set_dim(i, 0);
    }
    empty_.push_back(Tensor::Zeros(spec.dtype, shape));
  }
}

absl::Status Feed::StartEpoch(int64_t epoch) {
  if (epoch == epoch_ && has_next_) return absl::OkStatus();
  return RestartEpoch(epoch);
}

absl::Status Feed::RestartEpoch(int64_t epoch) {
  has_next_ = false;  // until there is one: after an error nothing stands here
  epoch_ = epoch;
  COHORT_RETURN_IF_ERROR(iterator_->Reset(epoch));
  COHORT_ASSIGN_OR_RETURN(has_next_, iterator_->Next(slots_[next_slot_]));
  return absl::OkStatus();
}

absl::StatusOr<const Element*> Feed::Take() {
  if (!has_next_) return &empty_;
  const Element* const current = &slots_[next_slot_];
  next_slot_ = 1 - next_slot_;
  has_next_ = false;
  COHORT_ASSIGN_OR_RETURN(has_next_, iterator_->Next(slots_[next_slot_]));
  return current;
}

}  // namespace cohort
