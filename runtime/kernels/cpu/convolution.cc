#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/base/vectorized.h"
#include "runtime/graph/window.h"
#include "runtime/kernels/cpu/gemm.h"
#include "runtime/kernels/cpu/prepare.h"
#include "runtime/kernels/cpu/tables.h"

// Convolutions as products of matrices. Images are [batch, height, width, channels], filters [height, width, in, out],
// so that a filter is a matrix [taps * in, out] as it lies. A patch is what a filter sees at one position: a row of
// taps * in elements. A chunk of patches is gathered at a time, small enough for the second-level cache, and
// multiplied.
namespace cohort::cpu {
namespace {

constexpr int64_t kChunkElements = 48 * 1024;  // of gathered patches: 192 KB, on the stack
constexpr int64_t kFrameElements = 16 * 1024;  // of an image with its padding, on the stack too
constexpr int64_t kPieces = 8;                 // of the batch, whose filter gradients are folded in order

struct ConvParams {
  int64_t batch = 0, height = 0, width = 0, in = 0, out = 0;
  int64_t out_height = 0, out_width = 0;
  int64_t filter_height = 0, filter_width = 0, stride_height = 0, stride_width = 0;
  int64_t pad_top = 0, pad_left = 0;
  int64_t patch = 0;      // elements of a patch
  int64_t positions = 0;  // patches of an image
  int64_t chunk = 0;      // patches gathered at a time
  // A frame of zeros around the image, if it is small enough to be copied there.
  int64_t frame_height = 0, frame_width = 0;
  bool framed = false;
  bool pointwise = false;  // 1 x 1, stride 1: patches are the pixels as they lie
  int bias = -1, mask = -1;
  bool relu = false;
  int64_t pieces = 1, images = 1;  // of a piece (filter gradient)
};

absl::StatusOr<ConvParams> MakeConvParams(const KernelRequest& request, const Shape& input, const Shape& filter) {
  const auto strides = GetAttributeOr<std::vector<int64_t>>(request.attributes, "strides", {});
  const auto padding = GetAttributeOr<std::string>(request.attributes, "padding", "");
  if (strides.size() != 4) return absl::InvalidArgumentError("strides need 4 elements");
  COHORT_ASSIGN_OR_RETURN(const Window rows, WindowOver(input.dim(1), filter.dim(0), strides[1], padding));
  COHORT_ASSIGN_OR_RETURN(const Window columns, WindowOver(input.dim(2), filter.dim(1), strides[2], padding));
  ConvParams p;
  p.batch = input.dim(0);
  p.height = input.dim(1);
  p.width = input.dim(2);
  p.in = input.dim(3);
  p.out = filter.dim(3);
  p.out_height = rows.output;
  p.out_width = columns.output;
  p.filter_height = filter.dim(0);
  p.filter_width = filter.dim(1);
  p.stride_height = strides[1];
  p.stride_width = strides[2];
  p.pad_top = rows.pad_before;
  p.pad_left = columns.pad_before;
  p.patch = p.filter_height * p.filter_width * p.in;
  p.positions = p.out_height * p.out_width;
  if (p.patch > kChunkElements) {
    return absl::InvalidArgumentError(
        absl::StrCat("a filter of ", p.patch, " elements for each output; at most ", kChunkElements, " are possible"));
  }
  p.chunk = std::min(p.positions, kChunkElements / std::max<int64_t>(p.patch, 1));
  p.frame_height = std::max((p.out_height - 1) * p.stride_height + p.filter_height, p.pad_top + p.height);
  p.frame_width = std::max((p.out_width - 1) * p.stride_width + p.filter_width, p.pad_left + p.width);
  const bool is_padded = p.frame_height > p.height || p.frame_width > p.width;
  p.framed = is_padded && p.frame_height * p.frame_width * p.in <= kFrameElements;
  p.pointwise = p.patch == p.in && p.stride_height == 1 && p.stride_width == 1;
  return p;
}

// Of a copy of the filter, at least 1: its phases ask for their scratch memory if a filter without elements has none.
size_t FilterBytes(const ConvParams& p) { return std::max<size_t>(p.patch * p.out * sizeof(float), 1); }

// Which taps of a filter's row lie in the image at one position: [first, last).
struct Taps {
  int64_t first, last;
};
inline Taps TapsInside(int64_t start, int64_t size, int64_t limit) {
  return {std::max<int64_t>(0, -start), std::max<int64_t>(0, std::min(size, limit - start))};
}

constexpr int64_t kSlack = 16;  // floats behind the patches that a copy may run over

typedef float Lanes __attribute__((vector_size(64), aligned(4), may_alias));
typedef float HalfLanes __attribute__((vector_size(32), aligned(4), may_alias));

// Copies n floats in whole vectors: up to kSlack - 1 more are read and written.
[[gnu::always_inline]] inline void CopyLoosely(const float* from, int64_t n, float* to) {
  if (n <= 8) {
    *reinterpret_cast<HalfLanes*>(to) = *reinterpret_cast<const HalfLanes*>(from);
    return;
  }
  for (int64_t i = 0; i < n; i += 16) *reinterpret_cast<Lanes*>(to + i) = *reinterpret_cast<const Lanes*>(from + i);
}

// One line of taps, some of which may lie beside the image.
void GatherEdge(const ConvParams& p, const float* row, int64_t left, const Taps& taps, float* line) {
  for (int64_t k = 0; k < p.filter_width; ++k) {
    for (int64_t c = 0; c < p.in; ++c) {
      line[k * p.in + c] = row != nullptr && k >= taps.first && k < taps.last ? row[(left + k) * p.in + c] : 0.0f;
    }
  }
}

// An image that patches are gathered from: as it lies, or copied into a frame of zeros so that no patch has an edge.
struct Source {
  const float* data;
  const float* end;  // nothing is read behind it
  int64_t height, width, pad_top, pad_left;
};

Source FrameImage(const ConvParams& p, const float* image, const float* end, float* frame) {
  if (!p.framed) return {image, end, p.height, p.width, p.pad_top, p.pad_left};
  const int64_t line = p.frame_width * p.in;
  std::memset(frame, 0, p.frame_height * line * sizeof(float));
  float* to = frame + p.pad_top * line + p.pad_left * p.in;
  for (int64_t h = 0; h < p.height; ++h) {
    std::memcpy(to + h * line, image + h * p.width * p.in, p.width * p.in * sizeof(float));
  }
  return {frame, frame + kFrameElements + kSlack, p.frame_height, p.frame_width, 0, 0};
}

// Patches [first, first + count) of one image into rows of `patches`. Lines are written in ascending order, so that
// what a copy writes too much is overwritten by the next.
COHORT_VECTORIZED void Gather(const ConvParams& p, const Source& source, int64_t first, int64_t count, float* patches) {
  const int64_t line = p.filter_width * p.in;
  int64_t oh = first / p.out_width, ow = first % p.out_width;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t top = oh * p.stride_height - source.pad_top, left = ow * p.stride_width - source.pad_left;
    const Taps taps = TapsInside(left, p.filter_width, source.width);
    const bool inside = taps.first == 0 && taps.last == p.filter_width;
    for (int64_t kh = 0; kh < p.filter_height; ++kh, patches += line) {
      const int64_t h = top + kh;
      const float* row = h < 0 || h >= source.height ? nullptr : source.data + h * source.width * p.in;
      if (inside && row != nullptr && row + left * p.in + line + kSlack <= source.end) {
        CopyLoosely(row + left * p.in, line, patches);
      } else {
        GatherEdge(p, row, left, taps, patches);
      }
    }
    if (++ow == p.out_width) {
      ow = 0;
      ++oh;
    }
  }
}

// The inverse: adds the rows of `patches` to where they came from.
COHORT_VECTORIZED void Scatter(const ConvParams& p, const float* __restrict patches, int64_t first, int64_t count,
                               float* __restrict image) {
  const int64_t line = p.filter_width * p.in;
  int64_t oh = first / p.out_width, ow = first % p.out_width;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t top = oh * p.stride_height - p.pad_top, left = ow * p.stride_width - p.pad_left;
    const Taps taps = TapsInside(left, p.filter_width, p.width);
    const int64_t n = (taps.last - taps.first) * p.in;
    for (int64_t kh = 0; kh < p.filter_height; ++kh, patches += line) {
      const int64_t h = top + kh;
      if (h < 0 || h >= p.height) continue;
      float* to = image + (h * p.width + left + taps.first) * p.in;
      const float* from = patches + taps.first * p.in;
      for (int64_t k = 0; k < n; ++k) to[k] += from[k];
    }
    if (++ow == p.out_width) {
      ow = 0;
      ++oh;
    }
  }
}

