#include "runtime/dataset/iterator.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "runtime/base/status_macros.h"
#include "runtime/dataset/pipeline.h"
#include "runtime/dataset/prefetch.h"

namespace cohort {
namespace {

// Whether nobody else looks at the tensor's memory.
bool IsSole(const Tensor& tensor) {
  if (!tensor.has_value() || tensor.buffer() == nullptr || tensor.buffer().use_count() != 1) return false;
  // Giving a reference back orders what follows after the reads of whoever gave his back last.
  std::shared_ptr<Buffer>(tensor.buffer()).reset();
  return true;
}

// Makes `tensor` hold `spec`: in the memory it has, if that is large enough and its own.
void Fit(Tensor& tensor, const TensorSpec& spec, size_t capacity_bytes) {
  const bool sole = IsSole(tensor);
  const size_t bytes = spec.shape.num_elements() * DTypeSize(spec.dtype);
  if (sole && tensor.spec() == spec) return;
  if (sole && tensor.buffer()->size() >= bytes) {
    tensor = Tensor(spec, tensor.buffer(), 0);
  } else {
    tensor = Tensor(spec, std::make_shared<Buffer>(std::max(bytes, capacity_bytes)), 0);
  }
}

class PipelineIterator final : public DatasetIterator {
 public:
  explicit PipelineIterator(Pipeline pipeline) : pipeline_(std::move(pipeline)) {
    for (const TensorSpec& example : pipeline_.source->example_spec()) {
      spec_.push_back(pipeline_.batched() ? Batched(example, Shape::kUnknown) : example);
    }
    indices_.reserve(pipeline_.batched() ? pipeline_.batching.MaxRows() : 1);
  }

  const std::vector<TensorSpec>& element_spec() const override { return spec_; }

  int64_t cardinality() const override {
    const int64_t size = (pipeline_.batched() ? pipeline_.batches : pipeline_.examples).size();
    return size == IndexChain::kEndless ? -1 : size;
  }

  absl::Status Reset(int64_t epoch) override {
    if (epoch < 0) return absl::InvalidArgumentError("a data set's epochs count from 0");
    epoch_ = epoch;
    position_ = 0;
    return absl::OkStatus();
  }

  absl::StatusOr<bool> Next(Element& element) override {
    if (position_ >= pipeline_.elements().size()) return false;
    const IndexChain::Place place = pipeline_.elements().At(epoch_, position_);
    indices_.clear();
    if (pipeline_.batched()) {
      const ExampleRange rows = pipeline_.batching.Positions(place.index, pipeline_.examples.size());
      for (int64_t p = rows.begin; p < rows.end; ++p) indices_.push_back(pipeline_.examples.At(place.epoch, p).index);
    } else {
      indices_.push_back(place.index);
    }
    Prepare(element);
    pipeline_.source->Read(indices_, element);
    ++position_;
    return true;
  }

 private:
  static TensorSpec Batched(const TensorSpec& example, int64_t rows) {
    TensorSpec batch{example.dtype, Shape{rows}};
    for (const int64_t dim : example.shape.dims()) batch.shape.push_back(dim);
    return batch;
  }

  void Prepare(Element& element) {
    const std::vector<TensorSpec>& examples = pipeline_.source->example_spec();
    element.resize(examples.size());
    const int64_t rows = static_cast<int64_t>(indices_.size());
    for (size_t i = 0; i < examples.size(); ++i) {
      if (!pipeline_.batched()) {
        Fit(element[i], examples[i], 0);
        continue;
      }
      const size_t row_bytes = examples[i].shape.num_elements() * DTypeSize(examples[i].dtype);
      Fit(element[i], Batched(examples[i], rows), pipeline_.batching.MaxRows() * row_bytes);
    }
  }

  Pipeline pipeline_;
  std::vector<TensorSpec> spec_;
  int64_t epoch_ = 0;
  int64_t position_ = 0;
  std::vector<int64_t> indices_;  // of the element being made, in the source
};

}  // namespace

absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeIterator(const DatasetDef& definition) {
  COHORT_ASSIGN_OR_RETURN(Pipeline pipeline, MakePipeline(definition));
  const int64_t prefetch = pipeline.prefetch;
  std::unique_ptr<DatasetIterator> iterator = std::make_unique<PipelineIterator>(std::move(pipeline));
  if (prefetch > 0) iterator = MakePrefetch(std::move(iterator), prefetch);
  return iterator;
}

}  // namespace cohort
