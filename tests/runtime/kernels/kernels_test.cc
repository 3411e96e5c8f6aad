// Kernels, run by the step executor, against the reference interpreter on the same bytes, and against hand-made values.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "runtime/executor/step_executor.h"
#include "runtime/graph/ops.h"
#include "tests/testing/reference_interpreter.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::ReferenceInterpreter;
using ::testing::ElementsAre;

constexpr int64_t kUnknown = Shape::kUnknown;

using Inputs = std::vector<Value>;
using Trace = std::function<Inputs(Inputs)>;

struct KernelCase {
  std::string name;
  std::vector<TensorSpec> parameters;  // their unknown dimension is the batch
  Trace trace;
  std::vector<int64_t> batches = {0, 1, 5, 70};
};

// Parameters p0, p1, ... and results r0, r1, ...
absl::StatusOr<Function> MakeFunction(const KernelCase& c) {
  FunctionBuilder builder(c.name);
  Inputs inputs;
  for (size_t i = 0; i < c.parameters.size(); ++i) {
    inputs.push_back(builder.AddParameter("p" + std::to_string(i), c.parameters[i]));
  }
  const Inputs results = c.trace(inputs);
  for (size_t i = 0; i < results.size(); ++i) builder.AddResult("r" + std::to_string(i), results[i]);
  return builder.Finish();
}

// Reproducible values: floats in (-1, 1), some of them 0 and equal; small integers.
Tensor Fill(TensorSpec spec, int64_t batch, uint32_t seed) {
  for (int i = 0; i < spec.shape.rank(); ++i) {
    if (spec.shape.dim(i) == kUnknown) spec.shape.set_dim(i, batch);
  }
  Tensor tensor(spec.dtype, spec.shape);
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    seed = seed * 1664525u + 1013904223u;
    const int number = static_cast<int>(seed >> 8 & 0xffff) - 32768;
    if (spec.dtype == DType::kF32) tensor.mutable_values<float>()[i] = number % 7 == 0 ? 0 : number / 32768.0f;
    if (spec.dtype == DType::kF64) tensor.mutable_values<double>()[i] = number / 32768.0;
    if (spec.dtype == DType::kI32) tensor.mutable_values<int32_t>()[i] = std::abs(number) % 4;
    if (spec.dtype == DType::kI64) tensor.mutable_values<int64_t>()[i] = std::abs(number) % 4;
    if (spec.dtype == DType::kU8) tensor.mutable_values<uint8_t>()[i] = static_cast<uint8_t>(number);
    if (spec.dtype == DType::kBool) tensor.mutable_values<bool>()[i] = number > 0;
  }
  return tensor;
}

absl::StatusOr<std::vector<Tensor>> RunOnExecutor(const Function& function, const Element& batch, int threads) {
  VariableStore store;
  TilePool tiles(threads);
  auto executor = StepExecutor::Create(function, {}, store, nullptr, nullptr, tiles);
  if (!executor.ok()) return executor.status();
  StepHeader header;
  const absl::Status status = (*executor)->Run({.step = 1, .batch = &batch}, header);
  if (!status.ok()) return status;
  std::vector<Tensor> results;
  for (const Result& result : function.results) {
    auto value = (*executor)->Fetch(result.name);
    if (!value.ok()) return value.status();
    results.push_back(*std::move(value));
  }
  return results;
}

// Sums of up to some thousand products of numbers below 1 in float32 against float64.
constexpr double kBound = 2e-5;

void ExpectClose(const Tensor& got, const Tensor& want, const std::string& where) {
  ASSERT_EQ(got.spec(), want.spec()) << where;
  const testing::Array a = testing::Array::Of(got), b = testing::Array::Of(want);
  for (size_t i = 0; i < a.values.size(); ++i) {
    if (std::isnan(b.values[i]) && std::isnan(a.values[i])) continue;
    const double bound = IsFloating(got.dtype()) ? kBound * std::max(1.0, std::abs(b.values[i])) : 0;
    ASSERT_LE(std::abs(a.values[i] - b.values[i]), bound)
        << where << " element " << i << ": " << a.values[i] << ", not " << b.values[i];
  }
}

