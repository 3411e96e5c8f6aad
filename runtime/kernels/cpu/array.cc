#include <cstring>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/kernels/cpu/prepare.h"
#include "runtime/kernels/cpu/tables.h"

namespace cohort::cpu {
namespace {

// --- Gathers with strides: Transpose and BroadcastTo. y runs in order; x is read at stride times index.

struct StridedParams {
  struct Dim {
    int64_t size, stride;  // in x
  };
  absl::InlinedVector<Dim, 4> outer;  // innermost first
  int64_t inner = 1, inner_stride = 1;
  int64_t lines = 0, piece = 1;
};

template <typename T>
void RunStrided(const Launch& launch, const KernelRun& run, int64_t tile) {
  const auto& p = *static_cast<const StridedParams*>(launch.params);
  const Range lines = TileRange(tile, p.piece, p.lines);
  const T* x = launch.In<T>(run, 0);
  T* y = launch.Out<T>(run, 0) + lines.begin * p.inner;
  for (int64_t line = lines.begin; line < lines.end; ++line, y += p.inner) {
    const T* from = x;
    int64_t rest = line;
    for (const StridedParams::Dim& dim : p.outer) {
      from += rest % dim.size * dim.stride;
      rest /= dim.size;
    }
    for (int64_t i = 0; i < p.inner; ++i) y[i] = from[i * p.inner_stride];
  }
}

// Dimensions of y with their strides in x, innermost first.
absl::StatusOr<PreparedKernel> PrepareStrided(DType dtype, absl::Span<const StridedParams::Dim> dims) {
  StridedParams p;
  p.lines = 1;
  if (!dims.empty()) {
    p.inner = dims[0].size;
    p.inner_stride = dims[0].stride;
    for (const StridedParams::Dim& dim : dims.subspan(1)) {
      p.outer.push_back(dim);
      p.lines *= dim.size;
    }
  }
  p.piece = std::max<int64_t>(1, kTileElements / std::max<int64_t>(p.inner, 1));
  const int64_t tiles = p.inner == 0 ? 0 : CeilDiv(p.lines, p.piece);
  switch (DTypeSize(dtype)) {  // elements are only moved
    case 1:
      return OnePhase(std::move(p), RunStrided<uint8_t>, tiles);
    case 2:
      return OnePhase(std::move(p), RunStrided<uint16_t>, tiles);
    case 4:
      return OnePhase(std::move(p), RunStrided<uint32_t>, tiles);
    case 8:
      return OnePhase(std::move(p), RunStrided<uint64_t>, tiles);
    default:
      return absl::InvalidArgumentError(absl::StrCat("elements of ", DTypeName(dtype), " cannot be moved"));
  }
}

absl::StatusOr<PreparedKernel> PrepareTranspose(const KernelRequest& request) {
  const Shape& input = request.inputs[0].shape;
  if (request.constants.size() < 2 || !request.constants[1].has_value()) {
    return absl::InvalidArgumentError("the permutation must be a Const");
  }
  const Tensor& permutation = request.constants[1];
  absl::InlinedVector<int64_t, 4> strides(input.rank(), 1);
  for (int i = input.rank() - 2; i >= 0; --i) strides[i] = strides[i + 1] * input.dim(i + 1);
  absl::InlinedVector<StridedParams::Dim, 4> dims;
  for (int i = input.rank() - 1; i >= 0; --i) {
    const int64_t from =
        permutation.dtype() == DType::kI32 ? permutation.values<int32_t>()[i] : permutation.values<int64_t>()[i];
    dims.push_back({input.dim(from < 0 ? from + input.rank() : from), strides[from < 0 ? from + input.rank() : from]});
  }
  return PrepareStrided(request.inputs[0].dtype, dims);
}

// The target shape is that of the output, however the node says it.
absl::StatusOr<PreparedKernel> PrepareBroadcast(const KernelRequest& request) {
  const Shape& input = request.inputs[0].shape;
  const Shape& output = request.outputs[0].shape;
  absl::InlinedVector<StridedParams::Dim, 4> dims;
  int64_t stride = 1;
  for (int i = 0; i < output.rank(); ++i) {
    const int64_t size = i < input.rank() ? input.dim(input.rank() - 1 - i) : 1;
    dims.push_back({output.dim(output.rank() - 1 - i), size == 1 ? 0 : stride});
    stride *= size;
  }
  return PrepareStrided(request.inputs[0].dtype, dims);
}

// --- Size: known when the plan is made

template <typename T>
void RunSize(const Launch& launch, const KernelRun& run, int64_t) {
  *launch.Out<T>(run, 0) = static_cast<T>(*static_cast<const int64_t*>(launch.params));
}

absl::StatusOr<PreparedKernel> PrepareSize(const KernelRequest& request) {
  const int64_t size = request.inputs[0].shape.num_elements();
  if (request.outputs[0].dtype == DType::kI32) return OnePhase(size, RunSize<int32_t>, 1);
  return OnePhase(size, RunSize<int64_t>, 1);
}

// --- _Copy: of a value that must lie in a certain place

void RunCopy(const Launch& launch, const KernelRun& run, int64_t tile) {
  const Range range = TileRange(tile, kTileElements * 4, *static_cast<const int64_t*>(launch.params));
  std::memcpy(launch.Out<char>(run, 0) + range.begin, launch.In<char>(run, 0) + range.begin, range.end - range.begin);
}

absl::StatusOr<PreparedKernel> PrepareCopy(const KernelRequest& request) {
  const int64_t bytes = request.inputs[0].shape.num_elements() * DTypeSize(request.inputs[0].dtype);
  return OnePhase(bytes, RunCopy, CeilDiv(bytes, kTileElements * 4));
}

constexpr Kernel kKernels[] = {
    {"Transpose", DType::kInvalid, PrepareTranspose},
    {"BroadcastTo", DType::kInvalid, PrepareBroadcast},
    {"BroadcastLike", DType::kInvalid, PrepareBroadcast},
    {"Size", DType::kInvalid, PrepareSize},
    {"_Copy", DType::kInvalid, PrepareCopy},
};

}  // namespace

absl::Span<const Kernel> ArrayKernels() { return kKernels; }

}  // namespace cohort::cpu
