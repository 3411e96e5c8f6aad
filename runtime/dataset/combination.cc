#include "runtime/dataset/combination.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace cohort {
namespace {

class Zip final : public DatasetIterator {
 public:
  explicit Zip(DatasetIterators inputs) : inputs_(std::move(inputs)), parts_(inputs_.size()) {
    for (const auto& input : inputs_) {
      spec_.insert(spec_.end(), input->element_spec().begin(), input->element_spec().end());
    }
  }

  const std::vector<TensorSpec>& element_spec() const override { return spec_; }
  int64_t cardinality() const override {
    int64_t shortest = kEndlessCardinality;
    for (const auto& input : inputs_) {
      const int64_t size = input->cardinality();
      if (size == 0) return 0;
      if (size == kUnknownCardinality || shortest == kUnknownCardinality) {
        shortest = kUnknownCardinality;
      } else if (size != kEndlessCardinality) {
        shortest = shortest == kEndlessCardinality ? size : std::min(shortest, size);
      }
    }
    return shortest;
  }

 protected:
  absl::StatusOr<bool> DoNext(Element& element) override {
    element.resize(spec_.size());
    size_t first = 0;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const size_t size = inputs_[i]->element_spec().size();
      Element& part = parts_[i];
      part.assign(std::make_move_iterator(element.begin() + first),
                  std::make_move_iterator(element.begin() + first + size));
      COHORT_ASSIGN_OR_RETURN(const bool more, inputs_[i]->Next(part));
      if (!more) return false;
      std::move(part.begin(), part.end(), element.begin() + first);
      first += size;
    }
    return true;
  }

  absl::Status DoSeek(const DatasetPosition& to) override {
    for (const auto& input : inputs_) COHORT_RETURN_IF_ERROR(input->Seek(to));
    return absl::OkStatus();
  }

 private:
  const DatasetIterators inputs_;
  std::vector<Element> parts_;
  std::vector<TensorSpec> spec_;
};

// What is known of an element of any of the inputs.
absl::StatusOr<std::vector<TensorSpec>> CommonSpec(const DatasetIterators& inputs) {
  std::vector<TensorSpec> common = inputs[0]->element_spec();
  for (size_t i = 1; i < inputs.size(); ++i) {
    const std::vector<TensorSpec>& other = inputs[i]->element_spec();
    bool fits = other.size() == common.size();
    for (size_t c = 0; fits && c < common.size(); ++c) {
      Shape& shape = common[c].shape;
      fits = other[c].dtype == common[c].dtype && other[c].shape.rank() == shape.rank();
      for (int d = 0; fits && d < shape.rank(); ++d) {
        if (other[c].shape.dim(d) != shape.dim(d)) shape.set_dim(d, Shape::kUnknown);
      }
      if (!fits) {
        return absl::InvalidArgumentError(absl::StrCat("component ", c, " of input ", i, " is ", other[c].ToString(),
                                                       ", of input 0 ", inputs[0]->element_spec()[c].ToString()));
      }
    }
    if (!fits) {
      return absl::InvalidArgumentError(
          absl::StrCat("input ", i, " has elements of ", other.size(), " components, input 0 of ", common.size()));
    }
  }
  return common;
}

// Of the elements of all inputs together.
int64_t TotalCardinality(const DatasetIterators& inputs) {
  int64_t total = 0;
  for (const auto& input : inputs) {
    const int64_t size = input->cardinality();
    if (size == kEndlessCardinality) return size;
    total = size == kUnknownCardinality || total == kUnknownCardinality ? kUnknownCardinality : total + size;
  }
  return total;
}

class Concatenate final : public DatasetIterator {
 public:
  Concatenate(DatasetIterators inputs, std::vector<TensorSpec> spec)
      : inputs_(std::move(inputs)), spec_(std::move(spec)) {}

  const std::vector<TensorSpec>& element_spec() const override { return spec_; }
  int64_t cardinality() const override { return TotalCardinality(inputs_); }