class KernelTest : public ::testing::TestWithParam<KernelCase> {};

TEST_P(KernelTest, AgreesWithTheReferenceAndForAnyThreads) {
  COHORT_ASSERT_OK_AND_ASSIGN(const Function function, MakeFunction(GetParam()));
  for (const int64_t batch : GetParam().batches) {
    Element element;
    for (const TensorSpec& spec : GetParam().parameters) {
      element.push_back(Fill(spec, batch, static_cast<uint32_t>(element.size()) + 1));
    }
    ReferenceInterpreter reference;
    COHORT_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> want, reference.Run(function, element));
    COHORT_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> got, RunOnExecutor(function, element, 1));
    COHORT_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> threaded, RunOnExecutor(function, element, 3));
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) {
      ExpectClose(got[i], want[i], "batch " + std::to_string(batch) + " result " + std::to_string(i));
      EXPECT_TRUE(got[i].BitwiseEquals(threaded[i])) << "batch " << batch << " result " << i;
    }
  }
}

TensorSpec F32(Shape shape) { return {DType::kF32, std::move(shape)}; }
TensorSpec I32(Shape shape) { return {DType::kI32, std::move(shape)}; }

const WindowOptions kSame{.strides = {1, 1}, .padding = "SAME"};
const WindowOptions kValid{.strides = {1, 1}, .padding = "VALID"};
const WindowOptions kSameBy2{.strides = {2, 2}, .padding = "SAME"};
const WindowOptions kValidBy2{.strides = {2, 2}, .padding = "VALID"};

// A convolution with both gradients.
Trace Convolve(Shape input, Shape filter, WindowOptions options) {
  return [=](Inputs in) {
    const Value y = Conv2D(in[0], in[1], options);
    const std::vector<int64_t> sizes = {-1, input.dim(1), input.dim(2), input.dim(3)};
    const std::vector<int64_t> filter_sizes(filter.dims().begin(), filter.dims().end());
    return Inputs{y, Conv2DBackpropInput(sizes, in[1], y, options),
                  Conv2DBackpropFilter(in[0], filter_sizes, y, options)};
  };
}

KernelCase ConvolutionCase(const std::string& name, Shape input, Shape filter, WindowOptions options) {
  return {name, {F32(input), F32(filter)}, Convolve(input, filter, options), {0, 1, 9}};
}

Trace PoolWithGradient(std::array<int64_t, 2> size, WindowOptions options) {
  return [=](Inputs in) {
    const Value y = MaxPool(in[0], size, options);
    FunctionBuilder& builder = *in[0].builder;
    const Value dx = builder.Add("MaxPoolGrad", {in[0], y, y},
                                 {{"ksize", std::vector<int64_t>{1, size[0], size[1], 1}},
                                  {"strides", std::vector<int64_t>{1, options.strides[0], options.strides[1], 1}},
                                  {"padding", options.padding}});
    return Inputs{y, dx};
  };
}

KernelCase Unary(const std::string& name, Value (*op)(Value)) {
  return {name, {F32({kUnknown, 1000})}, [op](Inputs in) { return Inputs{op(in[0])}; }};
}
KernelCase Binary(const std::string& name, Value (*op)(Value, Value)) {
  return {name,
          {F32({kUnknown, 40}), F32({kUnknown, 40}), F32({40}), F32({}), F32({kUnknown, 1})},
          [op](Inputs in) {
            return Inputs{op(in[0], in[1]), op(in[0], in[2]), op(in[2], in[0]), op(in[0], in[3]),
                          op(in[3], in[0]), op(in[4], in[2]), op(in[0], in[4])};
          },
          {0, 1, 5, 1700}};
}

