#include <cstring>
#include <type_traits>

#include "absl/container/inlined_vector.h"
#include "runtime/base/status_macros.h"
#include "runtime/base/vectorized.h"
#include "runtime/kernels/cpu/prepare.h"
#include "runtime/kernels/cpu/tables.h"

namespace cohort::cpu {
namespace {

// --- Column sums: y[j] = sum over i of x[i, j]. Rows are cut into fixed pieces, each summed by itself in float32;
// the pieces are folded in order.

constexpr int64_t kPieceRows = 1024;
constexpr int64_t kPanel = 64;  // columns of a tile, in registers

typedef float Lanes __attribute__((vector_size(64)));
typedef float LooseLanes __attribute__((vector_size(64), aligned(4), may_alias));

struct ColumnSumParams {
  int64_t rows = 0, columns = 0, pieces = 1, panels = 1;
};

template <int kVectors>
[[gnu::always_inline]] inline void SumPanel(const float* x, int64_t rows, int64_t columns, float* y) {
  Lanes sum[kVectors] = {};
  for (int64_t i = 0; i < rows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sum[v] += reinterpret_cast<const LooseLanes*>(x + i * columns)[v];
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) reinterpret_cast<LooseLanes*>(y)[v] = sum[v];
}

COHORT_VECTORIZED void SumColumns(const float* x, int64_t rows, int64_t columns, int64_t width, float* y) {
  int64_t j = 0;
  for (; j + 64 <= width; j += 64) SumPanel<4>(x + j, rows, columns, y + j);
  for (; j + 16 <= width; j += 16) SumPanel<1>(x + j, rows, columns, y + j);
  if (j == width) return;
  for (int64_t c = j; c < width; ++c) y[c] = 0;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t c = j; c < width; ++c) y[c] += x[i * columns + c];
  }
}

void RunColumnSum(const Launch& launch, const KernelRun& run, int64_t tile) {
  const auto& p = *static_cast<const ColumnSumParams*>(launch.params);
  const int64_t piece = tile / p.panels;
  const Range rows = TileRange(piece, kPieceRows, p.rows);
  const Range columns = TileRange(tile % p.panels, kPanel, p.columns);
  float* y = p.pieces == 1 ? launch.Out<float>(run, 0) : launch.Scratch<float>(run) + piece * p.columns;
  SumColumns(launch.In<float>(run, 0) + rows.begin * p.columns + columns.begin, rows.end - rows.begin, p.columns,
             columns.end - columns.begin, y + columns.begin);
}

void FoldColumnSum(const Launch& launch, const KernelRun& run, int64_t) {
  const auto& p = *static_cast<const ColumnSumParams*>(launch.params);
  SumColumns(launch.Scratch<float>(run), p.pieces, p.columns, p.columns, launch.Out<float>(run, 0));
}

PreparedKernel PrepareColumnSum(int64_t rows, int64_t columns) {
  ColumnSumParams p;
  p.rows = rows;
  p.columns = columns;
  p.pieces = std::max<int64_t>(1, CeilDiv(rows, kPieceRows));
  p.panels = CeilDiv(columns, kPanel);
  PreparedKernel kernel = OnePhase(p, RunColumnSum, p.pieces * p.panels);
  if (p.pieces > 1) {
    kernel.phases.push_back({FoldColumnSum, 1});
    kernel.scratch_bytes = p.pieces * columns * sizeof(float);
  }
  return kernel;
}

absl::StatusOr<PreparedKernel> PrepareBiasAddGrad(const KernelRequest& request) {
  const int64_t columns = request.outputs[0].shape.dim(0);
  return PrepareColumnSum(columns == 0 ? 0 : request.inputs[0].shape.num_elements() / columns, columns);
}

// --- Sum and Mean over any axes. Floats are summed in float64, but for float32 sums over leading axes, which are
// column sums; integers modulo 2^64. Mean, of floats only, divides once in float64.

