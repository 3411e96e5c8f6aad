// Elementwise arithmetic and matrix products.
#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/graph/gradient_rule.h"
#include "runtime/graph/ops.h"
#include "runtime/graph/ops/shape_rules.h"

namespace cohort::ops {
namespace {

using Gradients = absl::StatusOr<std::vector<Value>>;

absl::StatusOr<Specs> EqualShape(const InferenceContext& c) {
  COHORT_ASSIGN_OR_RETURN(Specs specs, Broadcast(c));
  specs[0].dtype = DType::kBool;
  return specs;
}

absl::StatusOr<Specs> CastShape(const InferenceContext& c) {
  const DType dtype = GetAttributeOr<DType>(c.attributes(), "DstT", DType::kInvalid);
  if (DTypeSize(dtype) == 0) {
    return absl::InvalidArgumentError(absl::StrCat("DstT must be a number or bool, not ", DTypeName(dtype)));
  }
  return Specs{{dtype, c.input(0).shape}};
}

absl::StatusOr<Specs> MatMulShape(const InferenceContext& c) {
  COHORT_RETURN_IF_ERROR(CheckRank(c, 0, 2));
  COHORT_RETURN_IF_ERROR(CheckRank(c, 1, 2));
  const bool ta = GetAttributeOr<bool>(c.attributes(), "transpose_a", false);
  const bool tb = GetAttributeOr<bool>(c.attributes(), "transpose_b", false);
  const Shape &a = c.input(0).shape, &b = c.input(1).shape;
  const int64_t inner_a = a.dim(ta ? 0 : 1), inner_b = b.dim(tb ? 1 : 0);
  if (inner_a != inner_b && inner_a != Shape::kUnknown && inner_b != Shape::kUnknown) {
    return absl::InvalidArgumentError(absl::StrCat("the inner dimensions of ", Both(c.input(0), c.input(1)),
                                                   " differ: ", inner_a, " and ", inner_b, ta ? ", a transposed" : "",
                                                   tb ? ", b transposed" : ""));
  }
  return Specs{{c.input(0).dtype, Shape{a.dim(ta ? 1 : 0), b.dim(tb ? 0 : 1)}}};
}

Gradients AddGradient(const GradientContext& c) {
  return std::vector<Value>{c.needed[0] ? SumLike(c.dy(), c.inputs[0]) : Value(),
                            c.needed[1] ? SumLike(c.dy(), c.inputs[1]) : Value()};
}

Gradients SubGradient(const GradientContext& c) {
  return std::vector<Value>{c.needed[0] ? SumLike(c.dy(), c.inputs[0]) : Value(),
                            c.needed[1] ? SumLike(Neg(c.dy()), c.inputs[1]) : Value()};
}

Gradients MulGradient(const GradientContext& c) {
  const Value &a = c.inputs[0], &b = c.inputs[1];
  return std::vector<Value>{c.needed[0] ? SumLike(Scaled(c.dy(), b), a) : Value(),
                            c.needed[1] ? SumLike(Scaled(c.dy(), a), b) : Value()};
}

// y = a / b: da = dy / b, db = -dy * y / b.
Gradients DivGradient(const GradientContext& c) {
  const Value &a = c.inputs[0], &b = c.inputs[1], &y = c.outputs[0];
  return std::vector<Value>{c.needed[0] ? SumLike(c.dy() / b, a) : Value(),
                            c.needed[1] ? SumLike(Neg(Scaled(c.dy(), y) / b), b) : Value()};
}

Gradients NegGradient(const GradientContext& c) { return std::vector<Value>{Neg(c.dy())}; }
Gradients SquareGradient(const GradientContext& c) {
  return std::vector<Value>{Scaled(c.dy(), c.inputs[0] + c.inputs[0])};
}
Gradients ExpGradient(const GradientContext& c) { return std::vector<Value>{Scaled(c.dy(), c.outputs[0])}; }
Gradients LogGradient(const GradientContext& c) { return std::vector<Value>{c.dy() / c.inputs[0]}; }
// dy * (1 - y*y)
Gradients TanhGradient(const GradientContext& c) {
  return std::vector<Value>{c.dy() - Scaled(c.dy(), Square(c.outputs[0]))};
}
// dy * y * (1 - y)
Gradients SigmoidGradient(const GradientContext& c) {
  return std::vector<Value>{Scaled(c.dy(), c.outputs[0] - Square(c.outputs[0]))};
}

Gradients CastGradient(const GradientContext& c) {
  if (!IsFloating(c.inputs[0].dtype()) || !IsFloating(c.dy().dtype())) return std::vector<Value>{{}};
  return std::vector<Value>{Cast(c.dy(), c.inputs[0].dtype())};
}

// c = op(a) op(b): each gradient is a product of dy with the other side, in the order and transposition that gives it
// the shape of its own side without a transpose of the result.
Gradients MatMulGradient(const GradientContext& c) {
  const bool ta = GetAttributeOr<bool>(c.attributes, "transpose_a", false);
  const bool tb = GetAttributeOr<bool>(c.attributes, "transpose_b", false);
  const Value &a = c.inputs[0], &b = c.inputs[1], &dy = c.dy();
  Value da, db;
  if (c.needed[0]) da = ta ? MatMul(b, dy, tb, true) : MatMul(dy, b, false, !tb);
  if (c.needed[1]) db = tb ? MatMul(dy, a, true, ta) : MatMul(a, dy, !ta, false);
  return std::vector<Value>{da, db};
}

constexpr OpDef Binary(absl::string_view name, TypeClass type, GradientRule gradient) {
  return {.name = name, .inputs = "TT", .type = type, .shape = Broadcast, .gradient = gradient};
}
constexpr OpDef Unary(absl::string_view name, TypeClass type, GradientRule gradient) {
  return {.name = name, .inputs = "T", .type = type, .shape = LikeFirstInput, .gradient = gradient};
}

constexpr OpDef kOps[] = {
    Binary("AddV2", TypeClass::kNumber, AddGradient),
    Binary("Sub", TypeClass::kNumber, SubGradient),
    Binary("Mul", TypeClass::kNumber, MulGradient),
    Binary("RealDiv", TypeClass::kFloating, DivGradient),
    Unary("Neg", TypeClass::kNumber, NegGradient),
    Unary("Square", TypeClass::kNumber, SquareGradient),
    Unary("Exp", TypeClass::kFloating, ExpGradient),
    Unary("Log", TypeClass::kFloating, LogGradient),
    Unary("Tanh", TypeClass::kFloating, TanhGradient),
    Unary("Sigmoid", TypeClass::kFloating, SigmoidGradient),
    {.name = "Equal", .inputs = "TT", .type = TypeClass::kNumberOrBool, .shape = EqualShape},
    {.name = "Cast",
     .inputs = "T",
     .type = TypeClass::kNumberOrBool,
     .attributes = "DstT:dtype,SrcT:dtype?",
     .shape = CastShape,
     .gradient = CastGradient},
    {.name = "MatMul",
     .inputs = "TT",
     .type = TypeClass::kFloating,
     .attributes = "transpose_a:bool?,transpose_b:bool?",
     .shape = MatMulShape,
     .gradient = MatMulGradient},
};

}  // namespace

absl::Span<const OpDef> MathOps() { return kOps; }

}  // namespace cohort::ops