const KernelCase kCases[] = {
    {"MatMul",
     {F32({kUnknown, 300}), F32({300, 40}), F32({40, 300}), F32({300, kUnknown})},
     [](Inputs in) {
       return Inputs{MatMul(in[0], in[1]), MatMul(in[0], in[2], false, true), MatMul(in[3], in[1], true, false),
                     MatMul(in[3], in[2], true, true), MatMul(in[0], in[0], true, false)};
     }},
    {"LargeMatMul",
     {F32({kUnknown, 500}), F32({500, 300})},
     [](Inputs in) { return Inputs{MatMul(in[0], in[1])}; },
     {300}},
    {"FusedMatMul",
     {F32({kUnknown, 30}), F32({30, 20}), F32({20}), F32({kUnknown, 20})},
     [](Inputs in) {
       const Value y = Relu(BiasAdd(MatMul(in[0], in[1]), in[2]));
       return Inputs{y, BiasAdd(MatMul(in[0], in[1], false, false), in[2]), Relu(MatMul(in[0], in[1])),
                     ReluGrad(MatMul(in[0], in[1]), in[3])};
     }},
    {"BiasAdd",
     {F32({kUnknown, 33}), F32({33}), F32({kUnknown, 3, 3, 33})},
     [](Inputs in) {
       return Inputs{BiasAdd(in[0], in[1]), BiasAdd(in[2], in[1]), BiasAddGrad(in[0]), BiasAddGrad(in[2])};
     },
     {0, 1, 5, 3000}},
    ConvolutionCase("ConvolutionSame", {kUnknown, 7, 6, 3}, {3, 3, 3, 5}, kSame),
    ConvolutionCase("ConvolutionValid", {kUnknown, 9, 8, 4}, {3, 2, 4, 17}, kValid),
    ConvolutionCase("ConvolutionByTwo", {kUnknown, 9, 8, 4}, {5, 5, 4, 16}, kSameBy2),
    ConvolutionCase("ConvolutionByTwoValid", {kUnknown, 10, 9, 2}, {3, 3, 2, 6}, kValidBy2),
    ConvolutionCase("PointwiseConvolution", {kUnknown, 5, 5, 20}, {1, 1, 20, 33}, kSame),
    ConvolutionCase("OneChannel", {kUnknown, 28, 28, 1}, {5, 5, 1, 8}, kSame),
    ConvolutionCase("NoOutput", {kUnknown, 2, 2, 1}, {3, 3, 1, 2}, kValid),
    {"FusedConvolution",
     {F32({kUnknown, 6, 6, 2}), F32({3, 3, 2, 4}), F32({4}), F32({kUnknown, 6, 6, 2})},
     [](Inputs in) {
       const Value y = Relu(BiasAdd(Conv2D(in[0], in[1], kSame), in[2]));
       const std::vector<int64_t> sizes = {-1, 6, 6, 2};
       return Inputs{y, ReluGrad(Conv2DBackpropInput(sizes, in[1], y, kSame), in[3])};
     },
     {0, 1, 9}},
    // Between a product and what could be fused with it the shape changes.
    {"NotFusedThroughReshape",
     {F32({kUnknown, 4}), F32({4, 6}), F32({3}), F32({kUnknown, 4, 4, 1}), F32({3, 3, 1, 2}), F32({kUnknown, 16})},
     [](Inputs in) {
       const Value pairs = Reshape(MatMul(in[0], in[1]), {-1, 3});
       const Value dx = Conv2DBackpropInput({-1, 4, 4, 1}, in[4], Conv2D(in[3], in[4], kSame), kSame);
       return Inputs{BiasAdd(pairs, in[2]), ReluGrad(Reshape(dx, {-1, 16}), in[5]),
                     Relu(Reshape(MatMul(in[0], in[1]), {-1, 3}))};
     },
     {0, 1, 9}},
    {"FilterWithoutElements",
     {F32({kUnknown, 3, 3, 2}), F32({2, 2, 2, 0})},
     Convolve({kUnknown, 3, 3, 2}, {2, 2, 2, 0}, kSame),
     {0, 1, 9}},
    {"MaxPool", {F32({kUnknown, 8, 6, 5})}, PoolWithGradient({2, 2}, kValidBy2), {0, 1, 9}},
    {"MaxPoolOddSize", {F32({kUnknown, 7, 5, 16})}, PoolWithGradient({2, 2}, kValidBy2), {0, 1, 9}},
    {"MaxPoolSame", {F32({kUnknown, 7, 5, 3})}, PoolWithGradient({2, 2}, kSameBy2), {0, 1, 9}},
    {"MaxPoolOverlapping", {F32({kUnknown, 7, 5, 3})}, PoolWithGradient({3, 3}, kSameBy2), {0, 1, 9}},
    {"FusedMaxPoolGrad",
     {F32({kUnknown, 7, 6, 4})},
     [](Inputs in) {
       const Value x = Relu(in[0]);
       return Inputs{ReluGrad(PoolWithGradient({2, 2}, kValidBy2)({x})[1], x)};
     },
     {0, 1, 9}},
    {"CrossEntropy",
     {F32({kUnknown, 10}), I32({kUnknown})},
     [](Inputs in) {
       const CrossEntropy a = SparseSoftmaxCrossEntropyWithLogits(in[0], in[1]);
       const CrossEntropy b = SparseSoftmaxCrossEntropyWithLogits(in[0], Cast(in[1], DType::kI64));
       return Inputs{a.loss, a.backprop, b.loss};
     },
     {0, 1, 5, 1000}},
    {"Sums",
     {F32({kUnknown, 6, 40})},
     [](Inputs in) {
       return Inputs{Sum(in[0]),         Sum(in[0], {0}),    Sum(in[0], {1}),          Sum(in[0], {2}),
                     Sum(in[0], {0, 1}), Sum(in[0], {0, 2}), Sum(in[0], {1, 2}, true), Sum(in[0], {-1})};
     },
     {0, 1, 5, 2000}},
    {"Means",
     {F32({kUnknown, 6, 40})},
     [](Inputs in) {
       return Inputs{Mean(in[0]), Mean(in[0], {0}), Mean(in[0], {1, 2})};
     },
     {1, 5}},
    {"IntegerSums",
     {I32({kUnknown, 6}), {DType::kI64, {kUnknown, 6}}},
     [](Inputs in) {
       return Inputs{Sum(in[0]), Sum(in[0], {0}), Sum(in[1]), Sum(in[1], {1})};
     }},
    {"ArgMax",
     {F32({kUnknown, 10}), F32({3, kUnknown, 4})},
     [](Inputs in) {
       return Inputs{ArgMax(in[0], 1), ArgMax(in[0], -1, DType::kI32), ArgMax(in[1], 0)};
     }},
    Binary("Add", Add),
    Binary("Sub", Sub),
    Binary("Mul", Mul),
    Binary("Equal", Equal),
    {"RealDiv", {F32({kUnknown, 9})}, [](Inputs in) { return Inputs{in[0] / (Square(in[0]) + Exp(in[0]))}; }},
    Unary("Neg", Neg),
    Unary("Square", Square),
    Unary("Exp", Exp),
    {"Log", {F32({kUnknown, 9})}, [](Inputs in) { return Inputs{Log(Exp(in[0]))}; }},
    Unary("Tanh", Tanh),
    Unary("Sigmoid", Sigmoid),
    Unary("Relu", Relu),
    Unary("OnesLike", OnesLike),
    Unary("ZerosLike", ZerosLike),
    {"ReluGrad", {F32({kUnknown, 9}), F32({kUnknown, 9})}, [](Inputs in) { return Inputs{ReluGrad(in[0], in[1])}; }},
    {"Cast",
     {F32({kUnknown, 9}), I32({kUnknown, 9}), {DType::kBool, {kUnknown, 9}}, {DType::kU8, {kUnknown, 9}}},
     [](Inputs in) {
       Inputs out;
       for (const Value value : in) {
         for (const DType to : {DType::kF32, DType::kF64, DType::kI32, DType::kI64, DType::kBool}) {
           out.push_back(Cast(value, to));
         }
       }
       return out;
     }},
    {"Shapes",
     {F32({kUnknown, 6, 4})},
     [](Inputs in) {
       return Inputs{Reshape(in[0], {-1, 3, 8}),  Transpose(in[0], {2, 0, 1}),
                     Transpose(in[0], {0, 2, 1}), Size(in[0]),
                     Size(in[0], DType::kI64),    Transpose(Reshape(in[0], {-1, 24}), {1, 0})};
     }},
    {"Broadcasts",
     {F32({kUnknown, 1}), F32({4}), F32({}), F32({kUnknown, 4})},
     [](Inputs in) {
       return Inputs{BroadcastLike(in[0], in[3]), BroadcastLike(in[1], in[3]), BroadcastLike(in[2], in[3]),
                     BroadcastTo(in[1], {3, 2, 4}), BroadcastTo(in[2], {2})};
     }},
    {"PassedThrough",
     {F32({kUnknown, 3})},
     [](Inputs in) {
       return Inputs{in[0],
                     Identity(in[0]),
                     AllReduce(in[0]),
                     TestDelay(in[0], 0.0),
                     ReplicaId(*in[0].builder),
                     Constant(*in[0].builder, Tensor::Of<float>(Shape{2}, {1, 2}))};
     }},
};

