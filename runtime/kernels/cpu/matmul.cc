#include <cstring>

#include "runtime/base/status_macros.h"
#include "runtime/base/vectorized.h"
#include "runtime/kernels/cpu/gemm.h"
#include "runtime/kernels/cpu/modular.h"
#include "runtime/kernels/cpu/prepare.h"
#include "runtime/kernels/cpu/tables.h"

namespace cohort::cpu {
namespace {

// --- MatMul, _FusedMatMul(a, b[, bias][, mask]): attributes _bias, _relu, _mask say what follows the product.

struct MatMulParams {
  Gemm gemm;                 // without pointers
  int bias = -1, mask = -1;  // inputs
  int64_t rows = 0, columns = 0, row_tiles = 0;
};

// At least 2 million multiply-adds a tile, and tall enough that gathering B pays.
constexpr int64_t kTileWork = 2 << 20;
constexpr int64_t kTileRows = 256;
constexpr int64_t kTileColumns = 128;

void CutMatMul(MatMulParams& p) {
  const Gemm& g = p.gemm;
  const int64_t depth = std::max<int64_t>(g.k, 1);
  p.rows = std::max<int64_t>(std::min(g.m, kTileRows), 1);
  p.columns = std::max<int64_t>(g.n, 1);
  if (p.rows * p.columns * depth > kTileWork) {
    const int64_t wanted = kTileWork / (p.rows * depth);
    p.columns = std::min(p.columns, std::max(kTileColumns, wanted / 32 * 32));
  } else if (p.rows * p.columns * depth * 2 < kTileWork) {
    p.rows = std::max<int64_t>(std::min(g.m, kTileWork / (p.columns * depth) / kTileRows * kTileRows), p.rows);
  }
  p.row_tiles = CeilDiv(g.m, p.rows);
}

void RunMatMul(const Launch& launch, const KernelRun& run, int64_t tile) {
  const auto& p = *static_cast<const MatMulParams*>(launch.params);
  Gemm gemm = p.gemm;
  gemm.a = launch.In<float>(run, 0);
  gemm.b = launch.In<float>(run, 1);
  gemm.c = launch.Out<float>(run, 0);
  if (p.bias >= 0) gemm.bias = launch.In<float>(run, p.bias);
  if (p.mask >= 0) gemm.mask = launch.In<float>(run, p.mask);
  if (launch.tiles == 1) return RunGemm(gemm);
  const Range rows = TileRange(tile % p.row_tiles, p.rows, gemm.m);
  const Range columns = TileRange(tile / p.row_tiles, p.columns, gemm.n);
  RunGemm(Part(gemm, rows.begin, rows.end - rows.begin, columns.begin, columns.end - columns.begin));
}

absl::StatusOr<PreparedKernel> PrepareMatMul(const KernelRequest& request) {
  MatMulParams p;
  Gemm& g = p.gemm;
  g.a_transposed = GetAttributeOr(request.attributes, "transpose_a", false);
  g.b_transposed = GetAttributeOr(request.attributes, "transpose_b", false);
  const Shape& a = request.inputs[0].shape;
  const Shape& b = request.inputs[1].shape;
  g.m = a.dim(g.a_transposed ? 1 : 0);
  g.k = a.dim(g.a_transposed ? 0 : 1);
  g.n = b.dim(g.b_transposed ? 0 : 1);
  g.lda = a.dim(1);
  g.ldb = b.dim(1);
  g.ldc = g.n;
  int next = 2;
  if (GetAttributeOr(request.attributes, "_bias", false)) p.bias = next++;
  g.relu = GetAttributeOr(request.attributes, "_relu", false);
  if (GetAttributeOr(request.attributes, "_mask", false)) p.mask = next++;
  CutMatMul(p);
  const int64_t tiles = g.m == 0 || g.n == 0 ? 0 : p.row_tiles * CeilDiv(g.n, p.columns);
  return OnePhase(p, RunMatMul, tiles);
}

// float64: plain loops.
void RunPlainMatMul(const Launch& launch, const KernelRun& run, int64_t) {
  const Gemm& g = static_cast<const MatMulParams*>(launch.params)->gemm;
  const double* a = launch.In<double>(run, 0);
  const double* b = launch.In<double>(run, 1);
  double* c = launch.Out<double>(run, 0);
  for (int64_t i = 0; i < g.m; ++i) {
    for (int64_t j = 0; j < g.n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < g.k; ++p) {
        sum += a[g.a_transposed ? p * g.lda + i : i * g.lda + p] * b[g.b_transposed ? j * g.ldb + p : p * g.ldb + j];
      }
      c[i * g.ldc + j] = sum;
    }
  }
}

absl::StatusOr<PreparedKernel> PreparePlainMatMul(const KernelRequest& request) {
  COHORT_ASSIGN_OR_RETURN(PreparedKernel kernel, PrepareMatMul(request));
  kernel.phases[0] = {RunPlainMatMul, kernel.phases[0].tiles > 0 ? 1 : 0};
  return kernel;
}

// --- BiasAdd(x, bias)

struct BiasAddParams {
  int64_t rows = 0, columns = 0, piece = 1;
};

template <typename T>
COHORT_VECTORIZED void AddRow(const T* __restrict x, const T* __restrict bias, T* __restrict y, int64_t n) {
  for (int64_t j = 0; j < n; ++j) y[j] = static_cast<T>(Modular<T>(x[j]) + Modular<T>(bias[j]));
}

template <typename T>
void RunBiasAdd(const Launch& launch, const KernelRun& run, int64_t tile) {
  const auto& p = *static_cast<const BiasAddParams*>(launch.params);
  const Range rows = TileRange(tile, p.piece, p.rows);
  const T* x = launch.In<T>(run, 0);
  const T* bias = launch.In<T>(run, 1);
  T* y = launch.Out<T>(run, 0);
  for (int64_t i = rows.begin; i < rows.end; ++i) AddRow(x + i * p.columns, bias, y + i * p.columns, p.columns);
}

template <typename T>
absl::StatusOr<PreparedKernel> PrepareBiasAdd(const KernelRequest& request) {
  BiasAddParams p;
  p.columns = request.inputs[1].shape.dim(0);
  p.rows = p.columns == 0 ? 0 : request.inputs[0].shape.num_elements() / p.columns;
  p.piece = std::max<int64_t>(1, kTileElements / std::max<int64_t>(p.columns, 1));
  return OnePhase(p, RunBiasAdd<T>, CeilDiv(p.rows, p.piece));
}

constexpr Kernel kKernels[] = {
    {"MatMul", DType::kF32, PrepareMatMul},
    {"MatMul", DType::kF64, PreparePlainMatMul},
    {"_FusedMatMul", DType::kF32, PrepareMatMul},
    {"BiasAdd", DType::kF32, PrepareBiasAdd<float>},
    {"BiasAdd", DType::kF64, PrepareBiasAdd<double>},
    {"BiasAdd", DType::kI32, PrepareBiasAdd<int32_t>},
    {"BiasAdd", DType::kI64, PrepareBiasAdd<int64_t>},
};

}  // namespace

absl::Span<const Kernel> MatMulKernels() { return kKernels; }

}  // namespace cohort::cpu
