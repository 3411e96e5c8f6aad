#include "runtime/kernels/cpu/gemm.h"

namespace cohort::cpu {

namespace avx512 {
void Run(const Gemm& gemm);
}
namespace avx2 {
void Run(const Gemm& gemm);
}
namespace generic {
void Run(const Gemm& gemm);
}

namespace {

using Loops = void (*)(const Gemm&);

Loops ChooseLoops() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return avx512::Run;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::Run;
#endif
  return generic::Run;
}

}  // namespace

void RunGemm(const Gemm& gemm) {
  static const Loops kLoops = ChooseLoops();
  kLoops(gemm);
}

Gemm Part(const Gemm& gemm, int64_t row, int64_t rows, int64_t column, int64_t columns) {
  Gemm part = gemm;
  part.m = rows;
  part.n = columns;
  part.a += row * (gemm.a_transposed ? 1 : gemm.lda);
  part.b += column * (gemm.b_transposed ? gemm.ldb : 1);
  part.c += row * gemm.ldc + column;
  if (gemm.bias != nullptr) part.bias += column;
  if (gemm.mask != nullptr) part.mask += row * gemm.ldc + column;
  return part;
}

}  // namespace cohort::cpu
