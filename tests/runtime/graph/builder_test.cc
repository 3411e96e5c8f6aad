#include "runtime/graph/builder.h"

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
const TensorSpec kScalar{DType::kF32, {}};

TEST(BuilderTest, TracesMath) {
  FunctionBuilder b("f");
  const Value x = b.AddParameter("x", {DType::kF32, {2}});
  b.AddResult("y", -(x * x + x) / ScalarConstant(b, DType::kF32, 2));
  COHORT_ASSERT_OK_AND_ASSIGN(const Function f, b.Finish());
  COHORT_ASSERT_OK_AND_ASSIGN(const auto y, ReferenceInterpreter().Run(f, {Tensor::Of<float>({2}, {1, 3})}));
  EXPECT_THAT(y[0].values<float>(), ElementsAre(-1, -6));
}

TEST(BuilderTest, TheFirstErrorSticks) {
  FunctionBuilder b("step");
  const Value x = b.AddParameter("x", {DType::kF32, {2, 3}});
  const Value wrong = MatMul(x, x);
  EXPECT_FALSE(wrong.valid());
  EXPECT_EQ(wrong.dtype(), DType::kInvalid);
  EXPECT_EQ(wrong.shape().rank(), 0);
  const Value after = Relu(Sum(wrong) + x);
  b.AddResult("y", after);
  EXPECT_THAT(b.Finish(),
              StatusIs(kInvalid, AllOf(HasSubstr("function 'step'"), HasSubstr("MatMul"), HasSubstr("[2,3]"))));
}

TEST(BuilderTest, ValuesOfAnotherFunctionAreRefused) {
  FunctionBuilder a("a"), b("b");
  const Value x = a.AddParameter("x", kScalar), y = b.AddParameter("y", kScalar);
  Add(y, x);
  EXPECT_THAT(b.Finish(), StatusIs(kInvalid, HasSubstr("input 1 is no value of this function")));
  EXPECT_FALSE(Relu(Value()).valid());
}

TEST(BuilderTest, OneReadPerVariableUnlessAnAssignmentStandsBetween) {
  FunctionBuilder b("f");
  const Value w = b.Variable("w", kScalar);
  EXPECT_EQ(b.Variable("w", kScalar).output, w.output);
  const Value before = ReadVariable(w);
  EXPECT_EQ(ReadVariable(w).output, before.output);
  AssignAdd(w, ScalarConstant(b, DType::kF32, 2));
  const Value after = ReadVariable(w);
  EXPECT_NE(after.output, before.output);
  // The assignment waits for the read before it, the read after it for the assignment.
  const int assign = b.graph().FindNode("AssignAddVariableOp");
  EXPECT_THAT(b.graph().node(assign).control_inputs, ElementsAre(before.output.node));
  EXPECT_THAT(b.graph().node(after.output.node).control_inputs, ElementsAre(assign));

  b.AddResult("before", before);
  b.AddResult("after", after);
  COHORT_ASSERT_OK_AND_ASSIGN(const Function f, b.Finish());
  ReferenceInterpreter interpreter;
  interpreter.variables["w"] = Tensor::Scalar(1.0f);
  COHORT_ASSERT_OK_AND_ASSIGN(const auto results, interpreter.Run(f, {}));
  EXPECT_EQ(results[0].ToString(), "float32 [] [1]");
  EXPECT_EQ(results[1].ToString(), "float32 [] [3]");
  EXPECT_EQ(interpreter.variables["w"].ToString(), "float32 [] [3]");
}

TEST(BuilderTest, OneVariableHasOneSpec) {
  FunctionBuilder b("f");
  b.Variable("w", kScalar);
  b.Variable("w", {DType::kF32, {2}});
  EXPECT_THAT(b.Finish(), StatusIs(kInvalid, HasSubstr("'w' is asked for as float32 [2], but was float32 []")));
}

TEST(BuilderTest, ResultsMustFitTheirRoles) {
  for (const auto& [role, dtype, shape, ok] : {std::tuple{ResultRole::kExamples, DType::kI64, Shape(), true},
                                               std::tuple{ResultRole::kExamples, DType::kI32, Shape(), false},
                                               std::tuple{ResultRole::kLossSum, DType::kF32, Shape(), true},
                                               std::tuple{ResultRole::kLossSum, DType::kI64, Shape(), false},
                                               std::tuple{ResultRole::kMetricSum, DType::kI64, Shape(), true},
                                               std::tuple{ResultRole::kMetricSum, DType::kF32, Shape{1}, false},
                                               std::tuple{ResultRole::kFetch, DType::kI8, Shape{1}, true}}) {
    FunctionBuilder b("f");
    b.AddResult("r", b.AddParameter("x", {dtype, shape}), role);
    EXPECT_EQ(b.Finish().ok(), ok) << DTypeName(dtype) << shape;
  }
  FunctionBuilder twice("f");
  const Value x = twice.AddParameter("x", kScalar);
  twice.AddResult("r", x);
  twice.AddResult("r", x);
  EXPECT_THAT(twice.Finish(), StatusIs(kInvalid, HasSubstr("two results are named 'r'")));
}

TEST(BuilderTest, CallsFunctionsOfTheLibrary) {
  FunctionBuilder callee("twice");
  const Value p = callee.AddParameter("p", {DType::kF32, {Shape::kUnknown}});
  callee.AddResult("sum", p + p);
  COHORT_ASSERT_OK_AND_ASSIGN(const Function twice, callee.Finish());
  const FunctionLibrary library = {{"twice", twice}};

  FunctionBuilder b("f", &library);
  const Value x = b.AddParameter("x", {DType::kF32, {2}});
  const std::vector<Value> y = Call(b, "twice", {x});
  ASSERT_EQ(y.size(), 1u);
  b.AddResult("y", y[0]);
  COHORT_ASSERT_OK_AND_ASSIGN(const Function f, b.Finish());
  ReferenceInterpreter interpreter;
  interpreter.library = &library;
  COHORT_ASSERT_OK_AND_ASSIGN(const auto results, interpreter.Run(f, {Tensor::Of<float>({2}, {1, 2})}));
  EXPECT_THAT(results[0].values<float>(), ElementsAre(2, 4));

  FunctionBuilder wrong("f", &library);
  Call(wrong, "twice", {wrong.AddParameter("x", {DType::kI32, {2}})});
  EXPECT_THAT(wrong.Finish(), StatusIs(kInvalid, HasSubstr("parameter 'p' of function 'twice' is float32 [?], but the "
                                                           "argument is int32 [2]")));
  FunctionBuilder unknown("f", &library);
  Call(unknown, "thrice", {});
  EXPECT_THAT(unknown.Finish(), StatusIs(absl::StatusCode::kNotFound, HasSubstr("'thrice'")));
}

}  // namespace
}  // namespace cohort
