#include "runtime/graph/ops.h"

#include "absl/strings/str_cat.h"
#include "runtime/tensor/element_type.h"

namespace cohort {
namespace {

// Adds through the builder of the first input that has one; without any there is nobody to tell.
int AddNode(absl::string_view op, absl::Span<const Value> inputs, Attributes attributes) {
  for (const Value& input : inputs) {
    if (input.builder != nullptr) return input.builder->AddNode(op, inputs, std::move(attributes));
  }
  return -1;
}

FunctionBuilder* BuilderOf(absl::Span<const Value> values) {
  for (const Value& value : values) {
    if (value.builder != nullptr) return value.builder;
  }
  return nullptr;
}

Value Op(absl::string_view op, absl::Span<const Value> inputs, Attributes attributes = {}) {
  FunctionBuilder* builder = BuilderOf(inputs);
  return Value{builder, {AddNode(op, inputs, std::move(attributes)), 0}};
}

// A vector as a second input: shapes, axes, permutations.
Value Ints(Value like, absl::Span<const int64_t> values) {
  if (like.builder == nullptr) return {};
  return Constant(*like.builder, Tensor::Of<int64_t>(Shape{static_cast<int64_t>(values.size())}, values));
}

Attributes WindowAttributes(const WindowOptions& options) {
  return {{"strides", std::vector<int64_t>{1, options.strides[0], options.strides[1], 1}},
          {"padding", options.padding}};
}

std::vector<int64_t> AllAxes(Value x) {
  std::vector<int64_t> axes(x.shape().rank());
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
  return axes;
}

}  // namespace

Value Constant(FunctionBuilder& builder, Tensor value) {
  return builder.Add("Const", {}, {{"value", std::move(value)}});
}

Value ScalarConstant(FunctionBuilder& builder, DType dtype, double value) {
  Tensor scalar;
  DispatchElementType(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
      scalar = Tensor::Scalar(T(static_cast<float>(value)));
    } else {
      scalar = Tensor::Scalar(static_cast<T>(value));
    }
  });
  return Constant(builder, std::move(scalar));
}

Value Identity(Value x) { return Op("Identity", {x}); }
Value ReplicaId(FunctionBuilder& builder) { return builder.Add("ReplicaId", {}); }

std::vector<Value> Call(FunctionBuilder& builder, absl::string_view name, absl::Span<const Value> arguments) {
  const int node = builder.AddNode("PartitionedCall", arguments, {{"f", std::string(name)}});
  std::vector<Value> results;
  const size_t count = node < 0 ? 0 : builder.graph().node(node).outputs.size();
  for (size_t i = 0; i < count; ++i) results.push_back(builder.OutputOf(node, static_cast<int>(i)));
  return results;
}

Value TestDelay(Value x, double seconds, int64_t replica) {
  return Op("TestDelay", {x}, {{"seconds", seconds}, {"replica", replica}});
}
Value AllReduce(Value x, absl::string_view reduction) {
  return Op("AllReduce", {x}, {{"reduction", std::string(reduction)}});
}

Value ReadVariable(Value handle) { return handle.builder ? handle.builder->ReadVariable(handle) : Value(); }
void Assign(Value handle, Value value) {
  if (handle.builder) handle.builder->AssignVariable("AssignVariableOp", handle, value);
}
void AssignAdd(Value handle, Value value) {
  if (handle.builder) handle.builder->AssignVariable("AssignAddVariableOp", handle, value);
}
void AssignSub(Value handle, Value value) {
  if (handle.builder) handle.builder->AssignVariable("AssignSubVariableOp", handle, value);
}
void ApplyGradient(Value handle, Value gradient, Attributes optimizer) {
  if (handle.builder) handle.builder->ApplyGradient(handle, gradient, std::move(optimizer));
}