INSTANTIATE_TEST_SUITE_P(All, KernelTest, ::testing::ValuesIn(kCases),
                         [](const auto& test) { return test.param.name; });

// --- values made by hand

std::vector<float> Floats(const Tensor& tensor) {
  return std::vector<float>(tensor.values<float>().begin(), tensor.values<float>().end());
}

TEST(KernelValuesTest, ConvolutionOfTwoByTwo) {
  const KernelCase c = ConvolutionCase("f", {kUnknown, 2, 2, 1}, {2, 2, 1, 1}, kSame);
  COHORT_ASSERT_OK_AND_ASSIGN(const Function function, MakeFunction(c));
  const Element batch = {Tensor::Of<float>(Shape{1, 2, 2, 1}, {1, 2, 3, 4}),
                         Tensor::Of<float>(Shape{2, 2, 1, 1}, {1, 10, 100, 1000})};
  COHORT_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> results, RunOnExecutor(function, batch, 1));
  // SAME pads behind: y = x00 + 10 x01 + 100 x10 + 1000 x11, zeros beside the image.
  EXPECT_THAT(Floats(results[0]), ElementsAre(4321, 402, 43, 4));
  // dx(h, w) = sum over positions of dy * filter, with dy = y.
  EXPECT_THAT(Floats(results[1]), ElementsAre(4321, 43210 + 402, 432100 + 43, 4321000 + 40200 + 430 + 4));
  EXPECT_THAT(Floats(results[2]),
              ElementsAre(4321 + 2 * 402 + 3 * 43 + 4 * 4, 2 * 4321 + 4 * 43, 3 * 4321 + 4 * 402, 4 * 4321));
}

