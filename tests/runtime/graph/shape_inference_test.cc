// The shape rules of the op table, one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/graph/op.h"
#include "runtime/graph/ops.h"
#include "tests/testing/reference_interpreter.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::StatusIs;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr int64_t kAny = Shape::kUnknown;

class ShapeInferenceTest : public ::testing::Test {
 protected:
  Value In(Shape shape, DType dtype = DType::kF32) {
    return b_.AddParameter(absl::StrCat("p", b_.graph().nodes().size()), {dtype, shape});
  }
  // Consumes the builder's error.
  static void ExpectError(void (*trace)(FunctionBuilder&, Value, Value), Shape x, Shape y, const char* text) {
    FunctionBuilder builder("f");
    const Value vx = builder.AddParameter("x", {DType::kF32, x}), vy = builder.AddParameter("y", {DType::kF32, y});
    trace(builder, vx, vy);
    EXPECT_THAT(builder.Finish(), StatusIs(kInvalid, HasSubstr(text)));
  }
  void TearDown() override { COHORT_EXPECT_OK(b_.status()); }

  FunctionBuilder b_{"f"};
};

TEST_F(ShapeInferenceTest, BinariesBroadcast) {
  EXPECT_EQ((In({2, 1}) + In({3})).shape(), (Shape{2, 3}));
  EXPECT_EQ((In({kAny, 10}) + In({10})).shape(), (Shape{kAny, 10}));
  EXPECT_EQ((In({kAny}) + In({1})).shape(), (Shape{kAny}));
  EXPECT_EQ((In({kAny}) + In({5})).shape(), (Shape{5}));
  EXPECT_EQ((In({kAny}) + In({kAny})).shape(), (Shape{kAny}));
  EXPECT_EQ((In({}) * In({2, 2})).shape(), (Shape{2, 2}));
  EXPECT_EQ(Equal(In({2}), In({1})).spec(), (TensorSpec{DType::kBool, {2}}));
  ExpectError([](FunctionBuilder&, Value x, Value y) { x + y; }, {2, 3}, {2, 4}, "dimensions 3 and 4");
}

TEST_F(ShapeInferenceTest, WhatNoMachineCanHoldIsRefused) {
  constexpr int64_t kLarge = int64_t{1} << 31;  // 4 * 2^62 bytes are 0 in 64 bits
  ExpectError([](FunctionBuilder&, Value x, Value) { BroadcastTo(x, {kLarge, kLarge}); }, {}, {}, "2^47 bytes");
  ExpectError([](FunctionBuilder&, Value x, Value) { BroadcastTo(x, {kLarge, 0, kLarge}); }, {}, {}, "2^47 bytes");
  ExpectError([](FunctionBuilder&, Value x, Value y) { MatMul(x, y); }, {kLarge, 1}, {1, kLarge}, "2^47 bytes");
  ExpectError(
      [](FunctionBuilder&, Value x, Value y) {
        Conv2DBackpropInput({1, -7, 1, 1}, x, y, {{1, 1}, "SAME"});
      },
      {1, 1, 1, 1}, {1, kAny, 1, 1}, "dimension -7");
}

TEST_F(ShapeInferenceTest, OnlyChannelsLast) {
  ExpectError(
      [](FunctionBuilder& b, Value x, Value y) {
        b.Add("BiasAdd", {x, y}, {{"data_format", std::string("NCHW")}});
      },
      {2, 3, 3}, {3}, "NHWC");
  ExpectError(
      [](FunctionBuilder& b, Value x, Value) {
        b.Add("BiasAddGrad", {x}, {{"data_format", std::string("NCHW")}});
      },
      {2, 3, 3}, {3}, "NHWC");
}

TEST_F(ShapeInferenceTest, MatMul) {
  EXPECT_EQ(MatMul(In({3, 2}), In({4, 3}), true, true).shape(), (Shape{2, 4}));
  EXPECT_EQ(MatMul(In({kAny, kAny}), In({3, 4})).shape(), (Shape{kAny, 4}));
  ExpectError([](FunctionBuilder&, Value x, Value y) { MatMul(x, y); }, {2}, {2, 4}, "input 0 must be of rank 2");
}

