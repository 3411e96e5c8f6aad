#include "runtime/dataset/element_memory.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace cohort {
namespace {

// Whether nobody else looks at the tensor's memory.
bool IsSole(const Tensor& tensor) {
  if (!tensor.has_value() || tensor.buffer() == nullptr || tensor.buffer().use_count() != 1) return false;
  // Giving a reference back orders what follows after the reads of whoever gave his back last.
  std::shared_ptr<Buffer>(tensor.buffer()).reset();
  return true;
}

}  // namespace

void FitTensor(Tensor& tensor, const TensorSpec& spec, size_t capacity_bytes) {
  if (spec.dtype == DType::kString) {
    tensor = Tensor(spec.dtype, spec.shape);
    return;
  }
  const bool sole = IsSole(tensor);
  const size_t bytes = spec.shape.num_elements() * DTypeSize(spec.dtype);
  if (sole && tensor.spec() == spec) return;
  if (sole && tensor.buffer()->size() >= bytes) {
    tensor = Tensor(spec, tensor.buffer(), 0);
  } else {
    tensor = Tensor(spec, std::make_shared<Buffer>(std::max(bytes, capacity_bytes)), 0);
  }
}

TensorSpec BatchSpec(const TensorSpec& example, int64_t rows) {
  TensorSpec batch{example.dtype, Shape{rows}};
  for (const int64_t dim : example.shape.dims()) batch.shape.push_back(dim);
  return batch;
}

TensorSpec RowSpec(const TensorSpec& batch) { return {batch.dtype, Shape(batch.shape.dims().subspan(1))}; }

void CopyRows(const Tensor& from, int64_t from_row, Tensor& to, int64_t to_row, int64_t rows) {
  if (rows == 0) return;
  const Tensor& batch = from.shape().rank() > to.shape().rank() ? from : to;  // knows the size of a row
  const int64_t row_elements = batch.shape().rank() > 0 ? RowSpec(batch.spec()).shape.num_elements() : 1;
  if (to.dtype() == DType::kString) {
    const auto begin = from.strings().begin() + from_row * row_elements;
    std::copy(begin, begin + rows * row_elements, to.mutable_strings().begin() + to_row * row_elements);
    return;
  }
  const size_t row_bytes = row_elements * DTypeSize(to.dtype());
  std::memcpy(static_cast<char*>(to.mutable_data()) + to_row * row_bytes,
              static_cast<const char*>(from.data()) + from_row * row_bytes, rows * row_bytes);
}

}  // namespace cohort
