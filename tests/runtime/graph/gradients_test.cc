#include "runtime/graph/gradients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/graph/ops.h"
#include "tests/testing/reference_interpreter.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::ReferenceInterpreter;
using ::cohort::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
const TensorSpec kScalar{DType::kF64, {}};
const TensorSpec k2x2{DType::kF64, {2, 2}};

class GradientsTest : public ::testing::Test {
 protected:
  // Gradients of y by the xs, evaluated.
  std::vector<std::vector<double>> Evaluate(Value y, std::vector<Value> xs, std::vector<Tensor> arguments) {
    const auto gradients = Gradients(b_, y, xs);
    EXPECT_THAT(gradients, testing::IsOk());
    for (const Value& g : *gradients) b_.AddResult(absl::StrCat("g", results_++), g);
    absl::StatusOr<Function> f = b_.Finish();
    EXPECT_THAT(f, testing::IsOk());
    const auto results = interpreter_.Run(*f, arguments);
    EXPECT_THAT(results, testing::IsOk());
    std::vector<std::vector<double>> values;
    for (const Tensor& t : *results) values.emplace_back(t.values<double>().begin(), t.values<double>().end());
    return values;
  }

  FunctionBuilder b_{"f"};
  ReferenceInterpreter interpreter_;
  int results_ = 0;
};

// y = sum(a b), a = [1 2; 3 4], b = [5 6; 7 8]: da = row sums of b, in each row; db = column sums of a, in each column.
TEST_F(GradientsTest, MatMulByHand) {
  const Value a = b_.AddParameter("a", k2x2), b = b_.AddParameter("b", k2x2);
  const auto g = Evaluate(Sum(MatMul(a, b)), {a, b},
                          {Tensor::Of<double>({2, 2}, {1, 2, 3, 4}), Tensor::Of<double>({2, 2}, {5, 6, 7, 8})});
  EXPECT_THAT(g[0], ElementsAre(11, 15, 11, 15));
  EXPECT_THAT(g[1], ElementsAre(4, 4, 6, 6));
}

// y = sum((a + r) * a) with a row r: da = 2a + r, dr = column sums of a.
TEST_F(GradientsTest, BroadcastAndFanOutByHand) {
  const Value a = b_.AddParameter("a", k2x2), r = b_.AddParameter("r", {DType::kF64, {2}});
  const auto g =
      Evaluate(Sum((a + r) * a), {a, r}, {Tensor::Of<double>({2, 2}, {1, 2, 3, 4}), Tensor::Of<double>({2}, {10, 20})});
  EXPECT_THAT(g[0], ElementsAre(12, 24, 16, 28));
  EXPECT_THAT(g[1], ElementsAre(4, 6));
}

// Logits 0 and ln 3: softmax (1/4, 3/4); label 0: gradient (-3/4, 3/4).
TEST_F(GradientsTest, CrossEntropyByHand) {
  const Value x = b_.AddParameter("x", {DType::kF64, {Shape::kUnknown, 2}});
  const Value labels = b_.AddParameter("labels", {DType::kI32, {Shape::kUnknown}});
  const auto g = Evaluate(Sum(SparseSoftmaxCrossEntropyWithLogits(x, labels).loss), {x},
                          {Tensor::Of<double>({1, 2}, {0, std::log(3.0)}), Tensor::Of<int32_t>({1}, {0})});
  EXPECT_THAT(g[0], ElementsAre(::testing::DoubleNear(-0.75, 1e-15), ::testing::DoubleNear(0.75, 1e-15)));
}