COHORT_VECTORIZED void Mask(const float* __restrict mask, float* __restrict x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] = mask[i] > 0.0f ? x[i] : 0.0f;
}

COHORT_VECTORIZED void AddTo(const float* __restrict x, float* __restrict sum, int64_t n) {
  for (int64_t i = 0; i < n; ++i) sum[i] += x[i];
}

// --- Conv2D(input, filter), _FusedConv2D(input, filter[, bias]): a tile is one image

void RunConv(const Launch& launch, const KernelRun& run, int64_t image) {
  const auto& p = *static_cast<const ConvParams*>(launch.params);
  const int64_t size = p.height * p.width * p.in;
  const float* x = launch.In<float>(run, 0) + image * size;
  const float* end = launch.In<float>(run, 0) + p.batch * size;
  float* y = launch.Out<float>(run, 0) + image * p.positions * p.out;
  alignas(64) float patches[kChunkElements + kSlack];
  alignas(64) float frame[kFrameElements + kSlack];
  const Source source = FrameImage(p, x, end, frame);
  Gemm gemm;
  gemm.n = gemm.ldb = gemm.ldc = p.out;
  gemm.k = gemm.lda = p.patch;
  gemm.b = launch.In<float>(run, 1);
  gemm.bias = p.bias < 0 ? nullptr : launch.In<float>(run, p.bias);
  gemm.relu = p.relu;
  for (int64_t first = 0; first < p.positions; first += p.chunk) {
    gemm.m = std::min(p.chunk, p.positions - first);
    gemm.a = x + first * p.in;
    if (!p.pointwise) {
      Gather(p, source, first, gemm.m, patches);
      gemm.a = patches;
    }
    gemm.c = y + first * p.out;
    RunGemm(gemm);
  }
}

