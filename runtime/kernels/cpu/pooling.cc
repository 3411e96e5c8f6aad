#include <limits>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/base/vectorized.h"
#include "runtime/graph/window.h"
#include "runtime/kernels/cpu/prepare.h"
#include "runtime/kernels/cpu/tables.h"

namespace cohort::cpu {
namespace {

// Images are [batch, height, width, channels]; a tile is one image.
struct PoolParams {
  int64_t batch = 0, height = 0, width = 0, channels = 0;
  int64_t out_height = 0, out_width = 0;
  int64_t window_height = 0, window_width = 0, stride_height = 0, stride_width = 0;
  int64_t pad_top = 0, pad_left = 0;
  bool cover = false;  // windows do not overlap
  bool mask = false;   // a fourth input: gradients pass where it is > 0
};

absl::StatusOr<PoolParams> MakePoolParams(const KernelRequest& request) {
  const Shape& input = request.inputs[0].shape;
  const auto size = GetAttributeOr<std::vector<int64_t>>(request.attributes, "ksize", {});
  const auto strides = GetAttributeOr<std::vector<int64_t>>(request.attributes, "strides", {});
  const auto padding = GetAttributeOr<std::string>(request.attributes, "padding", "");
  if (size.size() != 4 || strides.size() != 4) return absl::InvalidArgumentError("ksize and strides need 4 elements");
  COHORT_ASSIGN_OR_RETURN(const Window rows, WindowOver(input.dim(1), size[1], strides[1], padding));
  COHORT_ASSIGN_OR_RETURN(const Window columns, WindowOver(input.dim(2), size[2], strides[2], padding));
  PoolParams p;
  p.batch = input.dim(0);
  p.height = input.dim(1);
  p.width = input.dim(2);
  p.channels = input.dim(3);
  p.out_height = rows.output;
  p.out_width = columns.output;
  p.window_height = size[1];
  p.window_width = size[2];
  p.stride_height = strides[1];
  p.stride_width = strides[2];
  p.pad_top = rows.pad_before;
  p.pad_left = columns.pad_before;
  p.cover = size[1] <= strides[1] && size[2] <= strides[2];
  return p;
}

// The part of a window that lies in the image.
struct Clip {
  int64_t top, bottom, left, right;
};
inline Clip ClipWindow(const PoolParams& p, int64_t oh, int64_t ow) {
  const int64_t top = oh * p.stride_height - p.pad_top, left = ow * p.stride_width - p.pad_left;
  return {std::max<int64_t>(top, 0), std::min(top + p.window_height, p.height), std::max<int64_t>(left, 0),
          std::min(left + p.window_width, p.width)};
}

COHORT_VECTORIZED void MaxInto(const float* __restrict x, float* __restrict y, int64_t n) {
  for (int64_t c = 0; c < n; ++c) y[c] = x[c] > y[c] ? x[c] : y[c];
}

COHORT_VECTORIZED void MaxOfFour(const float* __restrict a, const float* __restrict b, const float* __restrict c,
                                 const float* __restrict d, float* __restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const float ab = a[i] > b[i] ? a[i] : b[i];
    const float cd = c[i] > d[i] ? c[i] : d[i];
    y[i] = ab > cd ? ab : cd;
  }
}

void RunMaxPool(const Launch& launch, const KernelRun& run, int64_t image) {
  const auto& p = *static_cast<const PoolParams*>(launch.params);
  const float* x = launch.In<float>(run, 0) + image * p.height * p.width * p.channels;
  float* y = launch.Out<float>(run, 0) + image * p.out_height * p.out_width * p.channels;
  const int64_t line = p.width * p.channels;
  for (int64_t oh = 0; oh < p.out_height; ++oh) {
    for (int64_t ow = 0; ow < p.out_width; ++ow, y += p.channels) {
      const Clip clip = ClipWindow(p, oh, ow);
      const float* first = x + clip.top * line + clip.left * p.channels;
      if (clip.bottom - clip.top == 2 && clip.right - clip.left == 2) {
        MaxOfFour(first, first + p.channels, first + line, first + line + p.channels, y, p.channels);
        continue;
      }
      std::copy(first, first + p.channels, y);
      for (int64_t h = clip.top; h < clip.bottom; ++h) {
        for (int64_t w = clip.left; w < clip.right; ++w) MaxInto(x + h * line + w * p.channels, y, p.channels);
      }
    }
  }
}

absl::StatusOr<PreparedKernel> PrepareMaxPool(const KernelRequest& request) {
  COHORT_ASSIGN_OR_RETURN(PoolParams p, MakePoolParams(request));
  return OnePhase(p, RunMaxPool, p.batch);
}

// --- MaxPoolGrad(input, output, gradient[, mask]): the gradient goes to the first element that is the window's
// maximum; with `positive` only where that is > 0.

COHORT_VECTORIZED void RouteFour(const float* __restrict a, const float* __restrict b, const float* __restrict c,
                                 const float* __restrict d, const float* __restrict y, const float* __restrict dy,
                                 float* __restrict da, float* __restrict db, float* __restrict dc, float* __restrict dd,
                                 int64_t n, bool positive) {
  for (int64_t i = 0; i < n; ++i) {
    const float max = y[i];
    float rest = !positive || max > 0.0f ? dy[i] : 0.0f;  // what nobody has taken yet
    da[i] = a[i] == max ? rest : 0.0f;
    rest = a[i] == max ? 0.0f : rest;
    db[i] = b[i] == max ? rest : 0.0f;
    rest = b[i] == max ? 0.0f : rest;
    dc[i] = c[i] == max ? rest : 0.0f;
    rest = c[i] == max ? 0.0f : rest;
    dd[i] = d[i] == max ? rest : 0.0f;
  }
}

COHORT_VECTORIZED void Masked(const float* dy, const float* __restrict mask, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = mask[i] > 0.0f ? dy[i] : 0.0f;
}

// Any window: channel by channel.
void RouteWindow(const PoolParams& p, const Clip& clip, const float* x, const float* y, const float* dy, float* dx,
                 bool positive) {
  const int64_t line = p.width * p.channels;
  for (int64_t c = 0; c < p.channels; ++c) {
    bool found = positive && !(y[c] > 0);
    for (int64_t h = clip.top; h < clip.bottom && !found; ++h) {
      for (int64_t w = clip.left; w < clip.right && !found; ++w) {
        const int64_t at = h * line + w * p.channels + c;
        found = x[at] == y[c];
        if (found) dx[at] += dy[c];
      }
    }
  }
}

void RunMaxPoolGrad(const Launch& launch, const KernelRun& run, int64_t image) {
  const auto& p = *static_cast<const PoolParams*>(launch.params);
  const int64_t size = p.height * p.width * p.channels, out_size = p.out_height * p.out_width * p.channels;
  const float* x = launch.In<float>(run, 0) + image * size;
  const float* y = launch.In<float>(run, 1) + image * out_size;
  const float* dy = launch.In<float>(run, 2) + image * out_size;
  float* dx = launch.Out<float>(run, 0) + image * size;
  const int64_t line = p.width * p.channels, n = p.channels;
  // Mostly the mask is the pooled image itself: then it is positive where its maximum is.
  const bool positive = p.mask && launch.inputs[3] == launch.inputs[0];
  const bool whole = p.cover && p.out_height * 2 == p.height && p.out_width * 2 == p.width;
  if (!whole) std::fill(dx, dx + size, 0.0f);
  for (int64_t oh = 0; oh < p.out_height; ++oh) {
    for (int64_t ow = 0; ow < p.out_width; ++ow, y += n, dy += n) {
      const Clip clip = ClipWindow(p, oh, ow);
      const int64_t at = clip.top * line + clip.left * n;
      if (p.cover && clip.bottom - clip.top == 2 && clip.right - clip.left == 2) {
        RouteFour(x + at, x + at + n, x + at + line, x + at + line + n, y, dy, dx + at, dx + at + n, dx + at + line,
                  dx + at + line + n, n, positive);
      } else {
        RouteWindow(p, clip, x, y, dy, dx, positive);
      }
    }
  }
  if (p.mask && !positive) Masked(dx, launch.In<float>(run, 3) + image * size, dx, size);
}

absl::StatusOr<PreparedKernel> PrepareMaxPoolGrad(const KernelRequest& request) {
  COHORT_ASSIGN_OR_RETURN(PoolParams p, MakePoolParams(request));
  p.mask = GetAttributeOr(request.attributes, "_mask", false);
  return OnePhase(p, RunMaxPoolGrad, p.batch);
}

constexpr Kernel kKernels[] = {
    {"MaxPool", DType::kF32, PrepareMaxPool},
    {"MaxPoolGrad", DType::kF32, PrepareMaxPoolGrad},
    {"_FusedMaxPoolGrad", DType::kF32, PrepareMaxPoolGrad},
};

}  // namespace

absl::Span<const Kernel> PoolingKernels() { return kKernels; }

}  // namespace cohort::cpu
