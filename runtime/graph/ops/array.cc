// Shapes and copies.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status_macros.h"
#include "runtime/graph/gradient_rule.h"
#include "runtime/graph/ops.h"
#include "runtime/graph/ops/shape_rules.h"

namespace cohort::ops {
namespace {

using Gradients = absl::StatusOr<std::vector<Value>>;

absl::Status CheckRankOf(const std::vector<int64_t>& dims) {
  if (dims.size() <= Shape::kMaxRank) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("a shape of ", dims.size(), " dimensions; at most 8 are possible"));
}

absl::StatusOr<Specs> ReshapeShape(const InferenceContext& c) {
  COHORT_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, c.ConstantInts(1));
  COHORT_RETURN_IF_ERROR(CheckRankOf(dims));
  const TensorSpec& x = c.input(0);
  Shape shape{absl::MakeConstSpan(dims)};
  const auto wrong = [&](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat(x.ToString(), " cannot become [", absl::StrJoin(dims, ","), "]: ", why));
  };
  int remaining = -1;
  int64_t product = 1;
  for (int i = 0; i < shape.rank(); ++i) {
    if (dims[i] < -1) return wrong("a negative dimension");
    if (dims[i] >= 0) {
      if (__builtin_mul_overflow(product, dims[i], &product)) return wrong("it would have more than 2^63 elements");
    } else if (remaining < 0) {
      remaining = i;
    } else {
      return wrong("more than one dimension is -1");
    }
  }
  if (!x.shape.IsFullyDefined()) return Specs{{x.dtype, shape}};
  const int64_t elements = x.shape.num_elements();
  if (remaining >= 0) {
    if (product == 0 || elements % product != 0) return wrong("no number fits in place of -1");
    shape.set_dim(remaining, elements / product);
  } else if (product != elements) {
    return wrong(absl::StrCat(elements, " elements are not ", product));
  }
  return Specs{{x.dtype, shape}};
}

absl::StatusOr<Specs> TransposeShape(const InferenceContext& c) {
  COHORT_ASSIGN_OR_RETURN(const std::vector<int64_t> perm, c.ConstantInts(1));
  const TensorSpec& x = c.input(0);
  Shape shape;
  uint32_t seen = 0;
  for (const int64_t p : perm) {
    if (p < 0 || p >= x.shape.rank() || (seen >> p & 1) != 0) break;
    seen |= 1u << p;
    shape.push_back(x.shape.dim(static_cast<int>(p)));
  }
  if (shape.rank() != x.shape.rank() || perm.size() != static_cast<size_t>(shape.rank())) {
    return absl::InvalidArgumentError(
        absl::StrCat("{", absl::StrJoin(perm, ", "), "} is no permutation of the axes of ", x.ToString()));
  }
  return Specs{{x.dtype, shape}};
}

absl::StatusOr<Specs> BroadcastInto(const InferenceContext& c, const Shape& target) {
  const absl::StatusOr<Shape> both = BroadcastShapes(c.input(0).shape, target);
  if (!both.ok() || !both->IsCompatibleWith(target)) {
    return absl::InvalidArgumentError(
        absl::StrCat(c.input(0).ToString(), " does not broadcast to ", target.ToString()));
  }
  return Specs{{c.input(0).dtype, target}};
}

absl::StatusOr<Specs> BroadcastToShape(const InferenceContext& c) {
  COHORT_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, c.ConstantInts(1));
  COHORT_RETURN_IF_ERROR(CheckRankOf(dims));
  for (const int64_t d : dims) {
    if (d < 0) return absl::InvalidArgumentError(absl::StrCat("dimension ", d, " in the shape to broadcast to"));
  }
  return BroadcastInto(c, Shape(absl::MakeConstSpan(dims)));
}

absl::StatusOr<Specs> BroadcastLikeShape(const InferenceContext& c) { return BroadcastInto(c, c.input(1).shape); }

absl::StatusOr<Specs> SizeShape(const InferenceContext& c) {
  const DType dtype = GetAttributeOr<DType>(c.attributes(), "out_type", DType::kI32);
  if (dtype != DType::kI32 && dtype != DType::kI64) {
    return absl::InvalidArgumentError(absl::StrCat("out_type must be int32 or int64, not ", DTypeName(dtype)));
  }
  return Specs{{dtype, Shape()}};
}

Gradients ReshapeGradient(const GradientContext& c) {
  const Shape shape = c.inputs[0].shape();
  int unknown = 0;
  for (const int64_t d : shape.dims()) unknown += d == Shape::kUnknown;
  if (unknown > 1) {
    return absl::InvalidArgumentError(absl::StrCat("its gradient cannot be reshaped back to ", shape.ToString(),
                                                   ": more than one dimension is unknown"));
  }
  return std::vector<Value>{Reshape(c.dy(), shape.dims()), {}};
}

Gradients TransposeGradient(const GradientContext& c) {
  COHORT_ASSIGN_OR_RETURN(const std::vector<int64_t> perm,
                          InferenceContext(c.builder->graph(), c.builder->graph().node(c.node)).ConstantInts(1));
  std::vector<int64_t> inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) inverse[perm[i]] = static_cast<int64_t>(i);
  return std::vector<Value>{Transpose(c.dy(), inverse), {}};
}

Gradients BroadcastGradient(const GradientContext& c) { return std::vector<Value>{SumLike(c.dy(), c.inputs[0]), {}}; }

// A constant, whatever the input's elements are.
Gradients NoGradient(const GradientContext&) { return std::vector<Value>{{}}; }

constexpr OpDef kOps[] = {
    {.name = "Reshape", .inputs = "AI", .shape = ReshapeShape, .gradient = ReshapeGradient},
    {.name = "Transpose", .inputs = "AI", .shape = TransposeShape, .gradient = TransposeGradient},
    {.name = "BroadcastTo", .inputs = "AI", .shape = BroadcastToShape, .gradient = BroadcastGradient},
    // Not TensorFlow's: BroadcastTo(input, Shape(like)), so that shapes need no tensors at run time.
    {.name = "BroadcastLike", .inputs = "AA", .shape = BroadcastLikeShape, .gradient = BroadcastGradient},
    {.name = "OnesLike",
     .inputs = "T",
     .type = TypeClass::kNumberOrBool,
     .shape = LikeFirstInput,
     .gradient = NoGradient},
    {.name = "ZerosLike",
     .inputs = "T",
     .type = TypeClass::kNumberOrBool,
     .shape = LikeFirstInput,
     .gradient = NoGradient},
    {.name = "Size", .inputs = "A", .attributes = "out_type:dtype?", .shape = SizeShape},
};

}  // namespace

absl::Span<const OpDef> ArrayOps() { return kOps; }

}  // namespace cohort::ops