struct ReduceParams {
  struct Dim {
    int64_t size;
    int64_t stride;  // in the output; 0: reduced
  };
  absl::InlinedVector<Dim, 4> dims;  // outermost first, without those of size 1
  int64_t inputs = 0, outputs = 0;
  int64_t divisor = 1;  // 0: of nothing
  bool mean = false;
};

// Sums the last dimension (size n, output stride 0 or 1) into `sum`.
template <typename T, typename Acc>
void AddLine(const T* x, int64_t n, int64_t stride, Acc* sum) {
  if (stride != 0) {
    for (int64_t i = 0; i < n; ++i) sum[i * stride] += static_cast<Acc>(x[i]);
    return;
  }
  Acc lanes[8] = {};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (int lane = 0; lane < 8; ++lane) lanes[lane] += static_cast<Acc>(x[i + lane]);
  }
  for (; i < n; ++i) lanes[0] += static_cast<Acc>(x[i]);
  *sum += ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

template <typename T, typename Acc>
void AddAll(const ReduceParams& p, size_t dim, const T*& x, Acc* sum) {
  if (dim + 1 >= p.dims.size()) {
    const int64_t n = p.dims.empty() ? 1 : p.dims[dim].size;
    AddLine(x, n, p.dims.empty() ? 0 : p.dims[dim].stride, sum);
    x += n;
    return;
  }
  for (int64_t i = 0; i < p.dims[dim].size; ++i) AddAll(p, dim + 1, x, sum + i * p.dims[dim].stride);
}

template <typename T>
void RunReduce(const Launch& launch, const KernelRun& run, int64_t) {
  using Acc = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
  const auto& p = *static_cast<const ReduceParams*>(launch.params);
  T* y = launch.Out<T>(run, 0);
  Acc one = 0;
  Acc* sum = p.outputs == 1 ? &one : launch.Scratch<Acc>(run);
  std::fill(sum, sum + p.outputs, Acc(0));
  const T* x = launch.In<T>(run, 0);
  if (p.inputs > 0) AddAll(p, 0, x, sum);
  for (int64_t i = 0; i < p.outputs; ++i) {
    y[i] =
        p.mean ? static_cast<T>(static_cast<double>(sum[i]) / static_cast<double>(p.divisor)) : static_cast<T>(sum[i]);
  }
}

std::vector<int64_t> ConstantInts(const Tensor& tensor) {
  std::vector<int64_t> ints;
  for (int64_t i = 0; tensor.has_value() && i < tensor.num_elements(); ++i) {
    ints.push_back(tensor.dtype() == DType::kI32 ? tensor.values<int32_t>()[i] : tensor.values<int64_t>()[i]);
  }
  return ints;
}

absl::StatusOr<ReduceParams> MakeReduceParams(const KernelRequest& request) {
  const Shape& input = request.inputs[0].shape;
  if (request.constants.size() < 2 || !request.constants[1].has_value()) {
    return absl::InvalidArgumentError("the axes must be a Const");
  }
  std::vector<bool> reduced(input.rank(), false);
  for (const int64_t axis : ConstantInts(request.constants[1])) reduced[axis < 0 ? axis + input.rank() : axis] = true;
  ReduceParams p;
  p.inputs = input.num_elements();
  p.outputs = request.outputs[0].shape.num_elements();
  p.mean = request.op == "Mean";
  int64_t stride = 1;
  for (int i = input.rank() - 1; i >= 0; --i) {
    const int64_t size = input.dim(i);
    if (reduced[i]) p.divisor *= size;
    if (size != 1) {
      const ReduceParams::Dim dim{size, reduced[i] ? 0 : stride};
      const bool merge = !p.dims.empty() && (dim.stride == 0) == (p.dims.front().stride == 0);
      if (merge) {
        p.dims.front().size *= size;
      } else {
        p.dims.insert(p.dims.begin(), dim);
      }
    }
    if (!reduced[i]) stride *= size;
  }
  return p;
}

