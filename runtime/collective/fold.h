#ifndef COHORT_RUNTIME_COLLECTIVE_FOLD_H_
#define COHORT_RUNTIME_COLLECTIVE_FOLD_H_

#include <cstddef>

#include "absl/types/span.h"
#include "runtime/collective/communicator.h"
#include "runtime/tensor/dtype.h"

namespace cohort {

// Elements that one call folds at most: accumulators of 8 bytes fill half of a 32 KiB cache.
inline constexpr size_t kFoldElements = 2048;

// out[i] = parts[0][i] op parts[1][i] op ... , from the left, for i < count <= kFoldElements. A part is `count`
// elements at any address; `out` is aligned, and is one of the parts or apart from all.
using FoldFunction = void (*)(absl::Span<const char* const> parts, size_t count, void* out);

// nullptr for strings, resources and unknown values.
FoldFunction FindFold(DType dtype, ReduceOp op);

}  // namespace cohort

#endif  // COHORT_RUNTIME_COLLECTIVE_FOLD_H_