absl::StatusOr<PreparedKernel> PrepareConv(const KernelRequest& request) {
  COHORT_ASSIGN_OR_RETURN(ConvParams p, MakeConvParams(request, request.inputs[0].shape, request.inputs[1].shape));
  if (GetAttributeOr(request.attributes, "_bias", false)) p.bias = 2;
  p.relu = GetAttributeOr(request.attributes, "_relu", false);
  return OnePhase(p, RunConv, p.positions * p.out > 0 ? p.batch : 0);
}

// --- Conv2DBackpropInput(sizes, filter, dy), with _mask a fourth input: gradients pass where it is > 0

// The filter [patch, out] transposed, once for all images.
void TransposeFilter(const Launch& launch, const KernelRun& run, int64_t) {
  const auto& p = *static_cast<const ConvParams*>(launch.params);
  const float* filter = launch.In<float>(run, 1);
  float* transposed = launch.Scratch<float>(run);
  for (int64_t i = 0; i < p.patch; ++i) {
    for (int64_t j = 0; j < p.out; ++j) transposed[j * p.patch + i] = filter[i * p.out + j];
  }
}

void RunConvInputGrad(const Launch& launch, const KernelRun& run, int64_t image) {
  const auto& p = *static_cast<const ConvParams*>(launch.params);
  const int64_t size = p.height * p.width * p.in;
  const float* dy = launch.In<float>(run, 2) + image * p.positions * p.out;
  float* dx = launch.Out<float>(run, 0) + image * size;
  alignas(64) float patches[kChunkElements + kSlack];
  Gemm gemm;  // patches = dy * filter^T
  gemm.n = gemm.ldc = p.patch;
  gemm.k = gemm.lda = p.out;
  gemm.ldb = p.patch;
  gemm.b = launch.Scratch<float>(run);
  gemm.c = patches;
  std::memset(dx, 0, size * sizeof(float));
  for (int64_t first = 0; first < p.positions; first += p.chunk) {
    gemm.m = std::min(p.chunk, p.positions - first);
    gemm.a = dy + first * p.out;
    RunGemm(gemm);
    Scatter(p, patches, first, gemm.m, dx);
  }
  if (p.mask < 0) return;
  Mask(launch.In<float>(run, p.mask) + image * size, dx, size);
}

