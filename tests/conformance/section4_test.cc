// Section 4: what goes into run() and what comes out of it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "runtime/distribute/leaf_tensor.h"
#include "runtime/distribute/page_print.h"
#include "runtime/distribute/reduce.h"
#include "runtime/distribute/regroup.h"
#include "tests/conformance/values.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::StatusIs;

Tensor Float(float value) { return Tensor::Scalar<float>(value); }
Tensor Int(int32_t value) { return Tensor::Scalar<int32_t>(value); }

ObjectRef VariableOf(int num_components) { return {std::make_shared<const int>(0), num_components, -1, "variable v"}; }
ObjectRef ComponentOf(ObjectRef variable, int component) {
  variable.component = component;
  return variable;
}

// What run returns if replica r returns values[r].
std::string Returned(std::vector<Nest> values) { return Shown(Regroup(values)); }

TEST(Section4, Rule4x2EachReplicaGetsItsComponentAtAnyDepth) {
  const Tensor c = Float(9);
  const ObjectRef variable = VariableOf(2);
  const Nest args = Nest::Tuple(
      {Each({1, 2}), Nest::List({Nest::Map({{"a", Nest::Mirrored({3, 3})}, {"b", c}})}), "x", Nest(), 2.5, variable});
  EXPECT_EQ(Shown(SelectReplica(0, args)), "(1, [{a: 3, b: float32 [] [9]}], 'x', none, 2.5, variable v)");
  EXPECT_EQ(Shown(SelectReplica(1, args)), "(2, [{a: 3, b: float32 [] [9]}], 'x', none, 2.5, variable v)");
  EXPECT_TRUE(SameObject(SelectReplica(1, args)->children()[1].children()[0].children()[1], c));
  EXPECT_THAT(SelectReplica(2, args), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("[0]")));
}

TEST(Section4, Rule4x4MergeCallRegroupsArgumentsAndSelectsResults) {
  const std::vector<Nest> values = {Nest(Int(3)), Nest(Int(4))};  // v = 3 + id
  COHORT_ASSERT_OK_AND_ASSIGN(const Nest merged, Regroup(values));
  COHORT_ASSERT_OK_AND_ASSIGN(const std::vector<Nest> local, LocalResults(2, merged));
  COHORT_ASSERT_OK_AND_ASSIGN(const Nest sum, AllReduce(ReplicaReduceOp::kSum, local));
  EXPECT_EQ(Shown(AllReduce(ReplicaReduceOp::kSum, std::vector<Nest>{*SelectReplica(0, sum), values[0]})),
            "int32 [] [10]");
  EXPECT_EQ(Shown(AllReduce(ReplicaReduceOp::kSum, std::vector<Nest>{*SelectReplica(1, sum), values[1]})),
            "int32 [] [11]");
}

TEST(Section4, Rule4x6FreshTensorsOfEqualValueStayPerReplica) {
  EXPECT_EQ(Returned({Float(6), Float(6)}), "PerReplica:{0: float32 [] [6], 1: float32 [] [6]}");
}

TEST(Section4, Rule4x6OneHandleOnAllReplicasIsUnwrapped) {
  const Tensor c = Float(5);
  COHORT_ASSERT_OK_AND_ASSIGN(const Nest result, Regroup({c, c}));
  EXPECT_TRUE(SameObject(result, c));
}

TEST(Section4, Rule4x6NoneAndHostNumbersAreUnwrapped) {
  EXPECT_EQ(Returned({Nest(), Nest()}), "none");
  EXPECT_EQ(Returned({7, 7}), "7");
}

TEST(Section4, Rule4x6ReplicaIdsPlusOne) {
  EXPECT_EQ(Returned({Int(0 + 1), Int(1 + 1)}), "PerReplica:{0: int32 [] [1], 1: int32 [] [2]}");
}

TEST(Section4, Rule4x6MapOfPerReplica) {
  const auto fn = [](int x) { return Nest::Map({{"a", Int(x * 2)}, {"b", Int(x * x)}}); };
  EXPECT_EQ(Returned({fn(1), fn(2)}),
            "{a: PerReplica:{0: int32 [] [2], 1: int32 [] [4]}, b: PerReplica:{0: int32 [] [1], 1: int32 [] [4]}}");
}

TEST(Section4, Rule4x6TwoArguments) {
  const Nest a = Each({2, 4}), b = Each({1, 4});
  std::vector<Nest> results;
  for (int r = 0; r < 2; ++r) {
    results.push_back(static_cast<int>(SelectReplica(r, a)->int_value() + 2 * SelectReplica(r, b)->int_value() + 2));
  }
  EXPECT_EQ(Shown(Regroup(results)), "PerReplica:{0: 6, 1: 14}");
}

