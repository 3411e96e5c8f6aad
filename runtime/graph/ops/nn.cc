// Biases, activations, losses.
#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/graph/gradient_rule.h"
#include "runtime/graph/ops.h"
#include "runtime/graph/ops/shape_rules.h"

namespace cohort::ops {
namespace {

using Gradients = absl::StatusOr<std::vector<Value>>;

absl::StatusOr<Specs> BiasAddShape(const InferenceContext& c) {
  COHORT_RETURN_IF_ERROR(CheckDataFormat(c.attributes()));
  COHORT_RETURN_IF_ERROR(CheckRank(c, 1, 1));
  const TensorSpec &x = c.input(0), &bias = c.input(1);
  if (x.shape.rank() < 2 || !Shape{x.shape.dim(x.shape.rank() - 1)}.IsCompatibleWith(bias.shape)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the bias must be as long as the last dimension of the value, of rank 2 or more; they are ", Both(x, bias)));
  }
  TensorSpec y = x;
  y.shape.set_dim(x.shape.rank() - 1, std::max(x.shape.dim(x.shape.rank() - 1), bias.shape.dim(0)));
  return Specs{y};
}

absl::StatusOr<Specs> BiasAddGradShape(const InferenceContext& c) {
  COHORT_RETURN_IF_ERROR(CheckDataFormat(c.attributes()));
  const TensorSpec& dy = c.input(0);
  if (dy.shape.rank() < 2) {
    return absl::InvalidArgumentError(absl::StrCat("its input must be of rank 2 or more, but is ", dy.ToString()));
  }
  return Specs{{dy.dtype, Shape{dy.shape.dim(dy.shape.rank() - 1)}}};
}

absl::StatusOr<Specs> CrossEntropyShape(const InferenceContext& c) {
  COHORT_RETURN_IF_ERROR(CheckRank(c, 0, 2));
  COHORT_RETURN_IF_ERROR(CheckRank(c, 1, 1));
  const TensorSpec &features = c.input(0), &labels = c.input(1);
  const Shape batch{features.shape.dim(0)};
  if (!batch.IsCompatibleWith(labels.shape)) {
    return absl::InvalidArgumentError(
        absl::StrCat("features and labels are ", Both(features, labels), "; their batches differ"));
  }
  const Shape merged = Merge(batch, labels.shape);
  return Specs{{features.dtype, merged}, {features.dtype, Shape{merged.dim(0), features.shape.dim(1)}}};
}

Gradients BiasAddGradient(const GradientContext& c) {
  return std::vector<Value>{c.dy(), c.needed[1] ? BiasAddGrad(c.dy()) : Value()};
}

Gradients ReluGradient(const GradientContext& c) {
  // The output stands for the features: both are positive together, and the features' memory can be reused.
  return std::vector<Value>{ReluGrad(c.dy(), c.outputs[0])};
}

// ReluGrad is linear in the gradients that it lets through.
Gradients ReluGradGradient(const GradientContext& c) { return std::vector<Value>{ReluGrad(c.dy(), c.inputs[1]), {}}; }

// The op computed d loss / d features on its way; only the gradients of the losses are missing, if they are not ones.
Gradients CrossEntropyGradient(const GradientContext& c) {
  if (c.output_gradients[1].valid()) return absl::UnimplementedError("no gradient flows through its backprop output");
  const Value& backprop = c.outputs[1];
  if (IsOnes(c.dy())) return std::vector<Value>{backprop, {}};
  return std::vector<Value>{Reshape(c.dy(), {-1, 1}) * backprop, {}};
}

constexpr OpDef kOps[] = {
    {.name = "BiasAdd",
     .inputs = "TT",
     .type = TypeClass::kNumber,
     .attributes = "data_format:string?",
     .shape = BiasAddShape,
     .gradient = BiasAddGradient},
    {.name = "BiasAddGrad",
     .inputs = "T",
     .type = TypeClass::kNumber,
     .attributes = "data_format:string?",
     .shape = BiasAddGradShape},
    {.name = "Relu", .inputs = "T", .type = TypeClass::kNumber, .shape = LikeFirstInput, .gradient = ReluGradient},
    {.name = "ReluGrad",
     .inputs = "TT",
     .type = TypeClass::kNumber,
     .shape = LikeBothInputs,
     .gradient = ReluGradGradient},
    {.name = "SparseSoftmaxCrossEntropyWithLogits",
     .inputs = "TI",
     .type = TypeClass::kFloating,
     .num_outputs = 2,
     .shape = CrossEntropyShape,
     .gradient = CrossEntropyGradient},
};

}  // namespace

absl::Span<const OpDef> NnOps() { return kOps; }

}  // namespace cohort::ops
