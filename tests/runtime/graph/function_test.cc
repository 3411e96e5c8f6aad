#include "runtime/graph/function.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/graph/ops.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

absl::StatusOr<Function> Trace(double learned) {
  FunctionBuilder b("f");
  const Value x = b.AddParameter("x", {DType::kF32, {Shape::kUnknown, 2}});
  const Value w = b.Variable("w", {DType::kF32, {2, 1}});
  const Value product = MatMul(x, ReadVariable(w));
  const Value y = product * ScalarConstant(b, DType::kF32, learned);
  b.AddResult("loss", Sum(y), ResultRole::kLossSum);
  return b.Finish();
}

TEST(FunctionTest, PrintsCanonically) {
  COHORT_ASSERT_OK_AND_ASSIGN(const Function f, Trace(2));
  EXPECT_EQ(f.ToString(),
            "function 'f' ('x' %0) {\n"
            "  %0 = Placeholder{dtype=float32, shape=[?,2]}() -> float32 [?,2]  'x'\n"
            "  %1 = VarHandleOp{dtype=float32, shape=[2,1], shared_name='w'}() -> resource []  'w'\n"
            "  %2 = ReadVariableOp(%1:0) -> float32 [2,1]  'ReadVariableOp'\n"
            "  %3 = MatMul{transpose_a=false, transpose_b=false}(%0:0, %2:0) -> float32 [?,1]  'MatMul'\n"
            "  %4 = Const{value=float32 [] [2]}() -> float32 []  'Const'\n"
            "  %5 = Mul(%3:0, %4:0) -> float32 [?,1]  'Mul'\n"
            "  %6 = Const{value=int64 [2] [0, 1]}() -> int64 [2]  'Const_1'\n"
            "  %7 = Sum{keep_dims=false}(%5:0, %6:0) -> float32 []  'Sum'\n"
            "  return 'loss' loss_sum %7:0\n"
            "}\n");
}

TEST(FunctionTest, HashTellsFunctionsApart) {
  COHORT_ASSERT_OK_AND_ASSIGN(const Function f, Trace(2));
  COHORT_ASSERT_OK_AND_ASSIGN(const Function same, Trace(2));
  COHORT_ASSERT_OK_AND_ASSIGN(const Function other, Trace(3));
  EXPECT_EQ(f.Hash(), same.Hash());
  EXPECT_NE(f.Hash(), other.Hash());
}

TEST(FunctionTest, VariablesInOrderOfFirstUse) {
  FunctionBuilder b("f");
  const Value unused = b.Variable("unused", {DType::kF32, {}});
  const Value first = b.Variable("first", {DType::kF32, {}});
  const Value second = b.Variable("second", {DType::kF32, {}});
  const Value read = ReadVariable(second);
  Assign(first, read);
  Assign(second, read);
  COHORT_ASSERT_OK_AND_ASSIGN(const Function f, b.Finish());
  EXPECT_THAT(f.VariableNodes(), ::testing::ElementsAre(second.output.node, first.output.node));
  EXPECT_EQ(unused.output.node, 0);
}

}  // namespace
}  // namespace cohort
