#include "runtime/dataset/selection.h"

#include <algorithm>
#include <utility>

#include "runtime/base/status_macros.h"
#include "runtime/dataset/element_memory.h"

namespace cohort {
namespace {

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

int64_t SaturatingMultiply(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

// An iterator over elements like those of its only input.
class Selection : public DatasetIterator {
 public:
  explicit Selection(std::unique_ptr<DatasetIterator> input) : input_(std::move(input)) {}
  const std::vector<TensorSpec>& element_spec() const override { return input_->element_spec(); }

 protected:
  const std::unique_ptr<DatasetIterator> input_;
};

class Take final : public Selection {
 public:
  Take(std::unique_ptr<DatasetIterator> input, int64_t count) : Selection(std::move(input)), count_(count) {}

  int64_t cardinality() const override {
    const int64_t size = count_ == 0 ? 0 : input_->cardinality();
    if (size == kEndlessCardinality) return count_;
    return size == kUnknownCardinality ? size : std::min(size, count_);
  }

 protected:
  absl::StatusOr<bool> DoNext(Element& element) override {
    if (position().element >= count_) return false;
    return input_->Next(element);
  }
  absl::Status DoSeek(const DatasetPosition& to) override {
    return input_->Seek({to.epoch, std::min(to.element, count_)});
  }

 private:
  const int64_t count_;
};

class Skip final : public Selection {
 public:
  Skip(std::unique_ptr<DatasetIterator> input, int64_t count) : Selection(std::move(input)), count_(count) {}

  int64_t cardinality() const override {
    const int64_t size = input_->cardinality();
    return size < 0 ? size : std::max<int64_t>(size - count_, 0);
  }

 protected:
  absl::StatusOr<bool> DoNext(Element& element) override { return input_->Next(element); }
  absl::Status DoSeek(const DatasetPosition& to) override {
    return input_->Seek({to.epoch, SaturatingAdd(to.element, count_)});
  }

 private:
  const int64_t count_;
};

class Shard final : public Selection {
 public:
  Shard(std::unique_ptr<DatasetIterator> input, int64_t num_shards, int64_t index)
      : Selection(std::move(input)), num_shards_(num_shards), index_(index) {}

  int64_t cardinality() const override {
    const int64_t size = input_->cardinality();
    return size < 0 ? size : size / num_shards_ + (index_ < size % num_shards_ ? 1 : 0);
  }

 protected:
  absl::StatusOr<bool> DoNext(Element& element) override {
    COHORT_RETURN_IF_ERROR(input_->Seek(InInput(position())));
    return input_->Next(element);
  }
  absl::Status DoSeek(const DatasetPosition& to) override { return input_->Seek(InInput(to)); }

 private:
  DatasetPosition InInput(const DatasetPosition& position) const {
    return {position.epoch, SaturatingAdd(SaturatingMultiply(position.element, num_shards_), index_)};
  }

  const int64_t num_shards_;
  const int64_t index_;
};

class Repeat final : public Selection {
 public:
  Repeat(std::unique_ptr<DatasetIterator> input, int64_t count) : Selection(std::move(input)), count_(count) {}

  int64_t cardinality() const override {
    const int64_t size = count_ == 0 ? 0 : input_->cardinality();
    if (size <= 0) return size;
    if (count_ < 0) return kEndlessCardinality;
    const int64_t all = SaturatingMultiply(size, count_);
    return all == INT64_MAX ? kEndlessCardinality : all;
  }

 protected:
  absl::StatusOr<bool> DoNext(Element& element) override {
    while (count_ < 0 || repetition_ < count_) {
      COHORT_ASSIGN_OR_RETURN(const bool more, input_->Next(element));
      if (more) return true;
      if (input_->position().element == 0) return false;  // nothing, however often
      ++repetition_;
      if (repetition_ != count_) COHORT_RETURN_IF_ERROR(input_->Reset(first_epoch_ + repetition_));
    }
    return false;
  }

  absl::Status DoSeek(const DatasetPosition& to) override {
    if (to.element == 0) return Start(to.epoch, 0, 0);  // without counting
    const int64_t size = input_->cardinality();
    if (size == kUnknownCardinality) {
      return SeekByNext(to, [this](int64_t epoch) { return Start(epoch, 0, 0); });
    }
    if (size <= 0) return Start(to.epoch, 0, to.element);
    return Start(to.epoch, to.element / size, to.element % size);
  }

 private:
  absl::Status Start(int64_t epoch, int64_t repetition, int64_t element) {
    first_epoch_ = epoch * std::max<int64_t>(count_, 1);
    repetition_ = count_ < 0 ? repetition : std::min(repetition, count_);
    return repetition_ == count_ ? absl::OkStatus() : input_->Seek({first_epoch_ + repetition_, element});
  }

  const int64_t count_;
  int64_t first_epoch_ = 0;  // of the input
  int64_t repetition_ = 0;
};

class Enumerate final : public DatasetIterator {
 public:
  Enumerate(std::unique_ptr<DatasetIterator> input, int64_t start) : input_(std::move(input)), start_(start) {
    spec_ = {{DType::kI64, Shape{}}};
    spec_.insert(spec_.end(), input_->element_spec().begin(), input_->element_spec().end());
  }

  const std::vector<TensorSpec>& element_spec() const override { return spec_; }
  int64_t cardinality() const override { return input_->cardinality(); }

 protected:
  absl::StatusOr<bool> DoNext(Element& element) override {
    element.resize(spec_.size());
    Tensor number = std::move(element[0]);
    element.erase(element.begin());
    COHORT_ASSIGN_OR_RETURN(const bool more, input_->Next(element));
    if (!more) return false;
    FitTensor(number, spec_[0]);
    number.mutable_values<int64_t>()[0] = start_ + position().element;
    element.insert(element.begin(), std::move(number));
    return true;
  }
  absl::Status DoSeek(const DatasetPosition& to) override { return input_->Seek(to); }

 private:
  const std::unique_ptr<DatasetIterator> input_;
  const int64_t start_;
  std::vector<TensorSpec> spec_;
};

class Cache final : public Selection {
 public:
  using Selection::Selection;

  int64_t cardinality() const override {
    return complete_ ? static_cast<int64_t>(elements_.size()) : input_->cardinality();
  }

 protected:
  absl::StatusOr<bool> DoNext(Element& element) override {
    COHORT_RETURN_IF_ERROR(FillTo(position().element));
    if (position().element >= static_cast<int64_t>(elements_.size())) return false;
    element = elements_[position().element];  // shares the memory
    return true;
  }
  absl::Status DoSeek(const DatasetPosition&) override { return absl::OkStatus(); }

 private:
  absl::Status FillTo(int64_t index) {
    while (!complete_ && index >= static_cast<int64_t>(elements_.size())) {
      Element element;
      COHORT_RETURN_IF_ERROR(input_->Seek({0, static_cast<int64_t>(elements_.size())}));
      COHORT_ASSIGN_OR_RETURN(const bool more, input_->Next(element));
      if (more) {
        elements_.push_back(std::move(element));
      } else {
        complete_ = true;
      }
    }
    return absl::OkStatus();
  }

  std::vector<Element> elements_;
  bool complete_ = false;
};

}  // namespace

std::unique_ptr<DatasetIterator> MakeTake(std::unique_ptr<DatasetIterator> input, int64_t count) {
  return std::make_unique<Take>(std::move(input), count);
}

std::unique_ptr<DatasetIterator> MakeSkip(std::unique_ptr<DatasetIterator> input, int64_t count) {
  return std::make_unique<Skip>(std::move(input), count);
}

std::unique_ptr<DatasetIterator> MakeShard(std::unique_ptr<DatasetIterator> input, int64_t num_shards, int64_t index) {
  return std::make_unique<Shard>(std::move(input), num_shards, index);
}

std::unique_ptr<DatasetIterator> MakeRepeat(std::unique_ptr<DatasetIterator> input, int64_t count) {
  return std::make_unique<Repeat>(std::move(input), count);
}

std::unique_ptr<DatasetIterator> MakeEnumerate(std::unique_ptr<DatasetIterator> input, int64_t start) {
  return std::make_unique<Enumerate>(std::move(input), start);
}

std::unique_ptr<DatasetIterator> MakeCache(std::unique_ptr<DatasetIterator> input) {
  return std::make_unique<Cache>(std::move(input));
}

}  // namespace cohort
