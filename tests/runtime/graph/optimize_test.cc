#include "runtime/graph/optimize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/graph/gradients.h"
#include "runtime/graph/ops.h"
#include "tests/testing/reference_interpreter.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::ReferenceInterpreter;
using ::cohort::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const TensorSpec kVector{DType::kF32, {2}};

std::vector<std::string> OpsOf(const Function& f) {
  std::vector<std::string> ops;
  for (const Node& node : f.graph.nodes()) ops.push_back(node.op);
  return ops;
}

TEST(OptimizeTest, DropsWhatNothingNeeds) {
  FunctionBuilder b("f");
  const Value x = b.AddParameter("x", kVector);
  b.AddParameter("unused", kVector);
  Exp(ReadVariable(b.Variable("w", kVector)));
  b.AddResult("y", Neg(x));
  COHORT_ASSERT_OK_AND_ASSIGN(const Function f, b.Finish());
  COHORT_ASSERT_OK_AND_ASSIGN(const Function g, Optimize(f));
  EXPECT_THAT(OpsOf(g), ElementsAre("Placeholder", "Placeholder", "Neg"));
  EXPECT_EQ(g.parameters[1].node, 1);
}

TEST(OptimizeTest, KeepsEffectsInOrder) {
  FunctionBuilder b("f");
  const Value w = b.Variable("w", kVector), x = b.AddParameter("x", kVector);
  Assign(w, x);
  AssignAdd(w, x);
  ApplyGradient(w, Neg(x), {{"optimizer", std::string("sgd")}});
  COHORT_ASSERT_OK_AND_ASSIGN(const Function f, b.Finish());
  COHORT_ASSERT_OK_AND_ASSIGN(const Function g, Optimize(f));
  EXPECT_EQ(g.ToString(), f.ToString());
}

TEST(OptimizeTest, MergesEqualPureNodesOnly) {
  FunctionBuilder b("f");
  const Value x = b.AddParameter("x", kVector), y = b.AddParameter("y", kVector);
  const auto twice = [&](Value v) { return v * Constant(b, Tensor::Of<float>({2}, {2, 2})); };
  b.AddResult("same", Add(twice(x), twice(x)));
  b.AddResult("other", twice(y));
  b.AddResult("reduced", Add(AllReduce(x), AllReduce(x)));
  COHORT_ASSERT_OK_AND_ASSIGN(const Function f, b.Finish());
  COHORT_ASSERT_OK_AND_ASSIGN(const Function g, Optimize(f));
  EXPECT_THAT(OpsOf(g), ElementsAre("Placeholder", "Placeholder", "Const", "Mul", "AddV2", "Mul", "AllReduce",
                                    "AllReduce", "AddV2"));
}

TEST(OptimizeTest, BypassesIdentities) {
  FunctionBuilder b("f");
  const Value x = b.AddParameter("x", kVector);
  b.AddResult("y", Identity(Neg(Identity(Identity(x)))));
  COHORT_ASSERT_OK_AND_ASSIGN(const Function f, b.Finish());
  COHORT_ASSERT_OK_AND_ASSIGN(const Function g, Optimize(f));
  EXPECT_THAT(OpsOf(g), ElementsAre("Placeholder", "Neg"));
}

// One step of a perceptron: what stays is what an author would write by hand, and it computes the same.
TEST(OptimizeTest, TrainingStepHasNoNeedlessNodes) {
  FunctionBuilder b("train");
  const Value x = b.AddParameter("x", {DType::kF64, {Shape::kUnknown, 2}});
  const Value labels = b.AddParameter("labels", {DType::kI64, {Shape::kUnknown}});
  const Value w = b.Variable("w", {DType::kF64, {2, 3}}), bias = b.Variable("b", {DType::kF64, {3}});
  const Value product = MatMul(x, ReadVariable(w));
  const Value hidden = Relu(BiasAdd(product, ReadVariable(bias)));
  const Value loss = Sum(SparseSoftmaxCrossEntropyWithLogits(hidden, labels).loss);
  COHORT_ASSERT_OK_AND_ASSIGN(const auto gradients, Gradients(b, loss, {w, bias}));
  ApplyGradient(w, gradients[0], {{"optimizer", std::string("sgd")}});
  ApplyGradient(bias, gradients[1], {{"optimizer", std::string("sgd")}});
  b.AddResult("loss", loss, ResultRole::kLossSum);
  COHORT_ASSERT_OK_AND_ASSIGN(const Function f, b.Finish());
  COHORT_ASSERT_OK_AND_ASSIGN(const Function g, Optimize(f));
  EXPECT_THAT(OpsOf(g),
              ElementsAre("Placeholder", "Placeholder", "VarHandleOp", "VarHandleOp", "ReadVariableOp", "MatMul",
                          "ReadVariableOp", "BiasAdd", "Relu", "SparseSoftmaxCrossEntropyWithLogits", "Const", "Sum",
                          "ReluGrad", "BiasAddGrad", "MatMul", "ApplyGradient", "ApplyGradient"));
  ReferenceInterpreter before, after;
  before.variables["w"] = Tensor::Of<double>({2, 3}, {1, -2, 3, 0.5, 0.25, -1});
  before.variables["b"] = Tensor::Of<double>({3}, {0.5, 1, 0});
  after.variables = before.variables;
  const std::vector<Tensor> batch = {Tensor::Of<double>({2, 2}, {1, 2, -1, 3}), Tensor::Of<int64_t>({2}, {2, 0})};
  COHORT_ASSERT_OK_AND_ASSIGN(const auto loss_before, before.Run(f, batch));
  COHORT_ASSERT_OK_AND_ASSIGN(const auto loss_after, after.Run(g, batch));
  EXPECT_TRUE(loss_before[0].BitwiseEquals(loss_after[0]));
  ASSERT_EQ(before.gradients.size(), 2u);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(before.gradients[i].second.BitwiseEquals(after.gradients[i].second));
}

