#include "runtime/distribute/indexed_slices.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"
#include "runtime/base/status_macros.h"
#include "runtime/distribute/elementwise.h"

namespace cohort {
namespace {

Shape WithRows(Shape shape, int64_t rows) {
  shape.set_dim(0, rows);
  return shape;
}

// What 16-bit floats are added in.
DType SumDType(DType dtype) { return dtype == DType::kF16 || dtype == DType::kBF16 ? DType::kF32 : dtype; }

absl::Status ValidateForSums(const IndexedSlices& slices) {
  COHORT_RETURN_IF_ERROR(Validate(slices));
  if (IsNumeric(slices.values.dtype())) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("no sums of ", DTypeName(slices.values.dtype())));
}

// Adds row i of the slices to row position(i) of `sums`, in order.
template <typename Position>
void AddRows(const IndexedSlices& slices, Tensor& sums, Position position) {
  const Tensor values = CastTo(slices.values, sums.dtype());
  for (int64_t i = 0; i < values.shape().dim(0); ++i) {
    Tensor row = RowView(sums, position(i));
    COHORT_CHECK(Apply(ElementOp::kAdd, row, RowView(values, i)).ok(), "numbers can be added");
  }
}

}  // namespace

std::string IndexedSlices::ToString() const {
  return absl::StrCat("IndexedSlices(values=", values.ToString(), ", indices=", indices.ToString(),
                      ", dense_shape=", dense_shape.ToString(), ")");
}

std::vector<int64_t> RowsOf(const IndexedSlices& slices) {
  const Tensor wide = CastTo(slices.indices, DType::kI64);
  return {wide.values<int64_t>().begin(), wide.values<int64_t>().end()};
}

absl::Status Validate(const IndexedSlices& slices) {
  const Shape& values = slices.values.shape();
  const Shape& dense = slices.dense_shape;
  if (slices.indices.dtype() != DType::kI32 && slices.indices.dtype() != DType::kI64) {
    return absl::InvalidArgumentError(
        absl::StrCat("indices of a sparse value are ", DTypeName(slices.indices.dtype()), ", not int32 or int64"));
  }
  if (!slices.values.has_value() || slices.indices.shape().rank() != 1 || dense.rank() < 1 ||
      values != WithRows(dense, slices.indices.num_elements())) {
    return absl::InvalidArgumentError(absl::StrCat("a sparse value of dense shape ", dense.ToString(),
                                                   " has indices of shape ", slices.indices.shape().ToString(),
                                                   " and values of shape ", values.ToString()));
  }
  for (const int64_t row : RowsOf(slices)) {
    if (row >= 0 && row < dense.dim(0)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("index ", row, " of a sparse value is not in [0, ", dense.dim(0), ")"));
  }
  return absl::OkStatus();
}

absl::StatusOr<IndexedSlices> ConcatSlices(absl::Span<const IndexedSlices> parts) {
  if (parts.empty()) return absl::InvalidArgumentError("no sparse values to combine");
  const IndexedSlices& first = parts[0];
  int64_t rows = 0;
  for (size_t r = 0; r < parts.size(); ++r) {
    COHORT_RETURN_IF_ERROR(Validate(parts[r])) << "replica " << r;
    if (parts[r].values.dtype() != first.values.dtype() || parts[r].indices.dtype() != first.indices.dtype() ||
        parts[r].dense_shape != first.dense_shape) {
      return absl::InvalidArgumentError(
          absl::StrCat("sparse values differ: ", TensorSpec{first.values.dtype(), first.dense_shape}.ToString(),
                       " with ", DTypeName(first.indices.dtype()), " indices on replica 0, ",
                       TensorSpec{parts[r].values.dtype(), parts[r].dense_shape}.ToString(), " with ",
                       DTypeName(parts[r].indices.dtype()), " indices on replica ", r));
    }
    rows += parts[r].indices.num_elements();
  }
  IndexedSlices whole{Tensor(first.values.dtype(), WithRows(first.dense_shape, rows)),
                      Tensor(first.indices.dtype(), Shape{rows}), first.dense_shape};
  if (first.values.dtype() == DType::kString) return absl::InvalidArgumentError("no sums of string");
  char* values = static_cast<char*>(whole.values.mutable_data());
  char* indices = static_cast<char*>(whole.indices.mutable_data());
  for (const IndexedSlices& part : parts) {
    if (part.values.num_bytes() > 0) std::memcpy(values, part.values.data(), part.values.num_bytes());
    if (part.indices.num_bytes() > 0) std::memcpy(indices, part.indices.data(), part.indices.num_bytes());
    values += part.values.num_bytes();
    indices += part.indices.num_bytes();
  }
  return whole;
}

absl::StatusOr<IndexedSlices> MergeDuplicates(const IndexedSlices& slices) {
  COHORT_RETURN_IF_ERROR(ValidateForSums(slices));
  const std::vector<int64_t> rows = RowsOf(slices);
  std::vector<int64_t> unique = rows;
  std::sort(unique.begin(), unique.end());
  unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
  const int64_t count = static_cast<int64_t>(unique.size());
  Tensor sums = Tensor::Zeros(SumDType(slices.values.dtype()), WithRows(slices.dense_shape, count));
  AddRows(slices, sums,
          [&](int64_t i) { return std::lower_bound(unique.begin(), unique.end(), rows[i]) - unique.begin(); });
  const Tensor indices = Tensor::Of<int64_t>(Shape{count}, unique);
  return IndexedSlices{CastTo(sums, slices.values.dtype()), CastTo(indices, slices.indices.dtype()),
                       slices.dense_shape};
}

absl::StatusOr<Tensor> ToDense(const IndexedSlices& slices) {
  COHORT_RETURN_IF_ERROR(ValidateForSums(slices));
  const std::vector<int64_t> rows = RowsOf(slices);
  Tensor sums = Tensor::Zeros(SumDType(slices.values.dtype()), slices.dense_shape);
  AddRows(slices, sums, [&](int64_t i) { return rows[i]; });
  return CastTo(sums, slices.values.dtype());
}

}  // namespace cohort
