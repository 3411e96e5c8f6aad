#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/dataset/iterator.h"

namespace cohort {

absl::StatusOr<bool> DatasetIterator::Next(Element& element) {
  if (!valid_) COHORT_RETURN_IF_ERROR(Seek(position_));
  absl::StatusOr<bool> more = DoNext(element);
  if (!more.ok()) {
    valid_ = false;
  } else if (*more) {
    ++position_.element;
  }
  return more;
}

absl::Status DatasetIterator::Seek(const DatasetPosition& position) {
  if (position.epoch < 0 || position.element < 0) {
    return absl::InvalidArgumentError(absl::StrCat("a data set's epochs and elements count from 0, not from ",
                                                   position.epoch, " and ", position.element));
  }
  if (valid_ && position == position_) return absl::OkStatus();
  const absl::Status status = DoSeek(position);
  position_ = position;
  valid_ = status.ok();
  return status;
}

bool DatasetIterator::IsAhead(const DatasetPosition& to) const {
  return valid_ && to.epoch == position_.epoch && to.element >= position_.element;
}

absl::Status DatasetIterator::SeekByNext(const DatasetPosition& to,
                                         absl::FunctionRef<absl::Status(int64_t epoch)> restart) {
  if (!IsAhead(to)) {
    COHORT_RETURN_IF_ERROR(restart(to.epoch));
    position_ = {to.epoch, 0};
    valid_ = true;
  }
  Element scratch;
  while (position_.element < to.element) {
    COHORT_ASSIGN_OR_RETURN(const bool more, Next(scratch));
    if (!more) break;
  }
  return absl::OkStatus();
}

}  // namespace cohort
