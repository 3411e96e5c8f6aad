#include "runtime/dataset/batching.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/dataset/element_memory.h"
#include "runtime/distribute/batch_split.h"
#include "runtime/distribute/rebatch.h"
#include "runtime/tensor/element_type.h"

namespace cohort {
namespace {

int64_t SaturatingMultiply(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

void FillAll(Tensor& tensor, double value) {
  if (tensor.dtype() == DType::kString) return;  // "" already
  DispatchElementType(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto values = tensor.mutable_values<T>();
    if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
      std::fill(values.begin(), values.end(), T(static_cast<float>(value)));
    } else {
      std::fill(values.begin(), values.end(), static_cast<T>(value));
    }
  });
}

// Copies `from` into the corner of row `row` of `batch`.
void CopyBlock(const Tensor& from, Tensor& batch, int64_t row) {
  const Shape& small = from.shape();
  const Shape large = RowSpec(batch.spec()).shape;
  if (small == large) return CopyRows(from, 0, batch, row, 1);
  if (from.num_elements() == 0) return;
  const int rank = small.rank();
  const int64_t run = small.dim(rank - 1);
  int64_t index[Shape::kMaxRank] = {};
  for (int64_t line = 0; line < from.num_elements() / run; ++line) {
    int64_t to = row;
    for (int d = 0; d < rank; ++d) to = to * large.dim(d) + (d + 1 < rank ? index[d] : 0);
    if (from.dtype() == DType::kString) {
      std::copy_n(from.strings().begin() + line * run, run, batch.mutable_strings().begin() + to);
    } else {
      const size_t bytes = DTypeSize(from.dtype());
      std::memcpy(static_cast<char*>(batch.mutable_data()) + to * bytes,
                  static_cast<const char*>(from.data()) + line * run * bytes, run * bytes);
    }
    for (int d = rank - 2; d >= 0; --d) {
      if (++index[d] < small.dim(d)) break;
      index[d] = 0;
    }
  }
}

class Batch final : public DatasetIterator {
 public:
  Batch(std::unique_ptr<DatasetIterator> input, const StreamBatching& batching)
      : input_(std::move(input)), batching_(batching) {
    for (const TensorSpec& example : input_->element_spec()) spec_.push_back(BatchSpec(example, Shape::kUnknown));
  }

  const std::vector<TensorSpec>& element_spec() const override { return spec_; }
  int64_t cardinality() const override {
    const int64_t examples = input_->cardinality();
    if (examples < 0) return examples;
    return batching_.drop_remainder ? examples / batching_.batch_size : BatchesPerEpoch(examples, batching_.batch_size);
  }

 protected:
  absl::StatusOr<bool> DoNext(Element& element) override {
    int64_t rows = 0;
    for (; rows < batching_.batch_size; ++rows) {
      if (rows == static_cast<int64_t>(rows_.size())) rows_.emplace_back();
      COHORT_ASSIGN_OR_RETURN(const bool more, input_->Next(rows_[rows]));
      if (!more) break;
    }
    if (rows == 0 || (batching_.drop_remainder && rows < batching_.batch_size)) return false;
    const ExampleRange part = WorkerPart(rows, batching_.num_workers, batching_.worker);
    element.resize(spec_.size());
    for (size_t c = 0; c < spec_.size(); ++c) COHORT_RETURN_IF_ERROR(Join(c, rows, part, element[c]));
    return true;
  }

  absl::Status DoSeek(const DatasetPosition& to) override {
    return input_->Seek({to.epoch, SaturatingMultiply(to.element, batching_.batch_size)});
  }

 private:
  // Makes component `c` of the batch of the first `rows` of rows_, of which this worker takes `part`.
  absl::Status Join(size_t c, int64_t rows, const ExampleRange& part, Tensor& batch) {
    TensorSpec example = rows_[0][c].spec();
    bool equal = true;
    for (int64_t r = 1; r < rows; ++r) {
      const Shape& shape = rows_[r][c].shape();
      if (shape == example.shape) continue;
      equal = false;
      if (!batching_.pad || shape.rank() != example.shape.rank()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "example ", position().element * batching_.batch_size + r, " has shape ", shape.ToString(),
            " in component ", c, ", others of its batch have ", example.shape.ToString(), ": use PaddedBatch"));
      }
      for (int d = 0; d < shape.rank(); ++d) example.shape.set_dim(d, std::max(example.shape.dim(d), shape.dim(d)));
    }
    const size_t row_bytes = example.shape.num_elements() * DTypeSize(example.dtype);
    const int64_t most = WorkerPart(batching_.batch_size, batching_.num_workers, batching_.worker).size();
    FitTensor(batch, BatchSpec(example, part.size()), std::min<int64_t>(most, 2 * rows) * row_bytes);
    if (!equal) FillAll(batch, batching_.padding_value);
    for (int64_t r = part.begin; r < part.end; ++r) CopyBlock(rows_[r][c], batch, r - part.begin);
    return absl::OkStatus();
  }

  const std::unique_ptr<DatasetIterator> input_;
  const StreamBatching batching_;
  std::vector<TensorSpec> spec_;
  std::vector<Element> rows_;  // go round in the input
};