TEST_F(ShapeInferenceTest, Reshape) {
  EXPECT_EQ(Reshape(In({2, 6}), {3, -1}).shape(), (Shape{3, 4}));
  EXPECT_EQ(Reshape(In({kAny, 28, 28, 1}), {-1, 784}).shape(), (Shape{kAny, 784}));
  EXPECT_EQ(Reshape(In({0, 28, 28}), {-1, 784}).shape(), (Shape{0, 784}));
  EXPECT_EQ(Reshape(In({1, 1}), {}).shape(), Shape());
  ExpectError([](FunctionBuilder&, Value x, Value) { Reshape(x, {5, -1}); }, {2, 6}, {}, "[2,6] cannot become [5,-1]");
  ExpectError([](FunctionBuilder&, Value x, Value) { Reshape(x, {5}); }, {2, 6}, {}, "12 elements are not 5");
  ExpectError([](FunctionBuilder&, Value x, Value) { Reshape(x, {-1, -1}); }, {2, 6}, {}, "more than one");
  // 2^80 is no 0.
  constexpr int64_t kLarge = int64_t{1} << 40;
  ExpectError([](FunctionBuilder&, Value x, Value) { Reshape(x, {kLarge, kLarge}); }, {0}, {}, "2^63");
}

TEST_F(ShapeInferenceTest, TransposeAndBroadcast) {
  EXPECT_EQ(Transpose(In({2, kAny, 4}), {2, 0, 1}).shape(), (Shape{4, 2, kAny}));
  EXPECT_EQ(BroadcastTo(In({2, 1}), {3, 2, 4}).shape(), (Shape{3, 2, 4}));
  EXPECT_EQ(BroadcastLike(In({}), In({kAny, 2}, DType::kI32)).spec(), (TensorSpec{DType::kF32, {kAny, 2}}));
  ExpectError([](FunctionBuilder&, Value x, Value) { Transpose(x, {0, 0}); }, {2, 6}, {}, "{0, 0} is no permutation");
  ExpectError([](FunctionBuilder&, Value x, Value) { BroadcastTo(x, {2}); }, {3}, {}, "does not broadcast to [2]");
}

TEST_F(ShapeInferenceTest, Reductions) {
  EXPECT_EQ(Sum(In({2, kAny, 4}), {0, -1}).shape(), (Shape{kAny}));
  EXPECT_EQ(Mean(In({2, kAny, 4}), {1}, true).shape(), (Shape{2, 1, 4}));
  EXPECT_EQ(Sum(In({2, kAny, 4})).shape(), Shape());
  EXPECT_EQ(ArgMax(In({kAny, 10}), 1).spec(), (TensorSpec{DType::kI64, {kAny}}));
  EXPECT_EQ(ArgMax(In({3, 10}), 0, DType::kI32).spec(), (TensorSpec{DType::kI32, {10}}));
  EXPECT_EQ(Size(In({kAny}), DType::kI64).spec(), (TensorSpec{DType::kI64, {}}));
  ExpectError([](FunctionBuilder&, Value x, Value) { Sum(x, {2}); }, {2, 3}, {}, "no axis 2 in [2,3]");
  ExpectError([](FunctionBuilder&, Value x, Value) { Sum(x, {1, -1}); }, {2, 3}, {}, "given twice");
}

TEST_F(ShapeInferenceTest, Images) {
  const Value x = In({kAny, 28, 28, 1});
  const WindowOptions same, valid{{2, 2}, "VALID"};
  EXPECT_EQ(Conv2D(x, In({5, 5, 1, 8}), same).shape(), (Shape{kAny, 28, 28, 8}));
  EXPECT_EQ(Conv2D(x, In({5, 5, 1, 8}), valid).shape(), (Shape{kAny, 12, 12, 8}));
  EXPECT_EQ(MaxPool(x, {2, 2}, {{2, 2}, "SAME"}).shape(), (Shape{kAny, 14, 14, 1}));
  EXPECT_EQ(Conv2DBackpropInput({-1, 28, 28, 1}, In({5, 5, 1, 8}), In({kAny, 28, 28, 8}), same).shape(), x.shape());
  EXPECT_EQ(Conv2DBackpropFilter(x, {5, 5, 1, 8}, In({kAny, 28, 28, 8}), same).shape(), (Shape{5, 5, 1, 8}));
  ExpectError([](FunctionBuilder&, Value a, Value b) { Conv2D(a, b, {}); }, {1, 4, 4, 3}, {2, 2, 1, 1},
              "has 3 channels, but the filter [2,2,1,1] takes 1");
  ExpectError(
      [](FunctionBuilder&, Value a, Value b) {
        Conv2DBackpropInput({1, 4, 4, 1}, a, b, {});
      },
      {2, 2, 1, 1}, {1, 3, 4, 1}, "the gradient is [1,3,4,1], but the output was [1,4,4,1]");
}

