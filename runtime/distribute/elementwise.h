#ifndef COHORT_RUNTIME_DISTRIBUTE_ELEMENTWISE_H_
#define COHORT_RUNTIME_DISTRIBUTE_ELEMENTWISE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "runtime/tensor/tensor.h"

namespace cohort {

// Arithmetic on whole tensors in host memory, one element after the other on the calling thread: what the rules of
// strategies need, not what a step runs. Integers wrap; 16-bit floats are computed in float32 and rounded.

enum class ElementOp : uint8_t { kAdd, kSub, kMul, kDiv, kMin, kMax, kReplace };

// target[i] = target[i] op operand[i]. Equal dtypes and numbers of elements (checked); writes through to whoever shares
// the target's buffer. Integer division rounds to zero. Of bool and strings only kReplace.
// InvalidArgument: an integer is divided by zero; an op that the dtype has not.
absl::Status Apply(ElementOp op, Tensor& target, const Tensor& operand);

// Whether `dtype` has sums: integers and floats.
bool IsNumeric(DType dtype);

// Elements converted to `dtype`; floats to integers round to zero and saturate, NaN becomes 0. The tensor itself if it
// has the dtype already. Not of strings (checked).
Tensor CastTo(const Tensor& tensor, DType dtype);

// Row `row` of a tensor of rank 1 or more, with the shape of a row: a view of the same memory.
Tensor RowView(const Tensor& tensor, int64_t row);

// False if a float is infinite or NaN. True of integers, bool and strings.
bool AllFinite(const Tensor& tensor);
// Whether each element equals zero (false for bool). False of strings.
bool AllZero(const Tensor& tensor);

// Whether the two are views of the same memory with the same dtype and shape: one tensor handle, copied.
bool SameHandle(const Tensor& a, const Tensor& b);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DISTRIBUTE_ELEMENTWISE_H_