// That all components have a first dimension.
absl::Status CheckBatched(const DatasetIterator& input) {
  for (const TensorSpec& spec : input.element_spec()) {
    if (spec.shape.rank() > 0) continue;
    return absl::InvalidArgumentError("the elements are scalars: batch them first");
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> RowsOf(const Element& batch) {
  for (const Tensor& component : batch) {
    if (component.shape().dim(0) == batch[0].shape().dim(0)) continue;
    return absl::InvalidArgumentError(absl::StrCat("the components of a batch have ", batch[0].shape().ToString(),
                                                   " and ", component.shape().ToString(),
                                                   ": their first dimensions must be equal"));
  }
  return batch.empty() ? 0 : batch[0].shape().dim(0);
}

class Unbatch final : public DatasetIterator {
 public:
  explicit Unbatch(std::unique_ptr<DatasetIterator> input) : input_(std::move(input)) {
    for (const TensorSpec& batch : input_->element_spec()) spec_.push_back(RowSpec(batch));
  }

  const std::vector<TensorSpec>& element_spec() const override { return spec_; }
  int64_t cardinality() const override {
    return input_->cardinality() > 0 ? kUnknownCardinality : input_->cardinality();
  }

 protected:
  absl::StatusOr<bool> DoNext(Element& element) override {
    while (row_ >= rows_) {
      COHORT_ASSIGN_OR_RETURN(const bool more, input_->Next(batch_));
      if (!more) return false;
      row_ = 0;
      COHORT_ASSIGN_OR_RETURN(rows_, RowsOf(batch_));
    }
    element.resize(batch_.size());
    for (size_t c = 0; c < batch_.size(); ++c) {
      FitTensor(element[c], RowSpec(batch_[c].spec()));
      CopyRows(batch_[c], row_, element[c], 0, 1);
    }
    ++row_;
    return true;
  }

  absl::Status DoSeek(const DatasetPosition& to) override {
    return SeekByNext(to, [this](int64_t epoch) {
      row_ = rows_ = 0;
      return input_->Reset(epoch);
    });
  }

 private:
  const std::unique_ptr<DatasetIterator> input_;
  std::vector<TensorSpec> spec_;
  Element batch_;
  int64_t rows_ = 0;
  int64_t row_ = 0;  // next one of batch_
};

class Rebatch final : public DatasetIterator {
 public:
  Rebatch(std::unique_ptr<DatasetIterator> input, std::vector<int64_t> sizes)
      : input_(std::move(input)), sizes_(std::move(sizes)), cursor_(sizes_), spec_(input_->element_spec()) {
    for (TensorSpec& spec : spec_) spec.shape.set_dim(0, Shape::kUnknown);
  }

  const std::vector<TensorSpec>& element_spec() const override { return spec_; }
  int64_t cardinality() const override {
    return input_->cardinality() > 0 ? kUnknownCardinality : input_->cardinality();
  }

 protected:
  absl::StatusOr<bool> DoNext(Element& element) override {
    COHORT_ASSIGN_OR_RETURN(const int64_t have, Gather(cursor_.wanted()));
    const std::optional<int64_t> size = cursor_.Next(have);
    if (!size.has_value()) return false;
    const int64_t rows = *size;
    element.resize(spec_.size());
    for (size_t c = 0; c < spec_.size(); ++c) {
      FitTensor(element[c], BatchSpec(have > 0 ? RowSpec(batches_[0][c].spec()) : last_row_[c], rows));
    }
    int64_t row = 0;
    while (row < rows) {
      COHORT_ASSIGN_OR_RETURN(const int64_t left, RowsOf(batches_[0]));
      const int64_t step = std::min(left - first_, rows - row);
      for (size_t c = 0; c < spec_.size(); ++c) CopyRows(batches_[0][c], first_, element[c], row, step);
      row += step;
      first_ += step;
      if (first_ == left) batches_.erase(batches_.begin()), first_ = 0;
    }
    return true;
  }

  absl::Status DoSeek(const DatasetPosition& to) override {
    return SeekByNext(to, [this](int64_t epoch) {
      batches_.clear();
      first_ = 0;
      cursor_ = RebatchCursor(sizes_);
      return input_->Reset(epoch);
    });
  }

 private:
  // Reads batches until there are `wanted` rows, or no more; returns how many.
  absl::StatusOr<int64_t> Gather(int64_t wanted) {
    int64_t have = -first_;
    for (const Element& batch : batches_) have += batch[0].shape().dim(0);
    while (have < wanted) {
      Element batch;
      COHORT_ASSIGN_OR_RETURN(const bool more, input_->Next(batch));
      if (!more) break;
      COHORT_ASSIGN_OR_RETURN(const int64_t rows, RowsOf(batch));
      have += rows;
      last_row_.clear();
      for (const Tensor& component : batch) last_row_.push_back(RowSpec(component.spec()));
      if (rows > 0) COHORT_RETURN_IF_ERROR(CheckRows(last_row_));
      if (rows > 0) batches_.push_back(std::move(batch));
    }
    return have;
  }

  // That rows of the next batch can stand in one batch with those that are left.
  absl::Status CheckRows(const std::vector<TensorSpec>& rows) const {
    for (size_t c = 0; c < rows.size() && !batches_.empty(); ++c) {
      const TensorSpec left = RowSpec(batches_[0][c].spec());
      if (left == rows[c]) continue;
      return absl::InvalidArgumentError(absl::StrCat("component ", c, " has rows of ", left.ToString(), " and of ",
                                                     rows[c].ToString(), ": they cannot stand in one batch"));
    }
    return absl::OkStatus();
  }

  const std::unique_ptr<DatasetIterator> input_;
  const std::vector<int64_t> sizes_;
  RebatchCursor cursor_;
  std::vector<TensorSpec> spec_;
  std::vector<Element> batches_;  // none without rows
  int64_t first_ = 0;             // row of batches_[0] that comes next
  std::vector<TensorSpec> last_row_;
};

class SplitBatch final : public DatasetIterator {
 public:
  SplitBatch(std::unique_ptr<DatasetIterator> input, int64_t pieces)
      : input_(std::move(input)), pieces_(pieces), spec_(input_->element_spec()) {
    for (TensorSpec& spec : spec_) spec.shape.set_dim(0, Shape::kUnknown);
  }

  const std::vector<TensorSpec>& element_spec() const override { return spec_; }
  int64_t cardinality() const override {
    const int64_t batches = input_->cardinality();
    return batches < 0 ? batches : SaturatingMultiply(batches, pieces_);
  }

 protected:
  absl::StatusOr<bool> DoNext(Element& element) override {
    const int64_t piece = position().element % pieces_;
    if (piece == 0 || !loaded_) {
      COHORT_ASSIGN_OR_RETURN(loaded_, input_->Next(batch_));
      if (!loaded_) return false;
    }
    element.resize(batch_.size());
    for (size_t c = 0; c < batch_.size(); ++c) {
      const ExampleRange range = SplitPiece(batch_[c].shape().dim(0), pieces_, piece);
      FitTensor(element[c], BatchSpec(RowSpec(batch_[c].spec()), range.size()));
      CopyRows(batch_[c], range.begin, element[c], 0, range.size());
    }
    return true;
  }

  absl::Status DoSeek(const DatasetPosition& to) override {
    loaded_ = false;
    return input_->Seek({to.epoch, to.element / pieces_});
  }

 private:
  const std::unique_ptr<DatasetIterator> input_;
  const int64_t pieces_;
  std::vector<TensorSpec> spec_;
  Element batch_;
  bool loaded_ = false;  // batch_ is the one of position()
};

}  // namespace

absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeBatch(std::unique_ptr<DatasetIterator> input,
                                                           const StreamBatching& batching) {
  for (const TensorSpec& example : input->element_spec()) {
    if (example.shape.rank() == Shape::kMaxRank) {
      return absl::InvalidArgumentError(
          absl::StrCat("examples of shape ", example.shape.ToString(), " have too many dimensions to be batched"));
    }
  }
  return std::make_unique<Batch>(std::move(input), batching);
}

absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeUnbatch(std::unique_ptr<DatasetIterator> input) {
  COHORT_RETURN_IF_ERROR(CheckBatched(*input));
  return std::make_unique<Unbatch>(std::move(input));
}

absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeRebatch(std::unique_ptr<DatasetIterator> input,
                                                             std::vector<int64_t> sizes) {
  COHORT_RETURN_IF_ERROR(CheckBatched(*input));
  if (std::none_of(sizes.begin(), sizes.end(), [](int64_t size) { return size > 0; }) ||
      std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size < 0; })) {
    return absl::InvalidArgumentError("batch_sizes must not be negative, and one must be positive");
  }
  return std::make_unique<Rebatch>(std::move(input), std::move(sizes));
}

absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeSplitBatch(std::unique_ptr<DatasetIterator> input,
                                                                int64_t pieces) {
  COHORT_RETURN_IF_ERROR(CheckBatched(*input));
  return std::make_unique<SplitBatch>(std::move(input), pieces);
}

}  // namespace cohort