TEST(KernelValuesTest, IntegersWrapAround) {
  constexpr int32_t kLeast = std::numeric_limits<int32_t>::min(), kMost = std::numeric_limits<int32_t>::max();
  COHORT_ASSERT_OK_AND_ASSIGN(const Function function,
                              MakeFunction({"f",
                                            {I32({2, 2}), I32({2})},
                                            [](Inputs in) {
                                              return Inputs{Neg(in[0]),    in[0] + in[0], in[0] - in[1],
                                                            Square(in[0]), in[0] * in[1], BiasAdd(in[0], in[1]),
                                                            Sum(in[0])};
                                            },
                                            {}}));
  const Element batch = {Tensor::Of<int32_t>(Shape{2, 2}, {kLeast, kMost, 1, kMost}),
                         Tensor::Of<int32_t>(Shape{2}, {1, 2})};
  COHORT_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> results, RunOnExecutor(function, batch, 1));
  const auto ints = [&](int i) { return results[i].values<int32_t>(); };
  EXPECT_THAT(ints(0), ElementsAre(kLeast, -kMost, -1, -kMost));
  EXPECT_THAT(ints(1), ElementsAre(0, -2, 2, -2));
  EXPECT_THAT(ints(2), ElementsAre(kMost, kMost - 2, 0, kMost - 2));
  EXPECT_THAT(ints(3), ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(ints(4), ElementsAre(kLeast, -2, 1, -2));
  EXPECT_THAT(ints(5), ElementsAre(kLeast + 1, kLeast + 1, 2, kLeast + 1));
  EXPECT_THAT(ints(6), ElementsAre(kMost));  // -2^31 + 2 * (2^31 - 1) + 1 = 2^31 - 1
}

