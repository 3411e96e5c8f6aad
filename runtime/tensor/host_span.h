#ifndef COHORT_RUNTIME_TENSOR_HOST_SPAN_H_
#define COHORT_RUNTIME_TENSOR_HOST_SPAN_H_

#include <cstddef>
#include <cstdint>

#include "runtime/tensor/dtype.h"

namespace cohort {

// A mean is a sum, divided once afterwards. Of bool, sum and max are "or", product and min are "and".
enum class ReduceOp : uint8_t { kSum, kMin, kMax, kProd };

// A dense array in host memory, aligned for its elements. Any dtype but strings and resources.
struct HostSpan {
  void* data = nullptr;
  int64_t count = 0;  // elements
  DType dtype = DType::kF32;
  size_t bytes() const { return static_cast<size_t>(count) * DTypeSize(dtype); }
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_TENSOR_HOST_SPAN_H_
