#include "runtime/graph/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "runtime/graph/op.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::IsOkAndHolds;
using ::cohort::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

class GraphTest : public ::testing::Test {
 protected:
  Output Input(DType dtype, Shape shape) {
    const auto id = graph_.AddNode("Placeholder", "", {}, {{"dtype", dtype}, {"shape", shape}});
    EXPECT_THAT(id, cohort::testing::IsOk());
    return {id.value_or(-1), 0};
  }
  Graph graph_;
};

TEST_F(GraphTest, InfersTheOutput) {
  const Output a = Input(DType::kF32, {Shape::kUnknown, 3}), b = Input(DType::kF32, {3, 4});
  COHORT_ASSERT_OK_AND_ASSIGN(const int id, graph_.AddNode("MatMul", "product", {a, b}));
  EXPECT_EQ(graph_.spec({id, 0}), (TensorSpec{DType::kF32, {Shape::kUnknown, 4}}));
  EXPECT_EQ(graph_.FindNode("product"), id);
  EXPECT_EQ(graph_.FindNode("quotient"), -1);
}

TEST_F(GraphTest, ErrorsNameNodeOpAndBothShapes) {
  const Output a = Input(DType::kF32, {2, 3}), b = Input(DType::kF32, {4, 5});
  EXPECT_THAT(graph_.AddNode("MatMul", "product", {a, b}),
              StatusIs(kInvalid, AllOf(HasSubstr("'product'"), HasSubstr("MatMul"), HasSubstr("float32 [2,3]"),
                                       HasSubstr("float32 [4,5]"))));
}

TEST_F(GraphTest, ErrorsNameBothDtypes) {
  const Output a = Input(DType::kF32, {2}), b = Input(DType::kF64, {2});
  EXPECT_THAT(graph_.AddNode("AddV2", "sum", {a, b}),
              StatusIs(kInvalid, AllOf(HasSubstr("'sum'"), HasSubstr("float32 [2]"), HasSubstr("float64 [2]"))));
  const Output text = Input(DType::kString, {});
  EXPECT_THAT(graph_.AddNode("Neg", "", {text}), StatusIs(kInvalid, HasSubstr("string [], but must be a number")));
}

TEST_F(GraphTest, UnknownOpsAndAttributesAreRefused) {
  const Output a = Input(DType::kF32, {2, 2});
  EXPECT_THAT(graph_.AddNode("MatMull", "m", {a, a}), StatusIs(absl::StatusCode::kNotFound, HasSubstr("'MatMull'")));
  EXPECT_THAT(graph_.AddNode("MatMul", "m", {a, a}, {{"transposeA", true}}),
              StatusIs(kInvalid, HasSubstr("no attribute 'transposeA'")));
  EXPECT_THAT(graph_.AddNode("MatMul", "m", {a, a}, {{"transpose_a", int64_t{1}}}),
              StatusIs(kInvalid, HasSubstr("'transpose_a' is a int, but must be a bool")));
  EXPECT_THAT(graph_.AddNode("Cast", "c", {a}), StatusIs(kInvalid, HasSubstr("'DstT' (dtype) is missing")));
  COHORT_EXPECT_OK(graph_.AddNode("Neg", "n", {a}, {{"_note", std::string("kept")}}));
}

TEST_F(GraphTest, InputsMustExist) {
  const Output a = Input(DType::kF32, {2});
  EXPECT_THAT(graph_.AddNode("Neg", "n", {{7, 0}}), StatusIs(kInvalid, HasSubstr("output 0 of node 7")));
  EXPECT_THAT(graph_.AddNode("Neg", "n", {{a.node, 1}}), StatusIs(kInvalid, HasSubstr("output 1")));
  EXPECT_THAT(graph_.AddNode("Neg", "n", {a, a}), StatusIs(kInvalid, HasSubstr("takes 1 inputs and got 2")));
  EXPECT_THAT(graph_.AddNode("Neg", "n", {a}, {}, {9}), StatusIs(kInvalid, HasSubstr("control input 9")));
}

TEST_F(GraphTest, NamesAreUnique) {
  const Output a = Input(DType::kF32, {2});
  COHORT_ASSERT_OK(graph_.AddNode("Neg", "", {a}));
  COHORT_ASSERT_OK(graph_.AddNode("Neg", "Neg_1", {a}));
  COHORT_ASSERT_OK_AND_ASSIGN(const int third, graph_.AddNode("Neg", "", {a}));
  EXPECT_EQ(graph_.node(third).name, "Neg_2");
  EXPECT_THAT(graph_.AddNode("Neg", "Neg", {a}), StatusIs(kInvalid, HasSubstr("the name is taken")));
}

TEST(OpTableTest, RowsAreComplete) {
  std::set<absl::string_view> names;
  for (const OpDef* op : AllOps()) {
    EXPECT_TRUE(names.insert(op->name).second) << op->name << " stands twice";
    EXPECT_NE(op->shape, nullptr) << op->name;
    EXPECT_EQ(FindOp(op->name), op);
  }
  EXPECT_EQ(FindOp("NoSuchOp"), nullptr);
}

}  // namespace
}  // namespace cohort