Value Add(Value a, Value b) { return Op("AddV2", {a, b}); }
Value Sub(Value a, Value b) { return Op("Sub", {a, b}); }
Value Mul(Value a, Value b) { return Op("Mul", {a, b}); }
Value RealDiv(Value a, Value b) { return Op("RealDiv", {a, b}); }
Value Equal(Value a, Value b) { return Op("Equal", {a, b}); }
Value Neg(Value x) { return Op("Neg", {x}); }
Value Square(Value x) { return Op("Square", {x}); }
Value Exp(Value x) { return Op("Exp", {x}); }
Value Log(Value x) { return Op("Log", {x}); }
Value Tanh(Value x) { return Op("Tanh", {x}); }
Value Sigmoid(Value x) { return Op("Sigmoid", {x}); }
Value Relu(Value x) { return Op("Relu", {x}); }
Value ReluGrad(Value gradients, Value features) { return Op("ReluGrad", {gradients, features}); }
Value Cast(Value x, DType dtype) {
  if (x.valid() && x.dtype() == dtype) return x;
  return Op("Cast", {x}, {{"DstT", dtype}});
}

Value Reshape(Value x, absl::Span<const int64_t> shape) {
  if (x.valid() && x.shape().IsFullyDefined() && x.shape().dims() == shape) return x;
  return Op("Reshape", {x, Ints(x, shape)});
}
Value Transpose(Value x, absl::Span<const int64_t> permutation) { return Op("Transpose", {x, Ints(x, permutation)}); }
Value BroadcastTo(Value x, absl::Span<const int64_t> shape) { return Op("BroadcastTo", {x, Ints(x, shape)}); }
Value BroadcastLike(Value x, Value like) { return Op("BroadcastLike", {x, like}); }
Value OnesLike(Value x) { return Op("OnesLike", {x}); }
Value ZerosLike(Value x) { return Op("ZerosLike", {x}); }
Value Size(Value x, DType out_type) { return Op("Size", {x}, {{"out_type", out_type}}); }

Value Sum(Value x, absl::Span<const int64_t> axes, bool keep_dims) {
  return Op("Sum", {x, Ints(x, axes)}, {{"keep_dims", keep_dims}});
}
Value Mean(Value x, absl::Span<const int64_t> axes, bool keep_dims) {
  return Op("Mean", {x, Ints(x, axes)}, {{"keep_dims", keep_dims}});
}
Value Sum(Value x) { return Sum(x, AllAxes(x)); }
Value Mean(Value x) { return Mean(x, AllAxes(x)); }
Value ArgMax(Value x, int64_t axis, DType output_type) {
  if (x.builder == nullptr) return {};
  return Op("ArgMax", {x, Constant(*x.builder, Tensor::Scalar<int64_t>(axis))}, {{"output_type", output_type}});
}

Value MatMul(Value a, Value b, bool transpose_a, bool transpose_b) {
  return Op("MatMul", {a, b}, {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
}
Value BiasAdd(Value x, Value bias) { return Op("BiasAdd", {x, bias}); }
Value BiasAddGrad(Value dy) { return Op("BiasAddGrad", {dy}); }

Value Conv2D(Value input, Value filter, const WindowOptions& options) {
  return Op("Conv2D", {input, filter}, WindowAttributes(options));
}
Value Conv2DBackpropInput(absl::Span<const int64_t> input_sizes, Value filter, Value dy, const WindowOptions& options) {
  return Op("Conv2DBackpropInput", {Ints(dy, input_sizes), filter, dy}, WindowAttributes(options));
}
Value Conv2DBackpropFilter(Value input, absl::Span<const int64_t> filter_sizes, Value dy,
                           const WindowOptions& options) {
  return Op("Conv2DBackpropFilter", {input, Ints(dy, filter_sizes), dy}, WindowAttributes(options));
}
Value MaxPool(Value input, std::array<int64_t, 2> size, const WindowOptions& options) {
  Attributes attributes = WindowAttributes(options);
  attributes["ksize"] = std::vector<int64_t>{1, size[0], size[1], 1};
  return Op("MaxPool", {input}, std::move(attributes));
}

CrossEntropy SparseSoftmaxCrossEntropyWithLogits(Value features, Value labels) {
  const Value loss = Op("SparseSoftmaxCrossEntropyWithLogits", {features, labels});
  if (!loss.valid()) return {loss, loss};
  return {loss, Value{loss.builder, {loss.output.node, 1}}};
}

}  // namespace cohort