absl::StatusOr<PreparedKernel> PrepareConvInputGrad(const KernelRequest& request) {
  if (request.outputs[0].dtype != DType::kF32) return absl::InvalidArgumentError("only float32 on the CPU");
  COHORT_ASSIGN_OR_RETURN(ConvParams p, MakeConvParams(request, request.outputs[0].shape, request.inputs[1].shape));
  if (GetAttributeOr(request.attributes, "_mask", false)) p.mask = 3;
  const int64_t images = p.height * p.width * p.in > 0 ? p.batch : 0;
  PreparedKernel kernel = OnePhase(p, TransposeFilter, images > 0 ? 1 : 0, FilterBytes(p));
  kernel.phases.push_back({RunConvInputGrad, images});
  return kernel;
}

// --- Conv2DBackpropFilter(input, sizes, dy): a tile is a piece of the batch

void RunConvFilterGrad(const Launch& launch, const KernelRun& run, int64_t piece) {
  const auto& p = *static_cast<const ConvParams*>(launch.params);
  const Range images = TileRange(piece, p.images, p.batch);
  alignas(64) float patches[kChunkElements + kSlack];
  alignas(64) float frame[kFrameElements + kSlack];
  Gemm gemm;  // filter gradient += patches^T * dy
  gemm.m = gemm.lda = p.patch;
  gemm.n = gemm.ldb = gemm.ldc = p.out;
  gemm.a_transposed = true;
  gemm.c = p.pieces == 1 ? launch.Out<float>(run, 0) : launch.Scratch<float>(run) + piece * p.patch * p.out;
  const int64_t size = p.height * p.width * p.in;
  const float* end = launch.In<float>(run, 0) + p.batch * size;
  for (int64_t image = images.begin; image < images.end; ++image) {
    const float* x = launch.In<float>(run, 0) + image * size;
    const Source source = FrameImage(p, x, end, frame);
    const float* dy = launch.In<float>(run, 2) + image * p.positions * p.out;
    for (int64_t first = 0; first < p.positions; first += p.chunk) {
      gemm.k = std::min(p.chunk, p.positions - first);
      gemm.a = x + first * p.in;
      if (!p.pointwise) {
        Gather(p, source, first, gemm.k, patches);
        gemm.a = patches;
      }
      gemm.b = dy + first * p.out;
      RunGemm(gemm);
      gemm.accumulate = true;
    }
  }
  if (!gemm.accumulate) std::memset(gemm.c, 0, p.patch * p.out * sizeof(float));
}

void FoldFilterGrad(const Launch& launch, const KernelRun& run, int64_t) {
  const auto& p = *static_cast<const ConvParams*>(launch.params);
  const int64_t n = p.patch * p.out;
  const float* pieces = launch.Scratch<float>(run);
  float* y = launch.Out<float>(run, 0);
  std::memcpy(y, pieces, n * sizeof(float));
  for (int64_t piece = 1; piece < p.pieces; ++piece) AddTo(pieces + piece * n, y, n);
}

absl::StatusOr<PreparedKernel> PrepareConvFilterGrad(const KernelRequest& request) {
  COHORT_ASSIGN_OR_RETURN(ConvParams p, MakeConvParams(request, request.inputs[0].shape, request.outputs[0].shape));
  p.images = std::max<int64_t>(1, CeilDiv(p.batch, kPieces));
  p.pieces = std::max<int64_t>(1, CeilDiv(p.batch, p.images));
  PreparedKernel kernel = OnePhase(p, RunConvFilterGrad, p.pieces);
  if (p.pieces > 1) {
    kernel.phases.push_back({FoldFilterGrad, 1});
    kernel.scratch_bytes = p.pieces * FilterBytes(p);
  }
  return kernel;
}

constexpr Kernel kKernels[] = {
    {"Conv2D", DType::kF32, PrepareConv},
    {"_FusedConv2D", DType::kF32, PrepareConv},
    {"Conv2DBackpropInput", DType::kInvalid, PrepareConvInputGrad},
    {"_FusedConv2DBackpropInput", DType::kInvalid, PrepareConvInputGrad},
    {"Conv2DBackpropFilter", DType::kF32, PrepareConvFilterGrad},
};

}  // namespace

absl::Span<const Kernel> ConvolutionKernels() { return kKernels; }

}  // namespace cohort::cpu
