#ifndef COHORT_RUNTIME_GRAPH_OPS_H_
#define COHORT_RUNTIME_GRAPH_OPS_H_

#include <array>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/graph/builder.h"

// Ops as functions on Values, for tracing. Names and meanings are TensorFlow's; errors stick to the builder.
// The order of nodes is the order of calls, and C++ leaves the order of a call's arguments open: where graphs must be
// equal across compilers, give what adds nodes a name first.
namespace cohort {

// --- constants and structure
Value Constant(FunctionBuilder& builder, Tensor value);
// A scalar of `dtype`, a number dtype.
Value ScalarConstant(FunctionBuilder& builder, DType dtype, double value);
Value Identity(Value x);
// int32 scalar: the rank of the replica that runs the function.
Value ReplicaId(FunctionBuilder& builder);
// One Value per result of the function `name` of the builder's library.
std::vector<Value> Call(FunctionBuilder& builder, absl::string_view name, absl::Span<const Value> arguments);
// x, after the given time; replica -1: on all.
Value TestDelay(Value x, double seconds, int64_t replica = -1);
// x reduced over the replicas, on each of them; reduction: "SUM", "MIN", "MAX". A mean is a product afterwards.
Value AllReduce(Value x, absl::string_view reduction = "SUM");

// --- variables
Value ReadVariable(Value handle);
void Assign(Value handle, Value value);
void AssignAdd(Value handle, Value value);
void AssignSub(Value handle, Value value);
void ApplyGradient(Value handle, Value gradient, Attributes optimizer);

// --- elementwise; the binary ones broadcast as numpy does
Value Add(Value a, Value b);
Value Sub(Value a, Value b);
Value Mul(Value a, Value b);
Value RealDiv(Value a, Value b);
inline Value operator+(Value a, Value b) { return Add(a, b); }
inline Value operator-(Value a, Value b) { return Sub(a, b); }
inline Value operator*(Value a, Value b) { return Mul(a, b); }
inline Value operator/(Value a, Value b) { return RealDiv(a, b); }
Value Equal(Value a, Value b);  // bool
Value Neg(Value x);
inline Value operator-(Value x) { return Neg(x); }
Value Square(Value x);
Value Exp(Value x);
Value Log(Value x);
Value Tanh(Value x);
Value Sigmoid(Value x);
Value Relu(Value x);
Value ReluGrad(Value gradients, Value features);  // gradients where features > 0, else 0
Value Cast(Value x, DType dtype);                 // to integers towards zero; to bool: != 0

// --- arrays
Value Reshape(Value x, absl::Span<const int64_t> shape);  // one dimension may be -1: what remains
Value Transpose(Value x, absl::Span<const int64_t> permutation);
Value BroadcastTo(Value x, absl::Span<const int64_t> shape);
Value BroadcastLike(Value x, Value like);  // to the shape that `like` has at run time
Value OnesLike(Value x);
Value ZerosLike(Value x);
Value Size(Value x, DType out_type = DType::kI32);  // number of elements

// --- reductions; axes may count from the end. Sum(x) and Mean(x) reduce to a scalar
Value Sum(Value x, absl::Span<const int64_t> axes, bool keep_dims = false);
Value Mean(Value x, absl::Span<const int64_t> axes, bool keep_dims = false);
Value Sum(Value x);
Value Mean(Value x);
Value ArgMax(Value x, int64_t axis, DType output_type = DType::kI64);  // the first of equals

// --- neural networks; images are [batch, height, width, channels], filters [height, width, in, out]
Value MatMul(Value a, Value b, bool transpose_a = false, bool transpose_b = false);
Value BiasAdd(Value x, Value bias);  // bias: [last dimension of x]
Value BiasAddGrad(Value dy);         // summed over all but the last dimension

// padding: "SAME" or "VALID"; pairs are {height, width}.
struct WindowOptions {
  std::array<int64_t, 2> strides = {1, 1};
  std::string padding = "SAME";
};
Value Conv2D(Value input, Value filter, const WindowOptions& options);
// input_sizes: of the forward input; its batch may be -1, that of dy.
Value Conv2DBackpropInput(absl::Span<const int64_t> input_sizes, Value filter, Value dy, const WindowOptions& options);
Value Conv2DBackpropFilter(Value input, absl::Span<const int64_t> filter_sizes, Value dy, const WindowOptions& options);
Value MaxPool(Value input, std::array<int64_t, 2> size, const WindowOptions& options);

// features: floating [batch, classes]; labels: int32 or int64 [batch], in [0, classes).
struct CrossEntropy {
  Value loss;      // [batch]
  Value backprop;  // [batch, classes]: d loss / d features
};
CrossEntropy SparseSoftmaxCrossEntropyWithLogits(Value features, Value labels);

}  // namespace cohort

#endif  // COHORT_RUNTIME_GRAPH_OPS_H_
