#include <cmath>
#include <cstdint>
#include <type_traits>

#include "absl/container/inlined_vector.h"
#include "runtime/base/vectorized.h"
#include "runtime/kernels/cpu/exp.h"
#include "runtime/kernels/cpu/modular.h"
#include "runtime/kernels/cpu/prepare.h"
#include "runtime/kernels/cpu/tables.h"

namespace cohort::cpu {
namespace {

#define COHORT_INLINE [[gnu::always_inline]] static inline

// --- one input

// Loops over float32 are compiled for each instruction set; the others are not worth their compile time.
template <typename Op>
COHORT_VECTORIZED void FloatMapLoop(const float* __restrict x, float* __restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = Op::Apply(x[i]);
}

template <typename In, typename Out, typename Op>
void MapLoop(const In* __restrict x, Out* __restrict y, int64_t n) {
  if constexpr (std::is_same_v<In, float> && std::is_same_v<Out, float>) {
    FloatMapLoop<Op>(x, y, n);
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = Op::Apply(x[i]);
  }
}

template <typename In, typename Out, typename Op>
void RunMap(const Launch& launch, const KernelRun& run, int64_t tile) {
  const Range range = TileRange(tile, kTileElements, *static_cast<const int64_t*>(launch.params));
  MapLoop<In, Out, Op>(launch.In<In>(run, 0) + range.begin, launch.Out<Out>(run, 0) + range.begin,
                       range.end - range.begin);
}

template <typename In, typename Out, typename Op>
absl::StatusOr<PreparedKernel> PrepareMap(const KernelRequest& request) {
  const int64_t n = request.outputs[0].shape.num_elements();
  return OnePhase(n, RunMap<In, Out, Op>, CeilDiv(n, kTileElements));
}

struct NegOp {
  template <typename T>
  COHORT_INLINE T Apply(T x) {
    return static_cast<T>(-Modular<T>(x));
  }
};
struct SquareOp {
  template <typename T>
  COHORT_INLINE T Apply(T x) {
    return static_cast<T>(Modular<T>(x) * Modular<T>(x));
  }
};
struct ReluOp {
  template <typename T>
  COHORT_INLINE T Apply(T x) {
    return x > T(0) ? x : T(0);
  }
};
struct ExpOp {
  COHORT_INLINE float Apply(float x) { return VectorExp(x); }
  COHORT_INLINE double Apply(double x) { return std::exp(x); }
};
struct SigmoidOp {
  COHORT_INLINE float Apply(float x) { return 1.0f / (1.0f + VectorExp(-x)); }
  COHORT_INLINE double Apply(double x) { return 1.0 / (1.0 + std::exp(-x)); }
};
struct LogOp {
  template <typename T>
  COHORT_INLINE T Apply(T x) {
    return std::log(x);
  }
};
struct TanhOp {
  template <typename T>
  COHORT_INLINE T Apply(T x) {
    return std::tanh(x);
  }
};
template <typename T, int kValue>
struct FillOp {
  COHORT_INLINE T Apply(T) { return static_cast<T>(kValue); }
};
template <typename Out>
struct CastOp {
  template <typename In>
  COHORT_INLINE Out Apply(In x) {
    if constexpr (std::is_same_v<Out, bool>) {
      return x != In(0);
    } else {
      return static_cast<Out>(x);
    }
  }
};

// --- Cast: every pair of these, chosen when the plan is made

template <typename In>
absl::StatusOr<PreparedKernel> PrepareCast(const KernelRequest& request) {
  switch (request.outputs[0].dtype) {
    case DType::kF32:
      return PrepareMap<In, float, CastOp<float>>(request);
    case DType::kF64:
      return PrepareMap<In, double, CastOp<double>>(request);
    case DType::kI32:
      return PrepareMap<In, int32_t, CastOp<int32_t>>(request);
    case DType::kI64:
      return PrepareMap<In, int64_t, CastOp<int64_t>>(request);
    case DType::kU8:
      return PrepareMap<In, uint8_t, CastOp<uint8_t>>(request);
    case DType::kBool:
      return PrepareMap<In, bool, CastOp<bool>>(request);
    default:
      return absl::InvalidArgumentError("no cast to this dtype on the CPU");
  }
}

// --- two inputs, broadcast as numpy does. Dimensions are merged where both inputs run through them alike; the last
// one is the inner loop.

struct BinaryParams {
  struct Dim {
    int64_t size, a_stride, b_stride;
  };
  absl::InlinedVector<Dim, 4> outer;
  int64_t inner = 1, a_stride = 1, b_stride = 1;
  int64_t count = 1;  // of inner loops
  int64_t piece = 1;  // inner loops of a tile, if there is more than one
};

// The stride of dimension `i` (of the output, from the end) in an input: 0 where the input is broadcast.
int64_t BroadcastStride(const Shape& shape, int from_end) {
  if (from_end >= shape.rank() || shape.dim(shape.rank() - 1 - from_end) == 1) return 0;
  int64_t stride = 1;
  for (int i = 0; i < from_end; ++i) stride *= shape.dim(shape.rank() - 1 - i);
  return stride;
}

BinaryParams MakeBinaryParams(const Shape& a, const Shape& b, const Shape& output) {
  absl::InlinedVector<BinaryParams::Dim, 4> dims;  // innermost first
  for (int i = 0; i < output.rank(); ++i) {
    const BinaryParams::Dim dim{output.dim(output.rank() - 1 - i), BroadcastStride(a, i), BroadcastStride(b, i)};
    if (dim.size == 1) continue;
    if (!dims.empty() && dim.a_stride == dims.back().a_stride * dims.back().size &&
        dim.b_stride == dims.back().b_stride * dims.back().size) {
      dims.back().size *= dim.size;
    } else {
      dims.push_back(dim);
    }
  }
  BinaryParams p;
  if (!dims.empty()) {
    p.inner = dims[0].size;
    p.a_stride = dims[0].a_stride;
    p.b_stride = dims[0].b_stride;
    for (size_t i = 1; i < dims.size(); ++i) {
      p.outer.push_back(dims[i]);
      p.count *= dims[i].size;
    }
  }
  p.piece = std::max<int64_t>(1, kTileElements / std::max<int64_t>(p.inner, 1));
  return p;
}

template <typename Op, int kA, int kB>
COHORT_VECTORIZED void FloatBinaryLoop(const float* __restrict a, const float* __restrict b, float* __restrict y,
                                       int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = Op::Apply(a[kA * i], b[kB * i]);
}

template <typename T, typename Out, typename Op, int kA, int kB>
void BinaryLoop(const T* __restrict a, const T* __restrict b, Out* __restrict y, int64_t n) {
  if constexpr (std::is_same_v<T, float> && std::is_same_v<Out, float>) {
    FloatBinaryLoop<Op, kA, kB>(a, b, y, n);
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = Op::Apply(a[kA * i], b[kB * i]);
  }
}

template <typename T, typename Out, typename Op>
void BinaryInner(const BinaryParams& p, const T* a, const T* b, Out* y, int64_t n) {
  if (p.a_stride == 0) return BinaryLoop<T, Out, Op, 0, 1>(a, b, y, n);
  if (p.b_stride == 0) return BinaryLoop<T, Out, Op, 1, 0>(a, b, y, n);
  BinaryLoop<T, Out, Op, 1, 1>(a, b, y, n);
}

template <typename T, typename Out, typename Op>
void RunBinary(const Launch& launch, const KernelRun& run, int64_t tile) {
  const auto& p = *static_cast<const BinaryParams*>(launch.params);
  const T* a = launch.In<T>(run, 0);
  const T* b = launch.In<T>(run, 1);
  Out* y = launch.Out<Out>(run, 0);
  if (p.outer.empty()) {
    const Range range = TileRange(tile, kTileElements, p.inner);
    return BinaryInner<T, Out, Op>(p, a + p.a_stride * range.begin, b + p.b_stride * range.begin, y + range.begin,
                                   range.end - range.begin);
  }
  const Range lines = TileRange(tile, p.piece, p.count);
  for (int64_t line = lines.begin; line < lines.end; ++line) {
    int64_t rest = line, a_offset = 0, b_offset = 0;
    for (const BinaryParams::Dim& dim : p.outer) {
      const int64_t index = rest % dim.size;
      rest /= dim.size;
      a_offset += index * dim.a_stride;
      b_offset += index * dim.b_stride;
    }
    BinaryInner<T, Out, Op>(p, a + a_offset, b + b_offset, y + line * p.inner, p.inner);
  }
}

template <typename T, typename Out, typename Op>
absl::StatusOr<PreparedKernel> PrepareBinary(const KernelRequest& request) {
  BinaryParams p = MakeBinaryParams(request.inputs[0].shape, request.inputs[1].shape, request.outputs[0].shape);
  if (p.inner == 1) p.a_stride = p.b_stride = 1;  // one element: any loop does
  if (request.outputs[0].shape.num_elements() == 0) return OnePhase(p, RunBinary<T, Out, Op>, 0);
  const int64_t tiles = p.outer.empty() ? CeilDiv(p.inner, kTileElements) : CeilDiv(p.count, p.piece);
  return OnePhase(p, RunBinary<T, Out, Op>, tiles);
}

#define COHORT_BINARY_OP(NAME, EXPRESSION) \
  struct NAME {                            \
    template <typename T>                  \
    COHORT_INLINE auto Apply(T a, T b) {   \
      return EXPRESSION;                   \
    }                                      \
  }
COHORT_BINARY_OP(AddOp, static_cast<T>(Modular<T>(a) + Modular<T>(b)));
COHORT_BINARY_OP(SubOp, static_cast<T>(Modular<T>(a) - Modular<T>(b)));
COHORT_BINARY_OP(MulOp, static_cast<T>(Modular<T>(a) * Modular<T>(b)));
COHORT_BINARY_OP(DivOp, static_cast<T>(a / b));
COHORT_BINARY_OP(EqualOp, a == b);
COHORT_BINARY_OP(ReluGradOp, b > T(0) ? a : T(0));  // gradients, features

#define COHORT_FLOATS(NAME, PREPARE, OP) \
  {NAME, DType::kF32, PREPARE<float, float, OP>}, { NAME, DType::kF64, PREPARE<double, double, OP> }
#define COHORT_NUMBERS(NAME, PREPARE, OP)                                                 \
  COHORT_FLOATS(NAME, PREPARE, OP), {NAME, DType::kI32, PREPARE<int32_t, int32_t, OP>}, { \
    NAME, DType::kI64, PREPARE<int64_t, int64_t, OP>                                      \
  }
#define COHORT_FILL(NAME, VALUE)                                                  \
  {NAME, DType::kF32, PrepareMap<float, float, FillOp<float, VALUE>>},            \
      {NAME, DType::kF64, PrepareMap<double, double, FillOp<double, VALUE>>},     \
      {NAME, DType::kI32, PrepareMap<int32_t, int32_t, FillOp<int32_t, VALUE>>},  \
      {NAME, DType::kI64, PrepareMap<int64_t, int64_t, FillOp<int64_t, VALUE>>},  \
      {NAME, DType::kU8, PrepareMap<uint8_t, uint8_t, FillOp<uint8_t, VALUE>>}, { \
    NAME, DType::kBool, PrepareMap<bool, bool, FillOp<bool, VALUE>>               \
  }

constexpr Kernel kKernels[] = {
    COHORT_NUMBERS("AddV2", PrepareBinary, AddOp),
    COHORT_NUMBERS("Sub", PrepareBinary, SubOp),
    COHORT_NUMBERS("Mul", PrepareBinary, MulOp),
    COHORT_FLOATS("RealDiv", PrepareBinary, DivOp),
    COHORT_NUMBERS("ReluGrad", PrepareBinary, ReluGradOp),
    {"Equal", DType::kF32, PrepareBinary<float, bool, EqualOp>},
    {"Equal", DType::kF64, PrepareBinary<double, bool, EqualOp>},
    {"Equal", DType::kI32, PrepareBinary<int32_t, bool, EqualOp>},
    {"Equal", DType::kI64, PrepareBinary<int64_t, bool, EqualOp>},
    {"Equal", DType::kU8, PrepareBinary<uint8_t, bool, EqualOp>},
    {"Equal", DType::kBool, PrepareBinary<bool, bool, EqualOp>},
    COHORT_NUMBERS("Neg", PrepareMap, NegOp),
    COHORT_NUMBERS("Square", PrepareMap, SquareOp),
    COHORT_NUMBERS("Relu", PrepareMap, ReluOp),
    COHORT_FLOATS("Exp", PrepareMap, ExpOp),
    COHORT_FLOATS("Log", PrepareMap, LogOp),
    COHORT_FLOATS("Tanh", PrepareMap, TanhOp),
    COHORT_FLOATS("Sigmoid", PrepareMap, SigmoidOp),
    COHORT_FILL("OnesLike", 1),
    COHORT_FILL("ZerosLike", 0),
    {"Cast", DType::kF32, PrepareCast<float>},
    {"Cast", DType::kF64, PrepareCast<double>},
    {"Cast", DType::kI32, PrepareCast<int32_t>},
    {"Cast", DType::kI64, PrepareCast<int64_t>},
    {"Cast", DType::kU8, PrepareCast<uint8_t>},
    {"Cast", DType::kBool, PrepareCast<bool>},
};

}  // namespace

absl::Span<const Kernel> ElementwiseKernels() { return kKernels; }

}  // namespace cohort::cpu