TEST(SpecializeTest, InfersKnownBatches) {
  FunctionBuilder b("f");
  const Value x = b.AddParameter("x", {DType::kF32, {Shape::kUnknown, 4}});
  b.AddResult("y", Reshape(x, {-1, 2, 2}));
  COHORT_ASSERT_OK_AND_ASSIGN(const Function f, b.Finish());
  COHORT_ASSERT_OK_AND_ASSIGN(const Function g, Specialize(f, {TensorSpec{DType::kF32, {3, 4}}}));
  EXPECT_EQ(g.graph.spec(g.results[0].output).shape, (Shape{3, 2, 2}));
  EXPECT_EQ(g.graph.nodes().size(), f.graph.nodes().size());
  EXPECT_THAT(Specialize(f, {TensorSpec{DType::kF32, {3, 5}}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'x' of function 'f' is float32 [?,4], but got float32 [3,5]")));
  EXPECT_THAT(Specialize(f, {}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("has 1 parameters, not 0")));
}

class InlineTest : public ::testing::Test {
 protected:
  // square(p) = p * p; fourth(p) = square(square(p))
  void SetUp() override {
    FunctionBuilder square("square", &library_);
    const Value p = square.AddParameter("p", kVector);
    square.AddResult("r", p * p);
    library_["square"] = square.Finish().value();
    FunctionBuilder fourth("fourth", &library_);
    const Value q = fourth.AddParameter("p", kVector);
    fourth.AddResult("r", Call(fourth, "square", {Call(fourth, "square", {q})[0]})[0]);
    library_["fourth"] = fourth.Finish().value();
  }
  FunctionLibrary library_;
};

TEST_F(InlineTest, ReplacesCallsAtAnyDepth) {
  FunctionBuilder b("f", &library_);
  const Value x = b.AddParameter("x", kVector);
  b.AddResult("y", Call(b, "fourth", {x + x})[0]);
  COHORT_ASSERT_OK_AND_ASSIGN(const Function f, b.Finish());
  COHORT_ASSERT_OK_AND_ASSIGN(const Function g, Inline(f, library_));
  EXPECT_THAT(OpsOf(g), ElementsAre("Placeholder", "AddV2", "Mul", "Mul"));
  EXPECT_EQ(g.graph.node(3).name, "PartitionedCall/PartitionedCall_1/Mul");
  COHORT_ASSERT_OK_AND_ASSIGN(const auto y, ReferenceInterpreter().Run(g, {Tensor::Of<float>({2}, {1, -1})}));
  EXPECT_THAT(y[0].values<float>(), ElementsAre(16, 16));
}

TEST_F(InlineTest, OrdersEffectsAroundACall) {
  FunctionBuilder bump("bump", &library_);
  AssignAdd(bump.Variable("w", kVector), bump.AddParameter("p", kVector));
  library_["bump"] = bump.Finish().value();
  FunctionBuilder b("f", &library_);
  const Value x = b.AddParameter("x", kVector);
  const int call = b.AddNode("PartitionedCall", {x}, {{"f", std::string("bump")}});
  const int read = b.AddNode("ReadVariableOp", {b.Variable("w", kVector)}, {}, "", {call});
  b.AddResult("after", b.OutputOf(read, 0));
  COHORT_ASSERT_OK_AND_ASSIGN(const Function f, b.Finish());
  COHORT_ASSERT_OK_AND_ASSIGN(const Function g, Inline(f, library_));
  const int assign = g.graph.FindNode("PartitionedCall/AssignAddVariableOp");
  ASSERT_GE(assign, 0);
  EXPECT_THAT(g.graph.node(g.results[0].output.node).control_inputs, ElementsAre(assign));
}

TEST_F(InlineTest, NamesCirclesAndMissingFunctions) {
  FunctionBuilder b("f", &library_);
  b.AddResult("y", Call(b, "square", {b.AddParameter("x", kVector)})[0]);
  COHORT_ASSERT_OK_AND_ASSIGN(const Function f, b.Finish());
  library_["square"] = f;  // square calls square
  EXPECT_THAT(Inline(f, library_),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("in a circle: square -> square")));
  EXPECT_THAT(Inline(f, {}), StatusIs(absl::StatusCode::kNotFound, HasSubstr("'square'")));
}

}  // namespace
}  // namespace cohort