TEST(Section4, Rule4x6TupleOfPerReplicaAndCaptured) {
  const Tensor c = Float(5), x0 = Float(1), x1 = Float(2);
  EXPECT_EQ(Returned({Nest::Tuple({x0, c}), Nest::Tuple({x1, c})}),
            "(PerReplica:{0: float32 [] [1], 1: float32 [] [2]}, float32 [] [5])");
}

TEST(Section4, Rule4x6OtherLengthsKeysAndContainersAreErrors) {
  const Tensor a = Float(1), b = Float(2);
  EXPECT_THAT(
      Regroup({Nest::List({a}), Nest::List({a, b})}),
      StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("structure mismatch"), HasSubstr("list of 1"),
                                                         HasSubstr("replica 1"), HasSubstr("list of 2"))));
  EXPECT_THAT(Regroup({Nest::Map({{"loss", Nest::List({a})}}), Nest::Map({{"loss", Nest::Tuple({a})}})}),
              StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("['loss']"), HasSubstr("tuple of 1"))));
  EXPECT_EQ(Returned({Nest::Map({{"a", 1}}), Nest::Map({{"b", 1}})}), "INVALID_ARGUMENT");
  EXPECT_EQ(Returned({Nest::List({a}), a}), "INVALID_ARGUMENT");
}

TEST(Section4, Rule4x6OneReplicaGivesItsBareValue) { EXPECT_EQ(Returned({Float(8)}), "float32 [] [8]"); }

TEST(Section4, Rule4x6ComponentsOfOneVariableAreTheVariable) {
  const ObjectRef variable = VariableOf(2);
  EXPECT_EQ(Returned({ComponentOf(variable, 0), ComponentOf(variable, 1)}), "variable v");
  EXPECT_EQ(Returned({variable, variable}), "variable v");
  // Not in replica order, or of two variables.
  EXPECT_EQ(Returned({ComponentOf(variable, 1), ComponentOf(variable, 0)}),
            "PerReplica:{0: variable v component 1, 1: variable v component 0}");
  EXPECT_EQ(Returned({ComponentOf(variable, 0), ComponentOf(VariableOf(2), 1)}),
            "PerReplica:{0: variable v component 0, 1: variable v component 1}");
}

TEST(Section4, Rule4x7AlwaysWrapKeepsEqualValuesAndOneReplicaApart) {
  EXPECT_EQ(Shown(Regroup({2, 2}, Wrap::kAlways)), "PerReplica:{0: 2, 1: 2}");
  EXPECT_EQ(Shown(Regroup({2}, Wrap::kAlways)), "PerReplica:{0: 2}");
}

TEST(Section4, Rule4x8SameObjectIsAHandleOrAnEqualHostValueOfOneType) {
  const Tensor c = Float(1);
  EXPECT_TRUE(SameObject(c, c));
  EXPECT_FALSE(SameObject(c, Float(1)));
  EXPECT_FALSE(SameObject(c, c.Clone()));
  EXPECT_TRUE(SameObject("x", std::string("x")));
  EXPECT_FALSE(SameObject("x", "y"));
  EXPECT_TRUE(SameObject(1, int64_t{1}));
  EXPECT_FALSE(SameObject(1, 1.0));
  EXPECT_FALSE(SameObject(1, true));
  EXPECT_FALSE(SameObject(0.0, -0.0));
  const Tensor words = Tensor::OfStrings({1}, {"a"});
  EXPECT_TRUE(SameObject(words, words));
  EXPECT_FALSE(SameObject(words, Tensor::OfStrings({1}, {"a"})));
}

TEST(Section4, Rule4x9PerReplicaIsNoTensorOutsideAReplica) {
  const Nest x = Each({Float(1), Float(2)});
  EXPECT_THAT(LeafTensor(x), StatusIs(absl::StatusCode::kInvalidArgument,
                                      HasSubstr("looks like you are using a PerReplica object while not inside a "
                                                "replica context")));
  EXPECT_EQ(Shown(LeafTensorInReplica(x, 1)), "float32 [] [2]");
  EXPECT_EQ(Shown(LeafTensor(Nest::Mirrored({Float(3), Float(3)}))), "float32 [] [3]");
}

TEST(Section4, Rule4x8PrintsAsThePageDoes) {
  EXPECT_EQ(PagePrint(*Regroup({Float(6), Float(6)})),
            "PerReplica:{\n"
            "  0: <tf.Tensor: shape=(), dtype=float32, numpy=6.0>,\n"
            "  1: <tf.Tensor: shape=(), dtype=float32, numpy=6.0>\n"
            "}");
}

}  // namespace
}  // namespace cohort
