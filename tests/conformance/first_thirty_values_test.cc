// Section 12: those of the thirty tests that are about values alone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/distribute/gather.h"
#include "runtime/distribute/reduce.h"
#include "runtime/distribute/regroup.h"
#include "runtime/distribute/saved_value.h"
#include "runtime/distribute/variable_rules.h"
#include "tests/conformance/values.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::HasSubstr;
using testing::StatusIs;

constexpr auto kSum = ReplicaReduceOp::kSum;
constexpr auto kMean = ReplicaReduceOp::kMean;
const Axes kNoAxes;
const Axes kAxis0 = std::vector<int64_t>{0};
const StrategyShape kMirrored2{StrategyKind::kMirrored, 1, 2};
const StrategyShape kOneDevice{StrategyKind::kOneDevice, 1, 1};

Tensor Float(float value) { return Tensor::Scalar<float>(value); }
Tensor Int(int32_t value) { return Tensor::Scalar<int32_t>(value); }

std::string Reduced(ReplicaReduceOp op, const Nest& value, const Axes& axes) {
  return Shown(Reduce(kMirrored2, op, value, axes));
}

VariableState Variable(VariableKind kind, VariableAggregation aggregation, float a, float b) {
  return {"v", kind, aggregation, kMirrored2, {Float(a), Float(b)}};
}
VariableState Mirrored(VariableAggregation aggregation, float value) {
  return Variable(VariableKind::kMirrored, aggregation, value, value);
}

TEST(FirstThirtyValuesTest, Rule12x8OneDeviceReduces) {
  const Tensor range = Vec<int64_t>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(Shown(Reduce(kOneDevice, kSum, range, kNoAxes)), Shown(range));
  EXPECT_EQ(Shown(Reduce(kOneDevice, kSum, range, kAxis0)), "int64 [] [45]");
  EXPECT_EQ(Shown(Reduce(kOneDevice, kMean, range, kAxis0)), "float64 [] [4.5]");
}

TEST(FirstThirtyValuesTest, Rule12x12ResultsOfRun) {
  const Tensor c = Float(1);
  EXPECT_TRUE(SameObject(*Regroup({c, c}), c));
  EXPECT_EQ(Shown(Regroup({Float(6), Float(6)})), "PerReplica:{0: float32 [] [6], 1: float32 [] [6]}");
  EXPECT_EQ(Shown(Regroup({Nest::Map({{"a", 2}}), Nest::Map({{"a", 4}})})), "{a: PerReplica:{0: 2, 1: 4}}");
  EXPECT_EQ(Shown(Regroup({Nest::List({c}), Nest::List({c, c})})), "INVALID_ARGUMENT");
}

TEST(FirstThirtyValuesTest, Rule12x14TrueCounts) {
  EXPECT_EQ(Reduced(kMean, Each({Vec<float>({0, 1, 2, 3}), Vec<float>({4, 5})}), kAxis0), "float32 [] [2.5]");
  EXPECT_EQ(Reduced(kMean, Each({Vec<int32_t>({0}), Vec<int32_t>({1, 1})}), kAxis0), "float64 [] [0.6666666666666666]");
  EXPECT_EQ(Reduced(kMean, Each({Vec<float>({1, 2}), Vec<float>({})}), kAxis0), "float32 [] [1.5]");
}

TEST(FirstThirtyValuesTest, Rule12x15MeanOfIntegers) {
  EXPECT_EQ(Reduced(kMean, Each({Int(1), Int(2)}), kNoAxes), "float64 [] [1.5]");
}

TEST(FirstThirtyValuesTest, Rule12x16PlainValues) {
  EXPECT_EQ(Reduced(kSum, 5.0, kNoAxes), "INVALID_ARGUMENT");
  EXPECT_EQ(Reduced(kMean, 5.0, kNoAxes), "5");
  EXPECT_EQ(Reduced(kSum, Vec<float>({1, 2}), kAxis0), "float32 [] [6]");
}

