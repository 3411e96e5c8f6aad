// The loops of RunGemm for one instruction set: included once by each gemm_ISA.cc, which defines COHORT_GEMM_ISA (a
// namespace), COHORT_GEMM_LANES (floats in a vector) and COHORT_GEMM_ROWS. Those files are compiled for their
// instruction set, so nothing here may use inline functions that others share: the linker keeps one of each.
//
// C is made in blocks of kRows x kColumns accumulators that live in registers. One panel of B (kDepth x kColumns) at a
// time is gathered into a packed buffer that stays in the first-level cache while it meets all rows of A; A is read
// where it lies. If B is not transposed, the first block of rows copies the panel in passing.

#ifndef COHORT_RUNTIME_KERNELS_CPU_GEMM_LOOPS_H_
#define COHORT_RUNTIME_KERNELS_CPU_GEMM_LOOPS_H_

#include "runtime/kernels/cpu/gemm.h"

namespace cohort::cpu::COHORT_GEMM_ISA {
namespace {

constexpr int kLanes = COHORT_GEMM_LANES;
constexpr int kRows = COHORT_GEMM_ROWS;
constexpr int kColumns = 2 * kLanes;
constexpr int64_t kDepth = 256;  // where the chain over k is cut

typedef float Vector __attribute__((vector_size(kLanes * 4)));
typedef float LooseVector __attribute__((vector_size(kLanes * 4), aligned(4), may_alias));

inline Vector Load(const float* p) { return *reinterpret_cast<const LooseVector*>(p); }
inline void Store(float* p, Vector v) { *reinterpret_cast<LooseVector*>(p) = v; }

// What a block of C needs to know beside its operands.
struct Block {
  float* c;
  int64_t ldc;
  int rows, columns;  // that exist
  bool add;           // to what C holds
  bool last;          // of the pieces of k: apply the epilogue
  bool relu;
  const float* bias;
  const float* mask;
};

inline float Epilogue(const Block& block, float value, int row, int column) {
  if (block.add) value += block.c[row * block.ldc + column];
  if (!block.last) return value;
  if (block.bias != nullptr) value += block.bias[column];
  if (block.relu) value = value > 0 ? value : 0;
  if (block.mask != nullptr && !(block.mask[row * block.ldc + column] > 0)) value = 0;
  return value;
}

template <int kVectors>
__attribute__((always_inline)) inline void StoreBlock(const Block& block, Vector (&sum)[kRows][kVectors]) {
  if (block.columns < kVectors * kLanes) {
    for (int r = 0; r < kRows; ++r) {
      float line[kVectors * kLanes];
      for (int v = 0; v < kVectors; ++v) Store(line + v * kLanes, sum[r][v]);
      if (r >= block.rows) continue;
      for (int j = 0; j < block.columns; ++j) block.c[r * block.ldc + j] = Epilogue(block, line[j], r, j);
    }
    return;
  }
  const Vector zero = {};
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    if (r >= block.rows) break;
    float* c = block.c + r * block.ldc;
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      Vector value = sum[r][v];
      if (block.add) value += Load(c + v * kLanes);
      if (block.last) {
        if (block.bias != nullptr) value += Load(block.bias + v * kLanes);
        if (block.relu) value = value > zero ? value : zero;
        if (block.mask != nullptr) value = Load(block.mask + r * block.ldc + v * kLanes) > zero ? value : zero;
      }
      Store(c + v * kLanes, value);
    }
  }
}

// sum[r][v] = sum over p of a[r](p) * b(p)[v]. A's row r is a[r * row_stride + p * depth_stride]; with kCopy B is read
// where it lies and copied to `packed`, otherwise read from `packed`.
template <int kVectors, bool kCopy>
__attribute__((noinline)) void RunBlock(const float* a, int64_t row_stride, int64_t depth_stride, const float* b,
                                        int64_t ldb, float* packed, int64_t depth, const Block& block) {
  const float* rows[kRows];
  for (int r = 0; r < kRows; ++r) rows[r] = a + (r < block.rows ? r : block.rows - 1) * row_stride;
  Vector sum[kRows][kVectors] = {};
  for (int64_t p = 0; p < depth; ++p) {
    Vector line[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      line[v] = Load((kCopy ? b : packed) + v * kLanes);
      if (kCopy) Store(packed + v * kLanes, line[v]);
    }
    b += ldb;
    packed += kVectors * kLanes;
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const float x = rows[r][p * depth_stride];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sum[r][v] += x * line[v];
    }
  }
  StoreBlock<kVectors>(block, sum);
}

