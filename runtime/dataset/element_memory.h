#ifndef COHORT_RUNTIME_DATASET_ELEMENT_MEMORY_H_
#define COHORT_RUNTIME_DATASET_ELEMENT_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "runtime/tensor/tensor.h"

namespace cohort {

// Makes `tensor` hold `spec`, uninitialised: in the memory it has if that is large enough and nobody else's, else in
// new memory of at least `capacity_bytes`. Strings come empty and in new memory.
void FitTensor(Tensor& tensor, const TensorSpec& spec, size_t capacity_bytes = 0);

// The spec of `rows` such examples; of a batch the spec of one row.
TensorSpec BatchSpec(const TensorSpec& example, int64_t rows);
TensorSpec RowSpec(const TensorSpec& batch);

// Copies `rows` entries of the first dimension, from `from_row` of `from` to `to_row` of `to`, which have equal dtypes
// and further dimensions. A tensor of one example counts as one row of a batch.
void CopyRows(const Tensor& from, int64_t from_row, Tensor& to, int64_t to_row, int64_t rows);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DATASET_ELEMENT_MEMORY_H_
