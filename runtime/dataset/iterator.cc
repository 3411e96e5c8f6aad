#include "runtime/dataset/iterator.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "runtime/base/file_system.h"
#include "runtime/base/status_macros.h"
#include "runtime/dataset/element_memory.h"
#include "runtime/dataset/pipeline.h"
#include "runtime/dataset/prefetch.h"
#include "runtime/dataset/stream.h"

namespace cohort {
namespace {

class PipelineIterator final : public DatasetIterator {
 public:
  explicit PipelineIterator(Pipeline pipeline) : pipeline_(std::move(pipeline)) {
    for (const TensorSpec& example : pipeline_.source->example_spec()) {
      spec_.push_back(pipeline_.batched() ? BatchSpec(example, Shape::kUnknown) : example);
    }
    if (pipeline_.batched()) max_rows_ = std::min(pipeline_.batching.MaxRows(), pipeline_.examples.size());
    indices_.reserve(max_rows_);
  }

  const std::vector<TensorSpec>& element_spec() const override { return spec_; }

  int64_t cardinality() const override {
    const int64_t size = (pipeline_.batched() ? pipeline_.batches : pipeline_.examples).size();
    return size == IndexChain::kEndless ? kEndlessCardinality : size;
  }

 protected:
  absl::Status DoSeek(const DatasetPosition&) override { return absl::OkStatus(); }

  absl::StatusOr<bool> DoNext(Element& element) override {
    if (position().element >= pipeline_.elements().size()) return false;
    const IndexChain::Place place = pipeline_.elements().At(position().epoch, position().element);
    indices_.clear();
    if (pipeline_.batched()) {
      const ExampleRange rows = pipeline_.batching.Positions(place.index, pipeline_.examples.size());
      for (int64_t p = rows.begin; p < rows.end; ++p) indices_.push_back(pipeline_.examples.At(place.epoch, p).index);
    } else {
      indices_.push_back(place.index);
    }
    Prepare(element);
    pipeline_.source->Read(indices_, element);
    return true;
  }

 private:
  void Prepare(Element& element) {
    const std::vector<TensorSpec>& examples = pipeline_.source->example_spec();
    element.resize(examples.size());
    const int64_t rows = static_cast<int64_t>(indices_.size());
    for (size_t i = 0; i < examples.size(); ++i) {
      if (!pipeline_.batched()) {
        FitTensor(element[i], examples[i]);
        continue;
      }
      const size_t row_bytes = examples[i].shape.num_elements() * DTypeSize(examples[i].dtype);
      FitTensor(element[i], BatchSpec(examples[i], rows), max_rows_ * row_bytes);
    }
  }

  Pipeline pipeline_;
  std::vector<TensorSpec> spec_;
  int64_t max_rows_ = 1;          // of an element
  std::vector<int64_t> indices_;  // of the element being made, in the source
};

// Owns the file system that a definition without one reads.
class OwningIterator final : public DatasetIterator {
 public:
  OwningIterator(std::unique_ptr<FileSystem> files, std::unique_ptr<DatasetIterator> input)
      : files_(std::move(files)), input_(std::move(input)) {}

  const std::vector<TensorSpec>& element_spec() const override { return input_->element_spec(); }
  int64_t cardinality() const override { return input_->cardinality(); }

 protected:
  absl::StatusOr<bool> DoNext(Element& element) override { return input_->Next(element); }
  absl::Status DoSeek(const DatasetPosition& to) override { return input_->Seek(to); }

 private:
  const std::unique_ptr<FileSystem> files_;
  const std::unique_ptr<DatasetIterator> input_;
};

absl::StatusOr<std::unique_ptr<DatasetIterator>> Make(const DatasetDef& definition, const IteratorContext& context) {
  if (!IsPipeline(definition)) return MakeStream(definition, context, Make);
  COHORT_ASSIGN_OR_RETURN(Pipeline pipeline, MakePipeline(definition, context));
  const int64_t prefetch = pipeline.prefetch;
  std::unique_ptr<DatasetIterator> iterator = std::make_unique<PipelineIterator>(std::move(pipeline));
  if (prefetch > 0) iterator = MakePrefetch(std::move(iterator), prefetch);
  return iterator;
}

}  // namespace

absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeIterator(const DatasetDef& definition,
                                                              const IteratorContext& context) {
  if (context.files != nullptr) return Make(definition, context);
  COHORT_ASSIGN_OR_RETURN(std::unique_ptr<FileSystem> files, MakePosixFileSystem(""));
  IteratorContext own = context;
  own.files = files.get();
  COHORT_ASSIGN_OR_RETURN(std::unique_ptr<DatasetIterator> iterator, Make(definition, own));
  if (IsPipeline(definition)) return iterator;  // has read what it needs
  return std::make_unique<OwningIterator>(std::move(files), std::move(iterator));
}

}  // namespace cohort
