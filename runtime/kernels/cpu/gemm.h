#ifndef COHORT_RUNTIME_KERNELS_CPU_GEMM_H_
#define COHORT_RUNTIME_KERNELS_CPU_GEMM_H_

#include <cstdint>

namespace cohort::cpu {

// A product of float32 matrices, row-major: C[m,n] = op(A)[m,k] op(B)[k,n], or C += with `accumulate`; then for each
// element: + bias[column]; max(0, .); * (mask > 0), in this order, each if asked for.
struct Gemm {
  int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;  // [m,k], or [k,m] if a_transposed
  const float* b = nullptr;  // [k,n], or [n,k] if b_transposed
  float* c = nullptr;
  int64_t lda = 0, ldb = 0, ldc = 0;  // elements between rows as stored
  bool a_transposed = false, b_transposed = false;
  bool accumulate = false;
  bool relu = false;
  const float* bias = nullptr;  // [n]
  const float* mask = nullptr;  // as C, with its leading dimension
};

// Runs on the calling thread, without allocating. An element of C is a chain of multiply-adds over k in ascending
// order, cut at fixed places: its bits depend on its row of op(A), its column of op(B) and the instruction set, not on
// how C is cut into calls. k = 0 gives zeros (before the epilogue).
void RunGemm(const Gemm& gemm);

// The part [row, row + rows) x [column, column + columns) of the product.
Gemm Part(const Gemm& gemm, int64_t row, int64_t rows, int64_t column, int64_t columns);

}  // namespace cohort::cpu

#endif  // COHORT_RUNTIME_KERNELS_CPU_GEMM_H_