// packed[p][j] = op(B)(p, j), zeros beside what exists.
void PackPanel(const Gemm& gemm, int64_t p0, int64_t depth, int64_t j0, int columns, int width, float* packed) {
  if (!gemm.b_transposed) {
    for (int64_t p = 0; p < depth; ++p) {
      const float* from = gemm.b + (p0 + p) * gemm.ldb + j0;
      float* to = packed + p * width;
      for (int j = 0; j < columns; ++j) to[j] = from[j];
      for (int j = columns; j < width; ++j) to[j] = 0;
    }
    return;
  }
  const float* from = gemm.b + j0 * gemm.ldb + p0;
  int64_t p = 0;
  if (columns == width) {
    for (; p + 4 <= depth; p += 4) {  // 4 x 4 blocks through registers
      typedef float V4 __attribute__((vector_size(16)));
      typedef float Loose4 __attribute__((vector_size(16), aligned(4), may_alias));
      for (int j = 0; j < width; j += 4) {
        const float* f = from + j * gemm.ldb + p;
        const V4 a = *reinterpret_cast<const Loose4*>(f), b = *reinterpret_cast<const Loose4*>(f + gemm.ldb);
        const V4 c = *reinterpret_cast<const Loose4*>(f + 2 * gemm.ldb);
        const V4 d = *reinterpret_cast<const Loose4*>(f + 3 * gemm.ldb);
        const V4 ab0 = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab1 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
        const V4 cd0 = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd1 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
        float* t = packed + p * width + j;
        *reinterpret_cast<Loose4*>(t) = __builtin_shufflevector(ab0, cd0, 0, 1, 4, 5);
        *reinterpret_cast<Loose4*>(t + width) = __builtin_shufflevector(ab0, cd0, 2, 3, 6, 7);
        *reinterpret_cast<Loose4*>(t + 2 * width) = __builtin_shufflevector(ab1, cd1, 0, 1, 4, 5);
        *reinterpret_cast<Loose4*>(t + 3 * width) = __builtin_shufflevector(ab1, cd1, 2, 3, 6, 7);
      }
    }
  }
  for (; p < depth; ++p) {
    float* to = packed + p * width;
    for (int j = 0; j < columns; ++j) to[j] = from[j * gemm.ldb + p];
    for (int j = columns; j < width; ++j) to[j] = 0;
  }
}

// All rows against columns [j0, j0 + columns), columns <= kVectors * kLanes.
template <int kVectors>
void RunPanel(const Gemm& gemm, int64_t j0, int columns, float* packed) {
  constexpr int kWidth = kVectors * kLanes;
  const int64_t row_stride = gemm.a_transposed ? 1 : gemm.lda;
  const int64_t depth_stride = gemm.a_transposed ? gemm.lda : 1;
  for (int64_t p0 = 0; p0 == 0 || p0 < gemm.k; p0 += kDepth) {
    const int64_t depth = gemm.k - p0 < kDepth ? gemm.k - p0 : kDepth;
    const bool copy_in_passing = !gemm.b_transposed && columns == kWidth;
    if (!copy_in_passing) PackPanel(gemm, p0, depth, j0, columns, kWidth, packed);
    for (int64_t i = 0; i < gemm.m; i += kRows) {
      Block block;
      block.c = gemm.c + i * gemm.ldc + j0;
      block.ldc = gemm.ldc;
      block.rows = static_cast<int>(gemm.m - i < kRows ? gemm.m - i : kRows);
      block.columns = columns;
      block.add = gemm.accumulate || p0 > 0;
      block.last = p0 + depth == gemm.k;
      block.relu = gemm.relu;
      block.bias = gemm.bias == nullptr ? nullptr : gemm.bias + j0;
      block.mask = gemm.mask == nullptr ? nullptr : gemm.mask + i * gemm.ldc + j0;
      const float* a = gemm.a + i * row_stride + p0 * depth_stride;
      if (copy_in_passing && i == 0) {
        RunBlock<kVectors, true>(a, row_stride, depth_stride, gemm.b + p0 * gemm.ldb + j0, gemm.ldb, packed, depth,
                                 block);
      } else {
        RunBlock<kVectors, false>(a, row_stride, depth_stride, nullptr, 0, packed, depth, block);
      }
    }
  }
}

}  // namespace

void Run(const Gemm& gemm) {
  alignas(64) float packed[kDepth * kColumns];
  for (int64_t j = 0; j < gemm.n;) {
    const int64_t rest = gemm.n - j;
    if (rest <= kLanes) {
      RunPanel<1>(gemm, j, static_cast<int>(rest), packed);
      return;
    }
    const int columns = static_cast<int>(rest < kColumns ? rest : kColumns);
    RunPanel<2>(gemm, j, columns, packed);
    j += columns;
  }
}

}  // namespace cohort::cpu::COHORT_GEMM_ISA

#endif  // COHORT_RUNTIME_KERNELS_CPU_GEMM_LOOPS_H_