TEST(KernelValuesTest, TheFirstOfEqualsTakesTheGradient) {
  COHORT_ASSERT_OK_AND_ASSIGN(const Function function,
                              MakeFunction({"f", {F32({kUnknown, 2, 2, 1})}, PoolWithGradient({2, 2}, kValidBy2), {}}));
  const Element batch = {Tensor::Of<float>(Shape{1, 2, 2, 1}, {1, 3, 3, 3})};
  COHORT_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> results, RunOnExecutor(function, batch, 1));
  EXPECT_THAT(Floats(results[1]), ElementsAre(0, 3, 0, 0));
}

TEST(KernelValuesTest, ExponentialsAtTheirEnds) {
  COHORT_ASSERT_OK_AND_ASSIGN(const Function function, MakeFunction({"f",
                                                                     {F32({kUnknown})},
                                                                     [](Inputs in) {
                                                                       return Inputs{Exp(in[0]), Sigmoid(in[0])};
                                                                     },
                                                                     {}}));
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Element batch = {Tensor::Of<float>(Shape{6}, {0, 100, -200, inf, -inf, nan})};
  COHORT_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> results, RunOnExecutor(function, batch, 1));
  EXPECT_THAT(Floats(results[0]), ElementsAre(1, inf, 0, inf, 0, ::testing::IsNan()));
  EXPECT_THAT(Floats(results[1]), ElementsAre(0.5f, 1, 0, 1, 0, ::testing::IsNan()));
}

TEST(KernelValuesTest, CrossEntropyOfEqualLogits) {
  COHORT_ASSERT_OK_AND_ASSIGN(const Function function,
                              MakeFunction({"f",
                                            {F32({kUnknown, 4}), I32({kUnknown})},
                                            [](Inputs in) {
                                              const CrossEntropy x = SparseSoftmaxCrossEntropyWithLogits(in[0], in[1]);
                                              return Inputs{x.loss, x.backprop};
                                            },
                                            {}}));
  Element batch = {Tensor::Of<float>(Shape{1, 4}, {2, 2, 2, 2}), Tensor::Of<int32_t>(Shape{1}, {3})};
  COHORT_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> results, RunOnExecutor(function, batch, 1));
  EXPECT_FLOAT_EQ(Floats(results[0])[0], std::log(4.0f));
  EXPECT_THAT(Floats(results[1]), ElementsAre(0.25f, 0.25f, 0.25f, -0.75f));
  batch[1] = Tensor::Of<int32_t>(Shape{1}, {4});
  EXPECT_THAT(RunOnExecutor(function, batch, 1),
              testing::StatusIs(absl::StatusCode::kInvalidArgument, ::testing::HasSubstr("label 4")));
}

}  // namespace
}  // namespace cohort
