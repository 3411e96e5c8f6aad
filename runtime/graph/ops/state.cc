// Variables.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/graph/gradient_rule.h"
#include "runtime/graph/ops/shape_rules.h"

namespace cohort::ops {
namespace {

absl::StatusOr<Specs> VarHandleShape(const InferenceContext& c) {
  COHORT_ASSIGN_OR_RETURN(const std::string name, GetAttribute<std::string>(c.attributes(), "shared_name"));
  COHORT_ASSIGN_OR_RETURN(const DType dtype, GetAttribute<DType>(c.attributes(), "dtype"));
  COHORT_ASSIGN_OR_RETURN(const Shape shape, GetAttribute<Shape>(c.attributes(), "shape"));
  if (name.empty()) return absl::InvalidArgumentError("attribute 'shared_name' is empty: a variable needs a name");
  if (DTypeSize(dtype) == 0 || !shape.IsFullyDefined()) {
    return absl::InvalidArgumentError(absl::StrCat("variable '", name, "' is ", TensorSpec{dtype, shape}.ToString(),
                                                   "; it must be of numbers or bool and of a known shape"));
  }
  return Specs{{DType::kResource, Shape()}};
}

absl::StatusOr<Specs> ReadShape(const InferenceContext& c) {
  COHORT_ASSIGN_OR_RETURN(TensorSpec spec, c.VariableSpec(0));
  return Specs{spec};
}

// Input 1 must be what the variable of input 0 holds.
absl::Status CheckValue(const InferenceContext& c, absl::string_view what) {
  COHORT_ASSIGN_OR_RETURN(const TensorSpec variable, c.VariableSpec(0));
  const TensorSpec& value = c.input(1);
  if (value.dtype == variable.dtype && value.shape.IsCompatibleWith(variable.shape)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the variable is ", variable.ToString(), ", but the ", what, " is ", value.ToString()));
}

absl::StatusOr<Specs> AssignShape(const InferenceContext& c) {
  COHORT_RETURN_IF_ERROR(CheckValue(c, "value"));
  return Specs{};
}

absl::StatusOr<Specs> ApplyGradientShape(const InferenceContext& c) {
  COHORT_RETURN_IF_ERROR(CheckValue(c, "gradient"));
  constexpr absl::string_view kOptimizers[] = {"sgd", "momentum", "adagrad", "adam"};
  const std::string optimizer = GetAttributeOr<std::string>(c.attributes(), "optimizer", "");
  if (std::find(std::begin(kOptimizers), std::end(kOptimizers), optimizer) == std::end(kOptimizers)) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no optimizer '", optimizer, "'; there are sgd, momentum, adagrad, adam"));
  }
  return Specs{};
}

// The gradient by a handle is the sum over its reads.
absl::StatusOr<std::vector<Value>> ReadGradient(const GradientContext& c) { return std::vector<Value>{c.dy()}; }

constexpr OpDef kOps[] = {
    {.name = "VarHandleOp",
     .inputs = "",
     .attributes = "shared_name:string,dtype:dtype,shape:shape",
     .shape = VarHandleShape},
    {.name = "ReadVariableOp", .inputs = "R", .shape = ReadShape, .gradient = ReadGradient, .effect = Effect::kReads},
    {.name = "AssignVariableOp", .inputs = "RA", .num_outputs = 0, .shape = AssignShape, .effect = Effect::kChanges},
    {.name = "AssignAddVariableOp",
     .inputs = "RT",
     .type = TypeClass::kNumber,
     .num_outputs = 0,
     .shape = AssignShape,
     .effect = Effect::kChanges},
    {.name = "AssignSubVariableOp",
     .inputs = "RT",
     .type = TypeClass::kNumber,
     .num_outputs = 0,
     .shape = AssignShape,
     .effect = Effect::kChanges},
    {.name = "ApplyGradient",
     .inputs = "RT",
     .type = TypeClass::kFloating,
     .attributes = "optimizer:string,momentum:float?,beta1:float?,beta2:float?,epsilon:float?,"
                   "initial_accumulator:float?",
     .num_outputs = 0,
     .shape = ApplyGradientShape,
     .effect = Effect::kChanges},
};

}  // namespace

absl::Span<const OpDef> StateOps() { return kOps; }

}  // namespace cohort::ops
