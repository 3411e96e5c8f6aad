#ifndef COHORT_RUNTIME_DISTRIBUTE_INDEXED_SLICES_H_
#define COHORT_RUNTIME_DISTRIBUTE_INDEXED_SLICES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/tensor/tensor.h"

namespace cohort {

// A sparse value: row indices[i] of a tensor of shape `dense_shape` is values[i]; rows that are not listed are zero,
// rows that are listed more than once add up.
struct IndexedSlices {
  Tensor values;      // [n, d1, d2, ...]
  Tensor indices;     // int32 or int64 [n], each in [0, d0)
  Shape dense_shape;  // [d0, d1, d2, ...]

  // "IndexedSlices(values=float32 [1,2] [1, 2], indices=int64 [1] [1], dense_shape=[3,2])".
  std::string ToString() const;
};

// InvalidArgument: the three do not belong together (names the shapes), or an index is out of range (names it).
absl::Status Validate(const IndexedSlices& slices);

// The sum of all parts, one part a replica: their rows one after the other, duplicates kept.
// InvalidArgument: no part, an invalid one, or parts whose dtypes or dense shapes differ (names both and the replica).
absl::StatusOr<IndexedSlices> ConcatSlices(absl::Span<const IndexedSlices> parts);

// Each row once, ascending; duplicates are added in their order (16-bit floats in float32, rounded once). Needs memory
// for the rows that are listed, never for the dense tensor. InvalidArgument: invalid, or values of bool or strings.
absl::StatusOr<IndexedSlices> MergeDuplicates(const IndexedSlices& slices);

// The dense tensor. Errors as MergeDuplicates.
absl::StatusOr<Tensor> ToDense(const IndexedSlices& slices);

// Row numbers as int64.
std::vector<int64_t> RowsOf(const IndexedSlices& slices);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DISTRIBUTE_INDEXED_SLICES_H_
