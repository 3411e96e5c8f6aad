// Reductions over axes.
#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/graph/gradient_rule.h"
#include "runtime/graph/ops.h"
#include "runtime/graph/ops/shape_rules.h"

namespace cohort::ops {
namespace {

using Gradients = absl::StatusOr<std::vector<Value>>;

// A bit per reduced axis.
absl::StatusOr<uint32_t> ReducedAxes(const InferenceContext& c) {
  COHORT_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, c.ConstantInts(1));
  uint32_t reduced = 0;
  for (const int64_t a : axes) {
    COHORT_ASSIGN_OR_RETURN(const int axis, CheckAxis(a, c.input(0).shape));
    if ((reduced >> axis & 1) != 0) return absl::InvalidArgumentError(absl::StrCat("axis ", a, " is given twice"));
    reduced |= 1u << axis;
  }
  return reduced;
}

Shape Reduced(const Shape& shape, uint32_t axes, bool keep_dims) {
  Shape result;
  for (int i = 0; i < shape.rank(); ++i) {
    if ((axes >> i & 1) == 0) {
      result.push_back(shape.dim(i));
    } else if (keep_dims) {
      result.push_back(1);
    }
  }
  return result;
}

absl::StatusOr<Specs> ReductionShape(const InferenceContext& c) {
  COHORT_ASSIGN_OR_RETURN(const uint32_t axes, ReducedAxes(c));
  const bool keep_dims = GetAttributeOr<bool>(c.attributes(), "keep_dims", false);
  return Specs{{c.input(0).dtype, Reduced(c.input(0).shape, axes, keep_dims)}};
}

absl::StatusOr<Specs> ArgMaxShape(const InferenceContext& c) {
  COHORT_ASSIGN_OR_RETURN(const std::vector<int64_t> dimension, c.ConstantInts(1));
  if (dimension.size() != 1) return absl::InvalidArgumentError("the dimension must be one number");
  COHORT_ASSIGN_OR_RETURN(const int axis, CheckAxis(dimension[0], c.input(0).shape));
  const DType dtype = GetAttributeOr<DType>(c.attributes(), "output_type", DType::kI64);
  if (dtype != DType::kI32 && dtype != DType::kI64) {
    return absl::InvalidArgumentError(absl::StrCat("output_type must be int32 or int64, not ", DTypeName(dtype)));
  }
  return Specs{{dtype, Reduced(c.input(0).shape, 1u << axis, false)}};
}

// `dy` of the reduction's result, spread over the shape of its input.
absl::StatusOr<Value> Spread(const GradientContext& c, Value dy) {
  const Value& x = c.inputs[0];
  if (IsOnes(dy)) return OnesLike(x);
  COHORT_ASSIGN_OR_RETURN(const uint32_t axes,
                          ReducedAxes(InferenceContext(c.builder->graph(), c.builder->graph().node(c.node))));
  const Shape kept = Reduced(x.shape(), axes, /*keep_dims=*/true);
  // With the leading axes gone, or all of them, broadcasting finds the right places by itself.
  if (dy.shape().rank() != x.shape().rank() && (axes & (axes + 1)) != 0) {
    int unknown = 0;
    for (const int64_t d : kept.dims()) unknown += d == Shape::kUnknown;
    if (unknown > 1) {
      return absl::InvalidArgumentError(absl::StrCat("its gradient cannot be reshaped to ", kept.ToString(),
                                                     ": more than one dimension is unknown; set keep_dims"));
    }
    dy = Reshape(dy, kept.dims());
  }
  return BroadcastLike(dy, x);
}

Gradients SumGradient(const GradientContext& c) {
  COHORT_ASSIGN_OR_RETURN(const Value dx, Spread(c, c.dy()));
  return std::vector<Value>{dx, {}};
}

// Each element of the input has the weight size(y) / size(x).
Gradients MeanGradient(const GradientContext& c) {
  const DType dtype = c.dy().dtype();
  const Value& x = c.inputs[0];
  const Value& y = c.outputs[0];
  const Value size_x = Cast(Size(x, DType::kI64), dtype);
  const Value size_y = Cast(Size(y, DType::kI64), dtype);
  const Value count = size_x / size_y;
  COHORT_ASSIGN_OR_RETURN(const Value dx, Spread(c, c.dy() / count));
  return std::vector<Value>{dx, {}};
}

constexpr OpDef kOps[] = {
    {.name = "Sum",
     .inputs = "TI",
     .type = TypeClass::kNumber,
     .attributes = "keep_dims:bool?",
     .shape = ReductionShape,
     .gradient = SumGradient},
    {.name = "Mean",
     .inputs = "TI",
     .type = TypeClass::kFloating,
     .attributes = "keep_dims:bool?",
     .shape = ReductionShape,
     .gradient = MeanGradient},
    {.name = "ArgMax",
     .inputs = "TI",
     .type = TypeClass::kNumber,
     .attributes = "output_type:dtype?",
     .shape = ArgMaxShape},
};

}  // namespace

absl::Span<const OpDef> ReductionOps() { return kOps; }

}  // namespace cohort::ops