TEST_F(ShapeInferenceTest, Losses) {
  const CrossEntropy loss = SparseSoftmaxCrossEntropyWithLogits(In({kAny, 10}), In({kAny}, DType::kI32));
  EXPECT_EQ(loss.loss.spec(), (TensorSpec{DType::kF32, {kAny}}));
  EXPECT_EQ(loss.backprop.spec(), (TensorSpec{DType::kF32, {kAny, 10}}));
  EXPECT_EQ(BiasAdd(In({kAny, 10}), In({10})).shape(), (Shape{kAny, 10}));
  EXPECT_EQ(BiasAddGrad(In({kAny, 4, 4, 10})).shape(), (Shape{10}));
  ExpectError([](FunctionBuilder&, Value x, Value y) { BiasAdd(x, y); }, {2, 3}, {2}, "float32 [2,3] and float32 [2]");
  FunctionBuilder builder("f");
  SparseSoftmaxCrossEntropyWithLogits(builder.AddParameter("x", {DType::kF32, {4, 10}}),
                                      builder.AddParameter("y", {DType::kI32, {3}}));
  EXPECT_THAT(builder.Finish(), StatusIs(kInvalid, HasSubstr("float32 [4,10] and int32 [3]; their batches differ")));
}

TEST_F(ShapeInferenceTest, VariablesAndConstants) {
  const Value w = b_.Variable("w", {DType::kF32, {2, 2}});
  EXPECT_EQ(w.dtype(), DType::kResource);
  EXPECT_EQ(ReadVariable(w).spec(), (TensorSpec{DType::kF32, {2, 2}}));
  EXPECT_EQ(ReplicaId(b_).spec(), (TensorSpec{DType::kI32, {}}));
  EXPECT_EQ(Cast(In({2}), DType::kI64).dtype(), DType::kI64);

  FunctionBuilder wrong("f");
  Assign(wrong.Variable("w", {DType::kF32, {2, 2}}), wrong.AddParameter("x", {DType::kF32, {3}}));
  EXPECT_THAT(wrong.Finish(),
              StatusIs(kInvalid, HasSubstr("the variable is float32 [2,2], but the value is float32 [3]")));
  FunctionBuilder optimizer("f");
  ApplyGradient(optimizer.Variable("w", {DType::kF32, {3}}), optimizer.AddParameter("x", {DType::kF32, {3}}),
                {{"optimizer", std::string("magic")}});
  EXPECT_THAT(optimizer.Finish(), StatusIs(kInvalid, HasSubstr("no optimizer 'magic'")));
}

// Shapes and axes are constants, so that plans know them.
TEST_F(ShapeInferenceTest, ComputedShapesAreRefused) {
  FunctionBuilder builder("f");
  const Value x = builder.AddParameter("x", {DType::kF32, {4}}), shape = builder.AddParameter("s", {DType::kI32, {1}});
  builder.Add("Reshape", {x, shape});
  EXPECT_THAT(builder.Finish(), StatusIs(kInvalid, HasSubstr("input 1 must be a Const, but comes from 's'")));
}

// The reference interpreter knows exactly the ops of the table.
TEST(ReferenceInterpreterTest, KnowsEveryOp) {
  std::vector<std::string> table;
  for (const OpDef* op : AllOps()) table.emplace_back(op->name);
  EXPECT_THAT(testing::ReferenceInterpreter::Ops(), ::testing::UnorderedElementsAreArray(table));
}

}  // namespace
}  // namespace cohort
