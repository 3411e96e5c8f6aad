// Constants, parameters, calls, and what the replicas do together.
#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/graph/function.h"
#include "runtime/graph/gradient_rule.h"
#include "runtime/graph/ops.h"
#include "runtime/graph/ops/shape_rules.h"

namespace cohort::ops {
namespace {

absl::StatusOr<Specs> PlaceholderShape(const InferenceContext& c) {
  COHORT_ASSIGN_OR_RETURN(const DType dtype, GetAttribute<DType>(c.attributes(), "dtype"));
  COHORT_ASSIGN_OR_RETURN(const Shape shape, GetAttribute<Shape>(c.attributes(), "shape"));
  if (dtype == DType::kInvalid) return absl::InvalidArgumentError("its dtype is invalid");
  for (const int64_t d : shape.dims()) {
    if (d < Shape::kUnknown) return absl::InvalidArgumentError(absl::StrCat("dimension ", d, " in its shape"));
  }
  return Specs{{dtype, shape}};
}

absl::StatusOr<Specs> ConstShape(const InferenceContext& c) {
  COHORT_ASSIGN_OR_RETURN(const Tensor value, GetAttribute<Tensor>(c.attributes(), "value"));
  if (!value.has_value()) return absl::InvalidArgumentError("attribute 'value' holds no tensor");
  if (GetAttributeOr<DType>(c.attributes(), "dtype", value.dtype()) != value.dtype()) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute 'dtype' is not that of its value, ", value.spec().ToString()));
  }
  return Specs{value.spec()};
}

absl::StatusOr<Specs> CallShape(const InferenceContext& c) {
  COHORT_ASSIGN_OR_RETURN(const std::string name, GetAttribute<std::string>(c.attributes(), "f"));
  if (c.library() == nullptr || !c.library()->contains(name)) {
    return absl::NotFoundError(absl::StrCat("there is no function '", name, "'"));
  }
  const Function& function = c.library()->at(name);
  if (c.num_inputs() != static_cast<int>(function.parameters.size())) {
    return absl::InvalidArgumentError(absl::StrCat("function '", name, "' takes ", function.parameters.size(),
                                                   " arguments and got ", c.num_inputs()));
  }
  for (int i = 0; i < c.num_inputs(); ++i) {
    const TensorSpec& wanted = function.graph.spec({function.parameters[i].node, 0});
    if (wanted.dtype != c.input(i).dtype || !wanted.shape.IsCompatibleWith(c.input(i).shape)) {
      return absl::InvalidArgumentError(absl::StrCat("parameter '", function.parameters[i].name, "' of function '",
                                                     name, "' is ", wanted.ToString(), ", but the argument is ",
                                                     c.input(i).ToString()));
    }
  }
  Specs outputs;
  for (const Result& result : function.results) outputs.push_back(function.graph.spec(result.output));
  return outputs;
}

absl::StatusOr<Specs> AllReduceShape(const InferenceContext& c) {
  const std::string reduction = GetAttributeOr<std::string>(c.attributes(), "reduction", "");
  if (reduction != "SUM" && reduction != "MIN" && reduction != "MAX") {
    return absl::InvalidArgumentError(absl::StrCat("reduction '", reduction, "'; it must be SUM, MIN or MAX"));
  }
  return Specs{c.input(0)};
}

absl::StatusOr<Specs> TestDelayShape(const InferenceContext& c) {
  if (!(GetAttributeOr<double>(c.attributes(), "seconds", 0) >= 0)) {
    return absl::InvalidArgumentError("attribute 'seconds' must not be negative");
  }
  return Specs{c.input(0)};
}

absl::StatusOr<Specs> ReplicaIdShape(const InferenceContext&) { return Specs{{DType::kI32, Shape()}}; }

absl::StatusOr<std::vector<Value>> PassThrough(const GradientContext& c) { return std::vector<Value>{c.dy()}; }

// Every replica's loss depends on every replica's input, so the gradients are summed as well.
absl::StatusOr<std::vector<Value>> AllReduceGradient(const GradientContext& c) {
  const std::string reduction = GetAttributeOr<std::string>(c.attributes, "reduction", "");
  if (reduction != "SUM") {
    return absl::InvalidArgumentError(absl::StrCat("no gradient flows through an all-reduce with ", reduction));
  }
  return std::vector<Value>{AllReduce(c.dy(), "SUM")};
}

constexpr OpDef kOps[] = {
    {.name = "Placeholder",
     .inputs = "",
     .attributes = "dtype:dtype,shape:shape",
     .shape = PlaceholderShape,
     .effect = Effect::kReads},
    {.name = "Const", .inputs = "", .attributes = "value:tensor,dtype:dtype?", .shape = ConstShape},
    {.name = "Identity", .inputs = "A", .shape = LikeFirstInput, .gradient = PassThrough},
    {.name = "NoOp", .inputs = "", .num_outputs = 0, .shape = NoOutput, .effect = Effect::kChanges},
    {.name = "PartitionedCall",
     .inputs = "*",
     .attributes = "f:string",
     .num_outputs = -1,
     .shape = CallShape,
     .effect = Effect::kChanges},
    {.name = "AllReduce",
     .inputs = "T",
     .type = TypeClass::kNumber,
     .attributes = "reduction:string",
     .shape = AllReduceShape,
     .gradient = AllReduceGradient,
     .effect = Effect::kChanges},
    {.name = "ReplicaId", .inputs = "", .shape = ReplicaIdShape},
    {.name = "TestDelay",
     .inputs = "A",
     .attributes = "seconds:float,replica:int?",
     .shape = TestDelayShape,
     .gradient = PassThrough,
     .effect = Effect::kChanges},
};

}  // namespace

absl::Span<const OpDef> FunctionalOps() { return kOps; }

}  // namespace cohort::ops