// The gradient of summed losses is the op's own second output: nothing multiplies it by ones.
TEST_F(GradientsTest, SummedCrossEntropyPassesTheBackpropOn) {
  const Value x = b_.AddParameter("x", {DType::kF32, {Shape::kUnknown, 10}});
  const Value w = b_.Variable("w", {DType::kF32, {10, 10}});
  const Value labels = b_.AddParameter("labels", {DType::kI32, {Shape::kUnknown}});
  const CrossEntropy loss = SparseSoftmaxCrossEntropyWithLogits(MatMul(x, ReadVariable(w)), labels);
  COHORT_ASSERT_OK_AND_ASSIGN(const auto g, Gradients(b_, Sum(loss.loss), {w}));
  const Node& product = b_.graph().node(g[0].output.node);
  EXPECT_EQ(product.op, "MatMul");
  EXPECT_EQ(product.inputs[1], loss.backprop.output);
  for (const Node& node : b_.graph().nodes()) EXPECT_NE(node.op, "Mul");
}

// y = w*w + (2w) through two uses of one read: dw = 2w + 2.
TEST_F(GradientsTest, HandleSumsItsReads) {
  const Value w = b_.Variable("w", kScalar);
  const Value first = ReadVariable(w);
  AssignAdd(w, ScalarConstant(b_, DType::kF64, 1));
  const Value second = ReadVariable(w);
  interpreter_.variables["w"] = Tensor::Scalar(3.0);
  const auto g = Evaluate(first * first + second + second, {w}, {});
  EXPECT_THAT(g[0], ElementsAre(8));
}

TEST_F(GradientsTest, UnneededGradientsAreNotComputed) {
  const Value x = b_.AddParameter("x", {DType::kF32, {Shape::kUnknown, 28, 28, 1}});
  const Value filter = b_.AddParameter("filter", {DType::kF32, {5, 5, 1, 8}});
  COHORT_ASSERT_OK(Gradients(b_, Sum(Conv2D(x, filter, {})), {filter}));
  for (const Node& node : b_.graph().nodes()) EXPECT_NE(node.op, "Conv2DBackpropInput");
}

TEST_F(GradientsTest, UnconnectedIsAnErrorOrZeros) {
  const Value x = b_.AddParameter("x", kScalar), other = b_.AddParameter("other", k2x2);
  const Value y = Square(x);
  EXPECT_THAT(Gradients(b_, y, {x, other}), StatusIs(kInvalid, HasSubstr("does not depend on 'other'")));
  COHORT_ASSERT_OK_AND_ASSIGN(const auto g, Gradients(b_, y, {other}, Unconnected::kZeros));
  EXPECT_EQ(g[0].spec(), k2x2);
}

TEST_F(GradientsTest, IntegersEndThePath) {
  const Value x = b_.AddParameter("x", kScalar);
  const Value through = Cast(Cast(x, DType::kI32), DType::kF64);
  EXPECT_THAT(Gradients(b_, through, {x}), StatusIs(kInvalid, HasSubstr("does not depend on 'x'")));
  EXPECT_THAT(Gradients(b_, Cast(x, DType::kI32), {x}), StatusIs(kInvalid, HasSubstr("only floats")));
}

TEST_F(GradientsTest, OpsWithoutGradientAreNamed) {
  const Value x = b_.AddParameter("x", k2x2);
  EXPECT_THAT(Gradients(b_, Sum(BiasAddGrad(x)), {x}),
              StatusIs(kInvalid, HasSubstr("gradient of 'BiasAddGrad' (BiasAddGrad): the op has none")));
  EXPECT_THAT(Gradients(b_, AllReduce(x, "MAX"), {x}), StatusIs(kInvalid, HasSubstr("MAX")));
}

TEST_F(GradientsTest, StickyErrorsComeBack) {
  const Value x = b_.AddParameter("x", k2x2);
  const Value wrong = Reshape(x, {3});
  EXPECT_THAT(Gradients(b_, wrong, {x}), StatusIs(kInvalid, HasSubstr("Reshape")));
}

TEST_F(GradientsTest, YByItselfIsOnes) {
  const Value x = b_.AddParameter("x", k2x2);
  const auto g = Evaluate(x, {x}, {Tensor::Of<double>({2, 2}, {1, 2, 3, 4})});
  EXPECT_THAT(g[0], ElementsAre(1, 1, 1, 1));
}

}  // namespace
}  // namespace cohort