TEST(FirstThirtyValuesTest, Rule12x17NamesOfOpsAndAxes) {
  EXPECT_EQ(*ParseReplicaReduceOp("sum"), kSum);
  EXPECT_EQ(*ParseReplicaReduceOp("Mean"), kMean);
  EXPECT_THAT(ParseReplicaReduceOp("min"), testing::HasCode(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(Reduced(kMean, Each({Vec<float>({1}), Vec<float>({1})}), Axes(std::vector<int64_t>{1})),
            "INVALID_ARGUMENT");
}

TEST(FirstThirtyValuesTest, Rule12x18Gathers) {
  const Tensor one = Tensor::Of<int32_t>({1, 2}, {1, 2}), two = Tensor::Of<int32_t>({2, 2}, {3, 4, 5, 6});
  EXPECT_EQ(Shown(AllGather({one, two}, 0)), "int32 [3,2] [1, 2, 3, 4, 5, 6]");
  EXPECT_EQ(Shown(Gather(kMirrored2, Each({one, Tensor::Of<int32_t>({1, 1}, {3})}), 0)), "INVALID_ARGUMENT");
  EXPECT_EQ(Shown(Gather(kMirrored2, Each({Int(1), Int(2)}), 0)), "INVALID_ARGUMENT");
}

TEST(FirstThirtyValuesTest, Rule12x19AssignsInRun) {
  const VariableState mean = Mirrored(VariableAggregation::kMean, 1);
  EXPECT_EQ(Shown(AssignInReplicas(mean, AssignOp::kAssign, {Float(0), Float(1)})),
            "float32 [] [0.5] | float32 [] [0.5]");
  EXPECT_EQ(Shown(AssignInReplicas(mean, AssignOp::kAdd, {Float(0), Float(1)})), "float32 [] [1.5] | float32 [] [1.5]");
  const VariableState sum = Mirrored(VariableAggregation::kSum, 1);
  EXPECT_EQ(Shown(AssignInReplicas(sum, AssignOp::kAssign, {2.0, 2.0})), "INVALID_ARGUMENT");
  EXPECT_EQ(Shown(AssignInReplicas(sum, AssignOp::kAssign, {Float(2), Float(2)})), "float32 [] [4] | float32 [] [4]");
}

TEST(FirstThirtyValuesTest, Rule12x20NoneDivergesWithoutError) {
  EXPECT_EQ(Shown(AssignInReplicas(Mirrored(VariableAggregation::kNone, 1), AssignOp::kAdd, {Float(1), Float(2)})),
            "float32 [] [2] | float32 [] [3]");
}

TEST(FirstThirtyValuesTest, Rule12x21OnReadSum) {
  const VariableState v = Variable(VariableKind::kSyncOnRead, VariableAggregation::kSum, 1, 1);
  EXPECT_EQ(Shown(ReadCrossReplica(v)), "float32 [] [2]");
  EXPECT_EQ(Shown(AssignCrossReplica(v, AssignOp::kAssign, 6.0)), "float32 [] [3] | float32 [] [3]");
  EXPECT_EQ(Shown(AssignCrossReplica(v, AssignOp::kAdd, 6.0)), "INVALID_ARGUMENT");
}

TEST(FirstThirtyValuesTest, Rule12x22SavedValues) {
  const VariableState v = Variable(VariableKind::kSyncOnRead, VariableAggregation::kSum, 3, 4);
  COHORT_ASSERT_OK_AND_ASSIGN(const Tensor saved, SavedValue(v));
  EXPECT_EQ(Shown(saved), "float32 [] [7]");
  EXPECT_EQ(Shown(RestoredComponents(v, saved)), "float32 [] [3.5] | float32 [] [3.5]");
  const VariableState plain{"v", VariableKind::kPlain, VariableAggregation::kNone, kOneDevice, {Float(0)}};
  EXPECT_EQ(Shown(RestoredComponents(plain, saved)), "float32 [] [7]");
  VariableModes modes;
  modes.aggregation = VariableAggregation::kMean;
  EXPECT_THAT(ResolveVariable(kMirrored2, modes, DType::kI32),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("MEAN")));
}

}  // namespace
}  // namespace cohort
