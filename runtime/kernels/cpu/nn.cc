#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "runtime/base/vectorized.h"
#include "runtime/kernels/cpu/exp.h"
#include "runtime/kernels/cpu/prepare.h"
#include "runtime/kernels/cpu/tables.h"

namespace cohort::cpu {
namespace {

// --- SparseSoftmaxCrossEntropyWithLogits(features f32 [batch, classes], labels [batch]) -> loss [batch], backprop
// [batch, classes]: with s_j = exp(x_j - max x), loss = log(sum s) - (x_label - max x), backprop = s / sum s - onehot.

struct CrossEntropyParams {
  int64_t batch = 0, classes = 0, piece = 1;
  std::string name;
};

COHORT_VECTORIZED float SoftmaxRow(const float* __restrict x, float* __restrict y, int64_t n, float* max_out) {
  float max = x[0];
  for (int64_t j = 1; j < n; ++j) max = x[j] > max ? x[j] : max;
  for (int64_t j = 0; j < n; ++j) y[j] = VectorExp(x[j] - max);
  float lanes[8] = {};  // a fixed order, whatever the vector's width
  int64_t j = 0;
  for (; j + 8 <= n; j += 8) {
    for (int lane = 0; lane < 8; ++lane) lanes[lane] += y[j + lane];
  }
  for (; j < n; ++j) lanes[0] += y[j];
  const float sum = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
  const float scale = 1.0f / sum;
  for (j = 0; j < n; ++j) y[j] *= scale;
  *max_out = max;
  return sum;
}

template <typename Label>
void RunCrossEntropy(const Launch& launch, const KernelRun& run, int64_t tile) {
  const auto& p = *static_cast<const CrossEntropyParams*>(launch.params);
  const Range rows = TileRange(tile, p.piece, p.batch);
  const float* x = launch.In<float>(run, 0);
  const Label* labels = launch.In<Label>(run, 1);
  float* loss = launch.Out<float>(run, 0);
  float* backprop = launch.Out<float>(run, 1);
  for (int64_t i = rows.begin; i < rows.end; ++i) {
    const int64_t label = labels[i];
    if (label < 0 || label >= p.classes) {
      run.errors->Report(absl::InvalidArgumentError(
          absl::StrCat("node '", p.name, "': label ", label, " of example ", i, " is not in [0, ", p.classes, ")")));
      loss[i] = std::numeric_limits<float>::quiet_NaN();
      std::fill(backprop + i * p.classes, backprop + (i + 1) * p.classes, 0.0f);
      continue;
    }
    float max = 0;
    const float sum = SoftmaxRow(x + i * p.classes, backprop + i * p.classes, p.classes, &max);
    loss[i] = std::log(sum) - (x[i * p.classes + label] - max);
    backprop[i * p.classes + label] -= 1.0f;
  }
}

absl::StatusOr<PreparedKernel> PrepareCrossEntropy(const KernelRequest& request) {
  CrossEntropyParams p;
  p.batch = request.inputs[0].shape.dim(0);
  p.classes = request.inputs[0].shape.dim(1);
  p.name = std::string(request.name);
  p.piece = std::max<int64_t>(1, kTileElements / 8 / std::max<int64_t>(p.classes, 1));
  const int64_t tiles = CeilDiv(p.batch, p.piece);
  if (request.inputs[1].dtype == DType::kI32) return OnePhase(std::move(p), RunCrossEntropy<int32_t>, tiles);
  if (request.inputs[1].dtype == DType::kI64) return OnePhase(std::move(p), RunCrossEntropy<int64_t>, tiles);
  return absl::InvalidArgumentError(absl::StrCat("labels must be int32 or int64, not ", request.inputs[1].ToString()));
}

constexpr Kernel kKernels[] = {
    {"SparseSoftmaxCrossEntropyWithLogits", DType::kF32, PrepareCrossEntropy},
};

}  // namespace

absl::Span<const Kernel> NnKernels() { return kKernels; }

}  // namespace cohort::cpu