 protected:
  absl::StatusOr<bool> DoNext(Element& element) override {
    while (current_ < inputs_.size()) {
      COHORT_ASSIGN_OR_RETURN(const bool more, inputs_[current_]->Next(element));
      if (more) return true;
      if (++current_ < inputs_.size()) COHORT_RETURN_IF_ERROR(inputs_[current_]->Reset(position().epoch));
    }
    return false;
  }

  absl::Status DoSeek(const DatasetPosition& to) override {
    if (to.element == 0) {  // without counting
      current_ = 0;
      return inputs_[0]->Seek(to);
    }
    int64_t element = to.element;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const int64_t size = inputs_[i]->cardinality();
      if (size == kUnknownCardinality) {
        return SeekByNext(to, [this](int64_t epoch) {
          current_ = 0;
          return inputs_[0]->Reset(epoch);
        });
      }
      if (size == kEndlessCardinality || element < size) {
        current_ = i;
        return inputs_[i]->Seek({to.epoch, element});
      }
      element -= size;
    }
    current_ = inputs_.size();
    return absl::OkStatus();
  }

 private:
  const DatasetIterators inputs_;
  const std::vector<TensorSpec> spec_;
  size_t current_ = 0;
};

class Interleave final : public DatasetIterator {
 public:
  Interleave(DatasetIterators inputs, std::vector<TensorSpec> spec, int64_t cycle_length, int64_t block_length)
      : inputs_(std::move(inputs)),
        spec_(std::move(spec)),
        cycle_(std::min<int64_t>(cycle_length, inputs_.size()), nullptr),
        block_length_(block_length) {}

  const std::vector<TensorSpec>& element_spec() const override { return spec_; }
  int64_t cardinality() const override { return TotalCardinality(inputs_); }

 protected:
  absl::StatusOr<bool> DoNext(Element& element) override {
    while (open_ > 0 || next_input_ < inputs_.size()) {
      DatasetIterator*& input = cycle_[turn_];
      if (input == nullptr && next_input_ < inputs_.size()) {
        input = inputs_[next_input_++].get();
        ++open_;
        COHORT_RETURN_IF_ERROR(input->Reset(position().epoch));
      }
      if (input != nullptr) {
        COHORT_ASSIGN_OR_RETURN(const bool more, input->Next(element));
        if (more) {
          if (++in_block_ == block_length_) Advance();
          return true;
        }
        input = nullptr;
        --open_;
      }
      Advance();
    }
    return false;
  }

  absl::Status DoSeek(const DatasetPosition& to) override {
    return SeekByNext(to, [this](int64_t) {
      std::fill(cycle_.begin(), cycle_.end(), nullptr);
      next_input_ = turn_ = 0;
      open_ = in_block_ = 0;
      return absl::OkStatus();
    });
  }

 private:
  void Advance() {
    turn_ = (turn_ + 1) % cycle_.size();
    in_block_ = 0;
  }

  const DatasetIterators inputs_;
  const std::vector<TensorSpec> spec_;
  std::vector<DatasetIterator*> cycle_;  // of inputs_; null: a free place
  const int64_t block_length_;
  size_t next_input_ = 0;
  int64_t open_ = 0;
  size_t turn_ = 0;
  int64_t in_block_ = 0;
};

}  // namespace

std::unique_ptr<DatasetIterator> MakeZip(DatasetIterators inputs) { return std::make_unique<Zip>(std::move(inputs)); }

absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeConcatenate(DatasetIterators inputs) {
  COHORT_ASSIGN_OR_RETURN(std::vector<TensorSpec> spec, CommonSpec(inputs));
  return std::make_unique<Concatenate>(std::move(inputs), std::move(spec));
}

absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeInterleave(DatasetIterators inputs, int64_t cycle_length,
                                                                int64_t block_length) {
  COHORT_ASSIGN_OR_RETURN(std::vector<TensorSpec> spec, CommonSpec(inputs));
  return std::make_unique<Interleave>(std::move(inputs), std::move(spec), cycle_length, block_length);
}

}  // namespace cohort
