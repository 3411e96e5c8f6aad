// Convolution and pooling of images: NHWC, filters HWIO.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status_macros.h"
#include "runtime/graph/gradient_rule.h"
#include "runtime/graph/ops.h"
#include "runtime/graph/ops/shape_rules.h"
#include "runtime/graph/window.h"

namespace cohort::ops {
namespace {

using Gradients = absl::StatusOr<std::vector<Value>>;

// Height and width of an attribute {1, height, width, 1}.
absl::StatusOr<std::array<int64_t, 2>> HeightWidth(const Attributes& attributes, absl::string_view name) {
  COHORT_ASSIGN_OR_RETURN(const auto list, GetAttribute<std::vector<int64_t>>(attributes, name));
  if (list.size() != 4 || list[0] != 1 || list[3] != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute '", name, "' is {", absl::StrJoin(list, ", "), "}; it must be {1, height, width, 1}"));
  }
  return std::array<int64_t, 2>{list[1], list[2]};
}

// `input` under windows of `size`, with `channels` instead of its own.
absl::StatusOr<Shape> Slide(const Shape& input, std::array<int64_t, 2> size, const Attributes& attributes,
                            int64_t channels) {
  COHORT_RETURN_IF_ERROR(CheckDataFormat(attributes));
  COHORT_ASSIGN_OR_RETURN(const auto strides, HeightWidth(attributes, "strides"));
  const std::string padding = GetAttributeOr<std::string>(attributes, "padding", "");
  Shape output{input.dim(0), 0, 0, channels};
  for (int i = 0; i < 2; ++i) {
    if (size[i] < 0) return absl::InvalidArgumentError("the window's height and width must be known");
    COHORT_ASSIGN_OR_RETURN(const Window window, WindowOver(input.dim(1 + i), size[i], strides[i], padding));
    output.set_dim(1 + i, window.output);
  }
  return output;
}

// The output of a convolution of `input` with `filter`.
absl::StatusOr<Shape> Convolve(const Shape& input, const Shape& filter, const Attributes& attributes) {
  if (input.dim(3) != filter.dim(2) && input.dim(3) != Shape::kUnknown && filter.dim(2) != Shape::kUnknown) {
    return absl::InvalidArgumentError(absl::StrCat("the input ", input.ToString(), " has ", input.dim(3),
                                                   " channels, but the filter ", filter.ToString(), " takes ",
                                                   filter.dim(2)));
  }
  return Slide(input, {filter.dim(0), filter.dim(1)}, attributes, filter.dim(3));
}

absl::Status CheckGradient(const Shape& forward, const Shape& gradient) {
  if (forward.IsCompatibleWith(gradient)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the gradient is ", gradient.ToString(), ", but the output was ", forward.ToString()));
}

absl::StatusOr<Shape> ConstantShape(const InferenceContext& c, int input) {
  COHORT_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, c.ConstantInts(input));
  if (sizes.size() != 4) return absl::InvalidArgumentError(absl::StrCat("input ", input, " must have 4 elements"));
  return Shape(absl::MakeConstSpan(sizes));
}

absl::StatusOr<Specs> Conv2DShape(const InferenceContext& c) {
  COHORT_RETURN_IF_ERROR(CheckRank(c, 0, 4));
  COHORT_RETURN_IF_ERROR(CheckRank(c, 1, 4));
  COHORT_ASSIGN_OR_RETURN(Shape output, Convolve(c.input(0).shape, c.input(1).shape, c.attributes()));
  return Specs{{c.input(0).dtype, output}};
}

absl::StatusOr<Specs> BackpropInputShape(const InferenceContext& c) {
  COHORT_RETURN_IF_ERROR(CheckRank(c, 1, 4));
  COHORT_RETURN_IF_ERROR(CheckRank(c, 2, 4));
  COHORT_ASSIGN_OR_RETURN(Shape input, ConstantShape(c, 0));
  const TensorSpec& dy = c.input(2);
  if (input.dim(0) == Shape::kUnknown) input.set_dim(0, dy.shape.dim(0));
  COHORT_ASSIGN_OR_RETURN(const Shape forward, Convolve(input, c.input(1).shape, c.attributes()));
  COHORT_RETURN_IF_ERROR(CheckGradient(forward, dy.shape));
  return Specs{{dy.dtype, input}};
}

absl::StatusOr<Specs> BackpropFilterShape(const InferenceContext& c) {
  COHORT_RETURN_IF_ERROR(CheckRank(c, 0, 4));
  COHORT_RETURN_IF_ERROR(CheckRank(c, 2, 4));
  COHORT_ASSIGN_OR_RETURN(const Shape filter, ConstantShape(c, 1));
  COHORT_ASSIGN_OR_RETURN(const Shape forward, Convolve(c.input(0).shape, filter, c.attributes()));
  COHORT_RETURN_IF_ERROR(CheckGradient(forward, c.input(2).shape));
  return Specs{{c.input(2).dtype, filter}};
}

absl::StatusOr<Specs> MaxPoolShape(const InferenceContext& c) {
  COHORT_RETURN_IF_ERROR(CheckRank(c, 0, 4));
  COHORT_ASSIGN_OR_RETURN(const auto size, HeightWidth(c.attributes(), "ksize"));
  const TensorSpec& x = c.input(0);
  COHORT_ASSIGN_OR_RETURN(Shape output, Slide(x.shape, size, c.attributes(), x.shape.dim(3)));
  return Specs{{x.dtype, output}};
}

absl::StatusOr<Specs> MaxPoolGradShape(const InferenceContext& c) {
  COHORT_ASSIGN_OR_RETURN(const Specs forward, MaxPoolShape(c));
  COHORT_RETURN_IF_ERROR(CheckGradient(forward[0].shape, c.input(1).shape));
  COHORT_RETURN_IF_ERROR(CheckGradient(forward[0].shape, c.input(2).shape));
  return Specs{c.input(0)};
}

WindowOptions Options(const Attributes& attributes) {
  const auto strides = HeightWidth(attributes, "strides");
  return {.strides = strides.ok() ? *strides : std::array<int64_t, 2>{},
          .padding = GetAttributeOr<std::string>(attributes, "padding", "")};
}

Gradients Conv2DGradient(const GradientContext& c) {
  const Value &x = c.inputs[0], &filter = c.inputs[1];
  const WindowOptions options = Options(c.attributes);
  Value dx, dfilter;
  if (c.needed[0]) dx = Conv2DBackpropInput(x.shape().dims(), filter, c.dy(), options);
  if (c.needed[1]) dfilter = Conv2DBackpropFilter(x, filter.shape().dims(), c.dy(), options);
  return std::vector<Value>{dx, dfilter};
}

Gradients MaxPoolGradient(const GradientContext& c) {
  return std::vector<Value>{c.builder->Add("MaxPoolGrad", {c.inputs[0], c.outputs[0], c.dy()}, c.attributes)};
}

constexpr OpDef kOps[] = {
    {.name = "Conv2D",
     .inputs = "TT",
     .type = TypeClass::kFloating,
     .attributes = "strides:list of int,padding:string,data_format:string?",
     .shape = Conv2DShape,
     .gradient = Conv2DGradient},
    // input_sizes: the forward input's; a batch of -1 is that of out_backprop (TensorFlow: no -1).
    {.name = "Conv2DBackpropInput",
     .inputs = "ITT",
     .type = TypeClass::kFloating,
     .attributes = "strides:list of int,padding:string,data_format:string?",
     .shape = BackpropInputShape},
    {.name = "Conv2DBackpropFilter",
     .inputs = "TIT",
     .type = TypeClass::kFloating,
     .attributes = "strides:list of int,padding:string,data_format:string?",
     .shape = BackpropFilterShape},
    // Padding never wins, and the gradient goes to the first of equal elements in row-major order.
    {.name = "MaxPool",
     .inputs = "T",
     .type = TypeClass::kNumber,
     .attributes = "ksize:list of int,strides:list of int,padding:string,data_format:string?",
     .shape = MaxPoolShape,
     .gradient = MaxPoolGradient},
    {.name = "MaxPoolGrad",
     .inputs = "TTT",
     .type = TypeClass::kNumber,
     .attributes = "ksize:list of int,strides:list of int,padding:string,data_format:string?",
     .shape = MaxPoolGradShape},
};

}  // namespace

absl::Span<const OpDef> ConvolutionOps() { return kOps; }

}  // namespace cohort::ops
