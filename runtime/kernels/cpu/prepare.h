#ifndef COHORT_RUNTIME_KERNELS_CPU_PREPARE_H_
#define COHORT_RUNTIME_KERNELS_CPU_PREPARE_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/kernels/kernel.h"

namespace cohort::cpu {

// Elements of one tile of a kernel that passes over memory: some 10 us of work.
inline constexpr int64_t kTileElements = 32768;

inline int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A kernel of one phase whose parameters are a P.
template <typename P>
PreparedKernel OnePhase(P params, Launch::Function function, int64_t tiles, size_t scratch_bytes = 0) {
  PreparedKernel kernel;
  kernel.phases.push_back({function, tiles});
  kernel.params = std::make_shared<const P>(std::move(params));
  kernel.scratch_bytes = scratch_bytes;
  return kernel;
}

// Elements [begin, end) of `tile`, of n cut into pieces of `piece`.
struct Range {
  int64_t begin, end;
};
inline Range TileRange(int64_t tile, int64_t piece, int64_t n) {
  return {tile * piece, std::min(n, (tile + 1) * piece)};
}

// Dimensions before, at and after an axis, as one each.
struct AxisSplit {
  int64_t outer = 1, axis = 1, inner = 1;
};
inline AxisSplit SplitAt(const Shape& shape, int axis) {
  AxisSplit split;
  for (int i = 0; i < axis; ++i) split.outer *= shape.dim(i);
  split.axis = shape.dim(axis);
  for (int i = axis + 1; i < shape.rank(); ++i) split.inner *= shape.dim(i);
  return split;
}

}  // namespace cohort::cpu

#endif  // COHORT_RUNTIME_KERNELS_CPU_PREPARE_H_
