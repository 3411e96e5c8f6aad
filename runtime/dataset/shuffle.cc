#include "runtime/dataset/shuffle.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/base/hash.h"
#include "runtime/base/status_macros.h"
#include "runtime/dataset/permutation.h"

namespace cohort {
namespace {

class WholeShuffle final : public DatasetIterator {
 public:
  WholeShuffle(std::unique_ptr<DatasetIterator> input, const ShuffleOptions& options)
      : input_(std::move(input)), options_(options) {}

  const std::vector<TensorSpec>& element_spec() const override { return input_->element_spec(); }
  int64_t cardinality() const override { return input_->cardinality(); }

 protected:
  absl::StatusOr<bool> DoNext(Element& element) override {
    if (loaded_epoch_ != position().epoch) COHORT_RETURN_IF_ERROR(Load(position().epoch));
    if (position().element >= static_cast<int64_t>(elements_.size())) return false;
    element = elements_[(*order_)(position().element)];  // shares the memory
    return true;
  }
  absl::Status DoSeek(const DatasetPosition&) override { return absl::OkStatus(); }

 private:
  absl::Status Load(int64_t epoch) {
    if (input_->cardinality() == kEndlessCardinality) {
      return absl::FailedPreconditionError("an endless data set cannot be shuffled as a whole: give a buffer_size");
    }
    loaded_epoch_ = -1;
    elements_.clear();
    COHORT_RETURN_IF_ERROR(input_->Reset(epoch));
    while (true) {
      Element element;
      COHORT_ASSIGN_OR_RETURN(const bool more, input_->Next(element));
      if (!more) break;
      elements_.push_back(std::move(element));
    }
    order_.emplace(elements_.size(), EpochKey(options_.seed, options_.reshuffle ? epoch : 0));
    loaded_epoch_ = epoch;
    return absl::OkStatus();
  }

  const std::unique_ptr<DatasetIterator> input_;
  const ShuffleOptions options_;
  int64_t loaded_epoch_ = -1;
  std::vector<Element> elements_;
  std::optional<Permutation> order_;
};

class BufferedShuffle final : public DatasetIterator {
 public:
  BufferedShuffle(std::unique_ptr<DatasetIterator> input, const ShuffleOptions& options)
      : input_(std::move(input)), options_(options) {}

  const std::vector<TensorSpec>& element_spec() const override { return input_->element_spec(); }
  int64_t cardinality() const override { return input_->cardinality(); }

 protected:
  absl::StatusOr<bool> DoNext(Element& element) override {
    while (!input_ended_ && static_cast<int64_t>(buffer_.size()) < options_.buffer_size) {
      Element next;
      COHORT_ASSIGN_OR_RETURN(const bool more, input_->Next(next));
      input_ended_ = !more;
      if (more) buffer_.push_back(std::move(next));
    }
    if (buffer_.empty()) return false;
    const size_t place = PlaceOf(position(), buffer_.size());
    element.swap(buffer_[place]);
    if (!input_ended_) {
      COHORT_ASSIGN_OR_RETURN(const bool more, input_->Next(buffer_[place]));
      input_ended_ = !more;
    }
    if (input_ended_) {
      buffer_[place].swap(buffer_.back());
      buffer_.pop_back();
    }
    return true;
  }

  absl::Status DoSeek(const DatasetPosition& to) override {
    if (to.element == 0) return Restart(to);  // without counting
    const int64_t size = input_->cardinality();
    if (size == kUnknownCardinality) {
      return SeekByNext(to, [this](int64_t epoch) { return Restart({epoch, 0}); });
    }
    const std::vector<int64_t> held = Held(to, size == kEndlessCardinality ? INT64_MAX : size);
    if (held.empty()) return Restart({to.epoch, size > 0 ? size : 0});
    return Refill(to.epoch, held);
  }

 private:
  size_t PlaceOf(const DatasetPosition& position, size_t places) const {
    const uint64_t key = EpochKey(options_.seed, options_.reshuffle ? position.epoch : 0);
    const uint64_t hash = SplitMix64(key + static_cast<uint64_t>(position.element) * 0x9e3779b97f4a7c15ull);
    return static_cast<size_t>((static_cast<unsigned __int128>(hash) * places) >> 64);
  }

  absl::Status Restart(const DatasetPosition& in_input) {
    buffer_.clear();
    input_ended_ = false;
    return input_->Seek(in_input);
  }

  // Which elements of the input the buffer holds before output `to.element`, by place.
  std::vector<int64_t> Held(const DatasetPosition& to, int64_t size) const {
    std::vector<int64_t> held;
    if (to.element >= size) return held;
    for (int64_t i = 0; i < std::min(size, options_.buffer_size); ++i) held.push_back(i);
    int64_t next = static_cast<int64_t>(held.size());
    for (DatasetPosition at{to.epoch, 0}; at.element < to.element; ++at.element) {
      int64_t& place = held[PlaceOf(at, held.size())];
      if (next < size) {
        place = next++;
      } else {
        place = held.back();
        held.pop_back();
      }
    }
    return held;
  }

  // Reads the elements `held` into the buffer and leaves the input behind the last that was ever in it.
  absl::Status Refill(int64_t epoch, const std::vector<int64_t>& held) {
    std::map<int64_t, size_t> places;
    for (size_t place = 0; place < held.size(); ++place) places[held[place]] = place;
    COHORT_RETURN_IF_ERROR(Restart({epoch, places.begin()->first}));
    buffer_.resize(held.size());
    for (const auto& [index, place] : places) {
      COHORT_RETURN_IF_ERROR(input_->Seek({epoch, index}));
      COHORT_ASSIGN_OR_RETURN(const bool more, input_->Next(buffer_[place]));
      if (!more) return absl::DataLossError("the data set has become shorter");
    }
    // A full buffer has just been filled up, so its newest element is the last one read.
    input_ended_ = static_cast<int64_t>(held.size()) < options_.buffer_size;
    return absl::OkStatus();
  }

  const std::unique_ptr<DatasetIterator> input_;
  const ShuffleOptions options_;
  std::vector<Element> buffer_;
  bool input_ended_ = false;
};

}  // namespace

std::unique_ptr<DatasetIterator> MakeShuffle(std::unique_ptr<DatasetIterator> input, const ShuffleOptions& options) {
  if (options.buffer_size == 0) return std::make_unique<WholeShuffle>(std::move(input), options);
  return std::make_unique<BufferedShuffle>(std::move(input), options);
}

}  // namespace cohort