template <typename T>
absl::StatusOr<PreparedKernel> PrepareReduce(const KernelRequest& request) {
  COHORT_ASSIGN_OR_RETURN(ReduceParams p, MakeReduceParams(request));
  if (std::is_same_v<T, float> && !p.mean && p.dims.size() == 2 && p.dims[0].stride == 0 && p.dims[1].size >= 8) {
    return PrepareColumnSum(p.dims[0].size, p.dims[1].size);
  }
  const size_t scratch_bytes = p.outputs > 1 ? p.outputs * sizeof(double) : 0;
  const int64_t tiles = p.outputs > 0 ? 1 : 0;
  return OnePhase(std::move(p), RunReduce<T>, tiles, scratch_bytes);
}

// --- ArgMax: the first of equals

struct ArgMaxParams {
  AxisSplit split;
  int64_t piece = 1;
};

template <typename T, typename Index>
void RunArgMax(const Launch& launch, const KernelRun& run, int64_t tile) {
  const auto& p = *static_cast<const ArgMaxParams*>(launch.params);
  const Range range = TileRange(tile, p.piece, p.split.outer);
  const T* x = launch.In<T>(run, 0);
  Index* y = launch.Out<Index>(run, 0);
  for (int64_t o = range.begin; o < range.end; ++o) {
    for (int64_t i = 0; i < p.split.inner; ++i) {
      const T* line = x + o * p.split.axis * p.split.inner + i;
      Index best = 0;
      T value = line[0];
      for (int64_t k = 1; k < p.split.axis; ++k) {
        const T candidate = line[k * p.split.inner];
        best = candidate > value ? static_cast<Index>(k) : best;
        value = candidate > value ? candidate : value;
      }
      y[o * p.split.inner + i] = best;
    }
  }
}

template <typename T>
absl::StatusOr<PreparedKernel> PrepareArgMax(const KernelRequest& request) {
  const Shape& input = request.inputs[0].shape;
  if (request.constants.size() < 2 || !request.constants[1].has_value()) {
    return absl::InvalidArgumentError("the axis must be a Const");
  }
  const int64_t axis = ConstantInts(request.constants[1])[0];
  ArgMaxParams p;
  p.split = SplitAt(input, static_cast<int>(axis < 0 ? axis + input.rank() : axis));
  if (p.split.axis == 0 && p.split.outer * p.split.inner > 0) {
    return absl::InvalidArgumentError("the maximum over an empty dimension");
  }
  p.piece = std::max<int64_t>(1, kTileElements / std::max<int64_t>(p.split.axis * p.split.inner, 1));
  const int64_t tiles = CeilDiv(p.split.outer, p.piece);
  if (request.outputs[0].dtype == DType::kI32) return OnePhase(p, RunArgMax<T, int32_t>, tiles);
  return OnePhase(p, RunArgMax<T, int64_t>, tiles);
}

constexpr Kernel kKernels[] = {
    {"BiasAddGrad", DType::kF32, PrepareBiasAddGrad}, {"Sum", DType::kF32, PrepareReduce<float>},
    {"Sum", DType::kF64, PrepareReduce<double>},      {"Sum", DType::kI32, PrepareReduce<int32_t>},
    {"Sum", DType::kI64, PrepareReduce<int64_t>},     {"Mean", DType::kF32, PrepareReduce<float>},
    {"Mean", DType::kF64, PrepareReduce<double>},     {"ArgMax", DType::kF32, PrepareArgMax<float>},
    {"ArgMax", DType::kF64, PrepareArgMax<double>},   {"ArgMax", DType::kI32, PrepareArgMax<int32_t>},
    {"ArgMax", DType::kI64, PrepareArgMax<int64_t>},
};

}  // namespace

absl::Span<const Kernel> ReductionKernels() { return kKernels; }

}  // namespace cohort::cpu
