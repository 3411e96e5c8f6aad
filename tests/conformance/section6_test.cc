// Section 6: distributed variables.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/base/error_kind.h"
#include "runtime/distribute/regroup.h"
#include "runtime/distribute/saved_value.h"
#include "runtime/distribute/scatter_rules.h"
#include "runtime/distribute/variable_rules.h"
#include "tests/conformance/values.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::AllOf;
using testing::HasCode;
using ::testing::HasSubstr;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

using Aggregation = VariableAggregation;
using Synchronization = VariableSynchronization;
constexpr Aggregation kAggregations[] = {Aggregation::kNone, Aggregation::kSum, Aggregation::kMean,
                                         Aggregation::kOnlyFirstReplica};

const StrategyShape kMirrored1{StrategyKind::kMirrored, 1, 1};
const StrategyShape kMirrored2{StrategyKind::kMirrored, 1, 2};
const StrategyShape kWorkers2{StrategyKind::kMultiWorkerMirrored, 2, 1};
const StrategyShape kCentral2{StrategyKind::kCentralStorage, 1, 2};
const StrategyShape kOneDevice{StrategyKind::kOneDevice, 1, 1};

Tensor Float(float value) { return Tensor::Scalar<float>(value); }
Tensor Int(int32_t value) { return Tensor::Scalar<int32_t>(value); }

VariableState OnWrite(Aggregation aggregation, std::vector<Tensor> components) {
  const int replicas = static_cast<int>(components.size());
  return {"v", VariableKind::kMirrored, aggregation, {StrategyKind::kMirrored, 1, replicas}, std::move(components)};
}
VariableState OnRead(Aggregation aggregation, std::vector<Tensor> components) {
  VariableState variable = OnWrite(aggregation, std::move(components));
  variable.kind = VariableKind::kSyncOnRead;
  return variable;
}
VariableState Aggregating(Aggregation aggregation, Tensor copy) {
  return {"v", VariableKind::kAggregating, aggregation, kCentral2, {std::move(copy)}};
}
VariableState Plain(Tensor copy) {
  return {"v", VariableKind::kPlain, Aggregation::kNone, kOneDevice, {std::move(copy)}};
}

// "1 | 2": components of scalar float32 variables after a write; else the code of its error.
std::string Values(const absl::StatusOr<std::vector<Tensor>>& components) {
  if (!components.ok()) return Shown(components.status());
  std::string out;
  for (const Tensor& component : *components) {
    absl::StrAppend(&out, out.empty() ? "" : " | ", component.values<float>()[0]);
  }
  return out;
}

std::string InRun(const VariableState& v, AssignOp op, std::vector<Nest> values) {
  return Values(AssignInReplicas(v, op, values));
}

TEST(Section6, Rule6x1EnumsByNumberAndName) {
  const char* const kSynchronizationNames[] = {"auto", "none", "On_Write", "ON_READ"};
  const char* const kAggregationNames[] = {"none", "Sum", "MEAN", "only_first_replica"};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(*ParseVariableSynchronization(i), static_cast<Synchronization>(i));
    EXPECT_EQ(*ParseVariableSynchronization(kSynchronizationNames[i]), static_cast<Synchronization>(i));
    EXPECT_EQ(*ParseVariableAggregation(i), static_cast<Aggregation>(i));
    EXPECT_EQ(*ParseVariableAggregation(kAggregationNames[i]), static_cast<Aggregation>(i));
  }
  EXPECT_EQ(*ParseVariableAggregation("ONLY_FIRST_TOWER"), Aggregation::kOnlyFirstReplica);
  EXPECT_EQ(static_cast<int>(Synchronization::kOnRead), 3);
  EXPECT_EQ(static_cast<int>(Aggregation::kMean), 2);
}

TEST(Section6, Rule6x1AnythingElseIsInvalid) {
  for (const Nest& mode : {Nest("median"), Nest(4), Nest(-1), Nest(1.0), Nest(), Nest(true)}) {
    EXPECT_THAT(ParseVariableSynchronization(mode),
                StatusIs(kInvalid, HasSubstr("Invalid variable synchronization mode")));
    EXPECT_THAT(ParseVariableAggregation(mode), StatusIs(kInvalid, HasSubstr("Invalid variable aggregation mode")));
  }
}

TEST(Section6, Rule6x1Defaults) {
  EXPECT_EQ(VariableModes{}.synchronization, Synchronization::kAuto);
  EXPECT_EQ(VariableModes{}.aggregation, Aggregation::kNone);
}

TEST(Section6, Rule6x2AutoBecomesOnWriteAndNoneIsRefused) {
  COHORT_ASSERT_OK_AND_ASSIGN(const ResolvedVariable v, ResolveVariable(kMirrored2, {}, DType::kF32));
  EXPECT_EQ(v.synchronization, Synchronization::kOnWrite);
  EXPECT_TRUE(v.trainable);
  EXPECT_THAT(ResolveVariable(kMirrored2, {Synchronization::kNone}, DType::kF32),
              StatusIs(kInvalid, AllOf(HasSubstr("NONE"), HasSubstr("not supported"))));
}

TEST(Section6, Rule6x2OnReadIsNotTrainableUnlessSaid) {
  const VariableModes on_read{Synchronization::kOnRead};
  EXPECT_FALSE(ResolveVariable(kMirrored2, on_read, DType::kF32)->trainable);
  EXPECT_TRUE(
      ResolveVariable(kMirrored2, {Synchronization::kOnRead, Aggregation::kNone, true}, DType::kF32)->trainable);
  EXPECT_FALSE(
      ResolveVariable(kMirrored2, {Synchronization::kAuto, Aggregation::kNone, false}, DType::kF32)->trainable);
}

TEST(Section6, Rule6x3NoMeanOfIntegers) {
  for (const auto synchronization : {Synchronization::kAuto, Synchronization::kOnRead}) {
    for (const DType dtype : {DType::kI32, DType::kI64, DType::kBool}) {
      EXPECT_THAT(ResolveVariable(kMirrored2, {synchronization, Aggregation::kMean}, dtype),
                  StatusIs(kInvalid, HasSubstr("MEAN and a non-floating dtype")));
    }
    COHORT_EXPECT_OK(ResolveVariable(kMirrored2, {synchronization, Aggregation::kMean}, DType::kF16));
  }
}

TEST(Section6, Rule6x3AggregatingVariableMeansEqualHostIntegers) {
  COHORT_ASSERT_OK_AND_ASSIGN(const ResolvedVariable v,
                              ResolveVariable(kCentral2, {Synchronization::kAuto, Aggregation::kMean}, DType::kI32));
  EXPECT_EQ(v.kind, VariableKind::kAggregating);
  const VariableState one = Aggregating(Aggregation::kMean, Int(1));
  EXPECT_EQ(Shown(AssignInReplicas(one, AssignOp::kAdd, {2, 2})), "int32 [] [3]");
  EXPECT_EQ(Shown(AssignInReplicas(one, AssignOp::kAdd, {Int(2), Int(3)})), "INVALID_ARGUMENT");
}

TEST(Section6, Rule6x4ClassMade) {
  const auto kind = [](const StrategyShape& strategy, Synchronization synchronization) {
    return ResolveVariable(strategy, {synchronization}, DType::kF32)->kind;
  };
  for (const StrategyShape& strategy : {kMirrored1, kMirrored2, kWorkers2}) {
    EXPECT_EQ(kind(strategy, Synchronization::kAuto), VariableKind::kMirrored);
    EXPECT_EQ(kind(strategy, Synchronization::kOnWrite), VariableKind::kMirrored);
    EXPECT_EQ(kind(strategy, Synchronization::kOnRead), VariableKind::kSyncOnRead);
  }
  for (const StrategyShape& strategy : {kOneDevice, StrategyShape{}}) {
    for (const auto synchronization :
         {Synchronization::kAuto, Synchronization::kNone, Synchronization::kOnWrite, Synchronization::kOnRead}) {
      EXPECT_EQ(kind(strategy, synchronization), VariableKind::kPlain);
    }
  }
}

TEST(Section6, Rule6x5OnWriteReads) {
  const VariableState v = OnWrite(Aggregation::kSum, {Float(1), Float(2)});
  EXPECT_EQ(Shown(ReadInReplica(v, 0)), "float32 [] [1]");
  EXPECT_EQ(Shown(ReadInReplica(v, 1)), "float32 [] [2]");
  EXPECT_EQ(Shown(ReadCrossReplica(v)), "float32 [] [1]");
  EXPECT_EQ(Shown(ReadCrossReplica(v, 1)), "float32 [] [2]");  // the current device is replica 1's
  EXPECT_NE(ReadCrossReplica(v)->data(), v.components[0].data()) << "a copy";
}

TEST(Section6, Rule6x5OnReadReads) {
  const struct {
    Aggregation aggregation;
    std::string want;
  } kTable[] = {{Aggregation::kNone, "INVALID_ARGUMENT"},
                {Aggregation::kSum, "float32 [] [7]"},
                {Aggregation::kMean, "float32 [] [3.5]"},
                {Aggregation::kOnlyFirstReplica, "float32 [] [3]"}};
  for (const auto& row : kTable) {
    const VariableState v = OnRead(row.aggregation, {Float(3), Float(4)});
    EXPECT_EQ(Shown(ReadInReplica(v, 1)), "float32 [] [4]");
    EXPECT_EQ(Shown(ReadCrossReplica(v)), row.want);
  }
}

TEST(Section6, Rule6x5ReadsWorkOutsideScope) {
  EXPECT_EQ(CheckVariableStrategy(OnWrite(Aggregation::kNone, {Float(1)}), &kMirrored1, nullptr), absl::OkStatus());
}

TEST(Section6, Rule6x6SyncOnReadContext) {
  const VariableState v = OnRead(Aggregation::kSum, {Float(1), Float(1)});
  for (int r = 0; r < 2; ++r) {
    EXPECT_EQ(ReadInReplica(v, r).values<float>()[0] + 10, 11);
    EXPECT_EQ(ReadUnderSyncOnReadContext(v, r, false)->values<float>()[0] + 10, 12);
    EXPECT_THAT(ReadUnderSyncOnReadContext(v, r, true), HasCode(kUnimplemented));
  }
  EXPECT_EQ(Shown(ReadUnderSyncOnReadContext(OnRead(Aggregation::kMean, {Float(1), Float(2)}), 1, false)),
            "float32 [] [1.5]");
  EXPECT_EQ(Shown(ReadUnderSyncOnReadContext(OnRead(Aggregation::kOnlyFirstReplica, {Float(1), Float(2)}), 1, false)),
            "float32 [] [1]");
}

TEST(Section6, Rule6x7CrossReplicaAssignsEveryComponent) {
  const VariableState v = OnWrite(Aggregation::kSum, {Float(1), Float(2)});
  EXPECT_EQ(Values(AssignCrossReplica(v, AssignOp::kAssign, 5.0)), "5 | 5");
  EXPECT_EQ(Values(AssignCrossReplica(v, AssignOp::kAdd, Each({1.0, 10.0}))), "2 | 12");
  EXPECT_EQ(Values(AssignCrossReplica(v, AssignOp::kSub, MirrorOver(2, Float(1)))), "0 | 1");
}

TEST(Section6, Rule6x8EveryAggregationAndOp) {
  const struct {
    Aggregation aggregation;
    std::string assign, add, sub;  // from 10, with values 2 and 4
  } kTable[] = {{Aggregation::kNone, "2 | 4", "12 | 14", "8 | 6"},
                {Aggregation::kSum, "6 | 6", "16 | 16", "4 | 4"},
                {Aggregation::kMean, "3 | 3", "13 | 13", "7 | 7"},
                {Aggregation::kOnlyFirstReplica, "2 | 2", "12 | 12", "8 | 8"}};
  for (const auto& row : kTable) {
    const VariableState v = OnWrite(row.aggregation, {Float(10), Float(10)});
    const std::vector<Nest> values = {Float(2), Float(4)};
    EXPECT_EQ(InRun(v, AssignOp::kAssign, values), row.assign);
    EXPECT_EQ(InRun(v, AssignOp::kAdd, values), row.add);
    EXPECT_EQ(InRun(v, AssignOp::kSub, values), row.sub);
  }
}

TEST(Section6, Rule6x8StrictRefusesToDiverge) {
  VariableState v = OnWrite(Aggregation::kNone, {Float(1), Float(1)});
  EXPECT_TRUE(LetsComponentsDiverge(v));
  EXPECT_EQ(InRun(v, AssignOp::kAssign, {1.0, 2.0}), "1 | 2");
  v.strict = true;
  EXPECT_EQ(InRun(v, AssignOp::kAssign, {1.0, 2.0}), "INVALID_ARGUMENT");
  EXPECT_FALSE(LetsComponentsDiverge(OnWrite(Aggregation::kMean, {Float(1), Float(1)})));
}

TEST(Section6, Rule6x9SumOfOneLiteralIsRefused) {
  const VariableState v = OnWrite(Aggregation::kSum, {Float(0), Float(0)});
  const Tensor captured = Float(2);
  EXPECT_THAT(
      AssignInReplicas(v, AssignOp::kAssign, {2.0, 2.0}),
      StatusIs(kInvalid, AllOf(HasSubstr("non-DistributedValues"), HasSubstr("ReduceOp.SUM"), HasSubstr("'v'"))));
  EXPECT_EQ(InRun(v, AssignOp::kAssign, {captured, captured}), "INVALID_ARGUMENT");
  EXPECT_EQ(InRun(v, AssignOp::kAssign, {Float(2), Float(2)}), "4 | 4");
  for (const auto aggregation : {Aggregation::kMean, Aggregation::kOnlyFirstReplica}) {
    EXPECT_EQ(InRun(OnWrite(aggregation, {Float(0), Float(0)}), AssignOp::kAssign, {2.0, 2.0}), "2 | 2");
  }
}

TEST(Section6, Rule6x9WithWorkersTheLiteralIsEachWorkersContribution) {  // 5.7
  VariableState v = OnWrite(Aggregation::kSum, {Float(0), Float(0)});
  v.strategy = kWorkers2;
  EXPECT_EQ(InRun(v, AssignOp::kAssign, {2.0, 2.0}), "4 | 4");
}

TEST(Section6, Rule6x10OneReplicaIgnoresTheAggregation) {
  for (const auto aggregation : kAggregations) {
    const VariableState v = OnWrite(aggregation, {Float(1)});
    EXPECT_EQ(InRun(v, AssignOp::kAssign, {2.0}), "2");
    EXPECT_EQ(InRun(v, AssignOp::kAdd, {2.0}), "3");
  }
}

TEST(Section6, Rule6x11MeanRows) {
  const std::vector<Nest> ids = {Float(0), Float(1)};
  EXPECT_EQ(InRun(OnWrite(Aggregation::kMean, {Float(1), Float(1)}), AssignOp::kAssign, ids), "0.5 | 0.5");
  EXPECT_EQ(InRun(OnWrite(Aggregation::kMean, {Float(1), Float(1)}), AssignOp::kAdd, ids), "1.5 | 1.5");
  EXPECT_EQ(InRun(OnWrite(Aggregation::kMean, {Float(5), Float(5)}), AssignOp::kAdd, {1.0, 1.0}), "6 | 6");
  EXPECT_EQ(InRun(OnWrite(Aggregation::kMean, {Float(5), Float(5)}), AssignOp::kSub, ids), "4.5 | 4.5");
}

TEST(Section6, Rule6x11SumRows) {
  const VariableState v = OnWrite(Aggregation::kSum, {Float(0), Float(0)});
  EXPECT_EQ(InRun(v, AssignOp::kAssign, {Float(2), Float(2)}), "4 | 4");
  EXPECT_EQ(InRun(v, AssignOp::kAssign, {Float(0 + 1), Float(1 + 1)}), "3 | 3");
  EXPECT_EQ(InRun(v, AssignOp::kAssign, {2.0, 2.0}), "INVALID_ARGUMENT");
}

TEST(Section6, Rule6x11OnlyFirstRow) {
  EXPECT_EQ(InRun(OnWrite(Aggregation::kOnlyFirstReplica, {Float(3), Float(3)}), AssignOp::kAdd, {5.0, 10.0}), "8 | 8");
}

TEST(Section6, Rule6x11NoneDiverges) {
  EXPECT_EQ(InRun(OnWrite(Aggregation::kNone, {Float(1), Float(1)}), AssignOp::kAdd, {Float(1), Float(2)}), "2 | 3");
}

TEST(Section6, Rule6x11CrossReplicaRows) {
  for (const auto aggregation : kAggregations) {
    const VariableState v = OnWrite(aggregation, {Float(1), Float(1)});
    EXPECT_EQ(Values(AssignCrossReplica(v, AssignOp::kAdd, 2.0)), "3 | 3");
    EXPECT_EQ(Values(AssignCrossReplica(v, AssignOp::kAssign, Each({4.0, 5.0}))), "4 | 5");
  }
}

TEST(Section6, Rule6x12OnReadWritesLocally) {
  for (const auto aggregation : kAggregations) {
    const VariableState v = OnRead(aggregation, {Float(10), Float(20)});
    EXPECT_EQ(InRun(v, AssignOp::kAssign, {Float(1), Float(2)}), "1 | 2");
    EXPECT_EQ(InRun(v, AssignOp::kAdd, {1.0, 1.0}), "11 | 21");
    EXPECT_EQ(InRun(v, AssignOp::kSub, {1.0, 2.0}), "9 | 18");
  }
}

TEST(Section6, Rule6x13OnReadInCrossReplicaContext) {
  const VariableState sum = OnRead(Aggregation::kSum, {Float(1), Float(2)});
  EXPECT_EQ(Values(AssignCrossReplica(sum, AssignOp::kAssign, 6.0)), "3 | 3");
  EXPECT_THAT(AssignCrossReplica(sum, AssignOp::kAdd, 6.0),
              StatusIs(kInvalid, HasSubstr("does not support assign_add in cross-replica context when aggregation is "
                                           "SUM")));
  EXPECT_THAT(AssignCrossReplica(sum, AssignOp::kSub, 6.0), StatusIs(kInvalid, HasSubstr("assign_sub")));
  for (const auto aggregation : {Aggregation::kMean, Aggregation::kOnlyFirstReplica, Aggregation::kNone}) {
    const VariableState v = OnRead(aggregation, {Float(1), Float(2)});
    EXPECT_EQ(Values(AssignCrossReplica(v, AssignOp::kAssign, 6.0)), "6 | 6");
    EXPECT_EQ(Values(AssignCrossReplica(v, AssignOp::kAdd, 6.0)), "7 | 8");
    EXPECT_EQ(Values(AssignCrossReplica(v, AssignOp::kSub, 6.0)), "-5 | -4");
  }
  EXPECT_EQ(Shown(ReadCrossReplica(OnRead(Aggregation::kNone, {Float(6), Float(6)}))), "INVALID_ARGUMENT");
}

// Components after the write, then what a cross-replica read gives.
std::string WriteAndRead(VariableState v, const absl::StatusOr<std::vector<Tensor>>& components) {
  if (!components.ok()) return Shown(components.status());
  v.components = *components;
  return absl::StrCat(Shown(*components), " -> ", Shown(ReadCrossReplica(v)));
}

TEST(Section6, Rule6x14ReadOfInitialSumCountsEveryComponent) {
  EXPECT_EQ(Shown(ReadCrossReplica(OnRead(Aggregation::kSum, {Float(1), Float(1)}))), "float32 [] [2]");
}

TEST(Section6, Rule6x14SumAssignSix) {
  const VariableState v = OnRead(Aggregation::kSum, {Float(1), Float(1)});
  EXPECT_EQ(WriteAndRead(v, AssignCrossReplica(v, AssignOp::kAssign, 6.0)),
            "float32 [] [3] | float32 [] [3] -> float32 [] [6]");
}

TEST(Section6, Rule6x14AddInRun) {
  const std::vector<Nest> values = {Float(1), Float(2)};
  const VariableState sum = OnRead(Aggregation::kSum, {Float(0), Float(0)});
  EXPECT_EQ(WriteAndRead(sum, AssignInReplicas(sum, AssignOp::kAdd, values)),
            "float32 [] [1] | float32 [] [2] -> float32 [] [3]");
  const VariableState mean = OnRead(Aggregation::kMean, {Float(0), Float(0)});
  EXPECT_EQ(WriteAndRead(mean, AssignInReplicas(mean, AssignOp::kAdd, values)),
            "float32 [] [1] | float32 [] [2] -> float32 [] [1.5]");
  const VariableState first = OnRead(Aggregation::kOnlyFirstReplica, {Float(2), Float(2)});
  EXPECT_EQ(WriteAndRead(first, AssignInReplicas(first, AssignOp::kAdd, {Float(5), Float(10)})),
            "float32 [] [7] | float32 [] [12] -> float32 [] [7]");
}

TEST(Section6, Rule6x14UpdateAssignsEachComponent) {
  VariableState v = OnRead(Aggregation::kSum, {Float(0), Float(0)});
  for (int k = 0; k < 2; ++k) {
    COHORT_ASSERT_OK_AND_ASSIGN(v.components, AssignInUpdate(v, AssignOp::kAssign, k, 5.0));
  }
  EXPECT_EQ(WriteAndRead(v, v.components), "float32 [] [5] | float32 [] [5] -> float32 [] [10]");
}

TEST(Section6, Rule6x14IntegerSumLosesTheRest) {
  const VariableState v = OnRead(Aggregation::kSum, {Int(0), Int(0)});
  EXPECT_EQ(WriteAndRead(v, AssignCrossReplica(v, AssignOp::kAssign, 5)),
            "int32 [] [2] | int32 [] [2] -> int32 [] [4]");
}

TEST(Section6, Rule6x15UpdateContextGoesToTheComponent) {
  VariableState v = OnWrite(Aggregation::kSum, {Float(0), Float(0)});
  const std::pair<AssignOp, std::string> kSteps[] = {
      {AssignOp::kAssign, "1 | 2"}, {AssignOp::kAdd, "2 | 4"}, {AssignOp::kSub, "1 | 2"}};
  for (const auto& [op, want] : kSteps) {
    for (int k = 0; k < 2; ++k) {
      COHORT_ASSERT_OK_AND_ASSIGN(v.components, AssignInUpdate(v, op, k, k + 1.0));
    }
    EXPECT_EQ(Values(v.components), want);
  }
}

TEST(Section6, Rule6x16OtherStrategyInForce) {
  const VariableState v = OnWrite(Aggregation::kNone, {Float(1), Float(1)});
  const int own = 0, other = 0;
  EXPECT_THAT(CheckVariableStrategy(v, &own, &own), testing::IsOk());
  const absl::Status mixed = CheckVariableStrategy(v, &own, &other);
  EXPECT_THAT(mixed, StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("Mixing different")));
  EXPECT_EQ(ErrorKindOf(mixed), ErrorKind::kWrongContext);
}

TEST(Section6, Rule6x16HandleNeedsAReplicaOrAnUpdate) {
  const VariableState v = OnWrite(Aggregation::kNone, {Float(1), Float(1)});
  EXPECT_THAT(CheckHandleAccess(v, VariableContext::kCrossReplica), StatusIs(kInvalid, HasSubstr("handle")));
  COHORT_EXPECT_OK(CheckHandleAccess(v, VariableContext::kReplica));
  COHORT_EXPECT_OK(CheckHandleAccess(v, VariableContext::kUpdate));
  COHORT_EXPECT_OK(CheckHandleAccess(Plain(Float(1)), VariableContext::kCrossReplica));
}

template <typename T>
IndexedSlices At(std::vector<T> values, std::vector<int64_t> rows) {
  const int64_t count = static_cast<int64_t>(rows.size());
  return {Tensor::Of<T>({count}, values), Tensor::Of<int64_t>({count}, rows), Shape{3}};
}

TEST(Section6, Rule6x17AddSumExample) {
  const VariableState v = OnWrite(Aggregation::kSum, {Vec<int32_t>({0, 0, 0}), Vec<int32_t>({0, 0, 0})});
  EXPECT_EQ(Shown(ScatterInReplicas(v, ScatterOp::kAdd, {At<int32_t>({0, 1}, {0, 1}), At<int32_t>({1, 2}, {1, 2})})),
            "int32 [3] [0, 2, 2] | int32 [3] [0, 2, 2]");
}

TEST(Section6, Rule6x17SubMeanExample) {
  const VariableState v = OnWrite(Aggregation::kMean, {Vec<float>({0, 0, 0}), Vec<float>({0, 0, 0})});
  EXPECT_EQ(Shown(ScatterInReplicas(v, ScatterOp::kSub, {At<float>({0, 1}, {0, 1}), At<float>({1, 2}, {1, 2})})),
            "float32 [3] [0, -1, -1] | float32 [3] [0, -1, -1]");
}

TEST(Section6, Rule6x17DivSumExample) {
  const VariableState v = OnWrite(Aggregation::kSum, {Vec<int32_t>({1, 6, 1}), Vec<int32_t>({1, 6, 1})});
  EXPECT_EQ(Shown(ScatterInReplicas(v, ScatterOp::kDiv, {At<int32_t>({2}, {0}), At<int32_t>({3}, {1})})),
            "int32 [3] [0, 2, 1] | int32 [3] [0, 2, 1]");
}

TEST(Section6, Rule6x17MulMeanExample) {
  const VariableState v = OnWrite(Aggregation::kMean, {Vec<float>({2, 1, 1}), Vec<float>({2, 1, 1})});
  EXPECT_EQ(Shown(ScatterInReplicas(v, ScatterOp::kMul, {At<float>({2}, {0}), At<float>({3}, {1})})),
            "float32 [3] [2, 1.5, 1] | float32 [3] [2, 1.5, 1]");
}

TEST(Section6, Rule6x17AllowedAggregations) {
  const std::vector<IndexedSlices> slices = {At<float>({2}, {0}), At<float>({4}, {1})};
  for (const auto aggregation : kAggregations) {
    const VariableState v = OnWrite(aggregation, {Vec<float>({1, 1, 1}), Vec<float>({1, 1, 1})});
    const bool combines = aggregation == Aggregation::kSum || aggregation == Aggregation::kMean;
    for (const auto op : {ScatterOp::kAdd, ScatterOp::kSub, ScatterOp::kMul, ScatterOp::kDiv, ScatterOp::kMin,
                          ScatterOp::kMax, ScatterOp::kUpdate}) {
      const bool selects = op == ScatterOp::kMin || op == ScatterOp::kMax || op == ScatterOp::kUpdate;
      const auto code = combines && selects ? kUnimplemented : absl::StatusCode::kOk;
      EXPECT_THAT(ScatterInReplicas(v, op, slices), HasCode(code));
      EXPECT_THAT(ScatterCrossReplica(v, op, slices[0]), HasCode(code));
      EXPECT_THAT(ScatterInReplicas(OnRead(aggregation, v.components), op, slices), HasCode(kUnimplemented));
      EXPECT_THAT(ScatterCrossReplica(OnRead(aggregation, v.components), op, slices[0]), HasCode(kUnimplemented));
    }
  }
}

TEST(Section6, Rule6x17NoneIsLocalAndOnlyFirstIsForAll) {
  const std::vector<IndexedSlices> slices = {At<float>({2}, {0}), At<float>({4}, {1})};
  const std::vector<Tensor> ones = {Vec<float>({1, 1, 1}), Vec<float>({1, 1, 1})};
  EXPECT_EQ(Shown(ScatterInReplicas(OnWrite(Aggregation::kNone, ones), ScatterOp::kUpdate, slices)),
            "float32 [3] [2, 1, 1] | float32 [3] [1, 4, 1]");
  EXPECT_EQ(Shown(ScatterInReplicas(OnWrite(Aggregation::kOnlyFirstReplica, ones), ScatterOp::kMax, slices)),
            "float32 [3] [2, 1, 1] | float32 [3] [2, 1, 1]");
  EXPECT_EQ(Shown(ScatterCrossReplica(OnWrite(Aggregation::kSum, ones), ScatterOp::kAdd, slices[0])),
            "float32 [3] [3, 1, 1] | float32 [3] [3, 1, 1]");
}

TEST(Section6, Rule6x17BadIndicesAndDivisorsAreNamed) {
  const VariableState v = OnWrite(Aggregation::kNone, {Vec<int32_t>({1, 1, 1})});
  EXPECT_THAT(ScatterCrossReplica(v, ScatterOp::kAdd, At<int32_t>({1}, {3})), StatusIs(kInvalid, HasSubstr("index 3")));
  EXPECT_THAT(ScatterCrossReplica(v, ScatterOp::kDiv, At<int32_t>({0}, {1})),
              StatusIs(kInvalid, AllOf(HasSubstr("row 1"), HasSubstr("divided by zero"))));
  EXPECT_THAT(ScatterCrossReplica(v, ScatterOp::kAdd, At<float>({1}, {1})),
              StatusIs(kInvalid, AllOf(HasSubstr("float32 [3]"), HasSubstr("int32 [3]"))));
}

TEST(Section6, Rule6x18AggregatingNeedsAnAggregationInRun) {
  EXPECT_THAT(AssignInReplicas(Aggregating(Aggregation::kNone, Float(1)), AssignOp::kAssign, {1.0, 2.0}),
              StatusIs(kInvalid, HasSubstr("must specify an aggregation method")));
}

TEST(Section6, Rule6x18AggregatingCombinesOntoOneCopy) {
  const std::vector<Nest> values = {Float(2), Float(4)};
  EXPECT_EQ(InRun(Aggregating(Aggregation::kSum, Float(1)), AssignOp::kAdd, values), "7");
  EXPECT_EQ(InRun(Aggregating(Aggregation::kMean, Float(1)), AssignOp::kAdd, values), "4");
  EXPECT_EQ(InRun(Aggregating(Aggregation::kOnlyFirstReplica, Float(1)), AssignOp::kSub, values), "-1");
  EXPECT_EQ(InRun(Aggregating(Aggregation::kSum, Float(1)), AssignOp::kAssign, {2.0, 2.0}), "INVALID_ARGUMENT");
}

TEST(Section6, Rule6x18AggregatingDirectlyInCrossReplicaContext) {
  for (const auto aggregation : kAggregations) {
    const VariableState v = Aggregating(aggregation, Float(1));
    EXPECT_EQ(Values(AssignCrossReplica(v, AssignOp::kAdd, 2.0)), "3");
    EXPECT_EQ(Shown(ReadCrossReplica(v)), "float32 [] [1]");
    for (int r = 0; r < 2; ++r) EXPECT_EQ(Shown(ReadInReplica(v, r)), "float32 [] [1]");
  }
  EXPECT_EQ(ResolveVariable({StrategyKind::kCentralStorage, 1, 1}, {}, DType::kF32)->kind, VariableKind::kPlain);
}

TEST(Section6, Rule6x19DeepCopyHasMemoryOfItsOwn) {
  const VariableState v = OnWrite(Aggregation::kSum, {Float(1), Float(2)});
  const std::vector<Tensor> copy = DeepCopy(v);
  EXPECT_EQ(Values(copy), "1 | 2");
  for (int k = 0; k < 2; ++k) EXPECT_NE(copy[k].data(), v.components[k].data());
}

TEST(Section6, Rule6x20ComponentNames) {
  EXPECT_EQ(ComponentName("v", 0), "v");
  EXPECT_EQ(ComponentName("v", 1), "v/replica_1");
  EXPECT_EQ(ComponentName("v", 2), "v/replica_2");
}

std::string Restored(const VariableState& v, Tensor saved) { return Values(RestoredComponents(v, saved)); }

TEST(Section6, Rule6x21EveryKind) {
  EXPECT_EQ(Shown(SavedValue(OnWrite(Aggregation::kSum, {Float(3), Float(4)}))), "float32 [] [3]");
  EXPECT_EQ(Restored(OnWrite(Aggregation::kSum, {Float(3), Float(4)}), Float(7)), "7 | 7");
  EXPECT_EQ(Shown(SavedValue(OnRead(Aggregation::kOnlyFirstReplica, {Float(3), Float(4)}))), "float32 [] [3]");
  EXPECT_EQ(Restored(OnRead(Aggregation::kOnlyFirstReplica, {Float(3), Float(4)}), Float(7)), "7 | 7");
  EXPECT_THAT(SavedValue(OnRead(Aggregation::kNone, {Float(3), Float(4)})), HasCode(kInvalid));
  EXPECT_THAT(RestoredComponents(OnRead(Aggregation::kNone, {Float(3), Float(4)}), Float(7)), HasCode(kInvalid));
  EXPECT_EQ(Shown(SavedValue(Aggregating(Aggregation::kMean, Float(3)))), "float32 [] [3]");
  EXPECT_EQ(Restored(Aggregating(Aggregation::kMean, Float(3)), Float(7)), "7");
}

TEST(Section6, Rule6x21SumExample) {
  const VariableState v = OnRead(Aggregation::kSum, {Float(3), Float(4)});
  COHORT_ASSERT_OK_AND_ASSIGN(const Tensor saved, SavedValue(v));
  EXPECT_EQ(Shown(saved), "float32 [] [7]");
  EXPECT_EQ(Restored(v, saved), "3.5 | 3.5");
  EXPECT_EQ(Restored(Plain(Float(0)), saved), "7");
}

TEST(Section6, Rule6x21MeanExample) {
  const VariableState v = OnRead(Aggregation::kMean, {Float(3), Float(4)});
  COHORT_ASSERT_OK_AND_ASSIGN(const Tensor saved, SavedValue(v));
  EXPECT_EQ(Shown(saved), "float32 [] [3.5]");
  EXPECT_EQ(Restored(v, saved), "3.5 | 3.5");
  EXPECT_EQ(Restored(Plain(Float(0)), saved), "3.5");
}

TEST(Section6, Rule6x21PlainExample) {
  COHORT_ASSERT_OK_AND_ASSIGN(const Tensor saved, SavedValue(Plain(Float(2))));
  EXPECT_EQ(Shown(saved), "float32 [] [2]");
  EXPECT_EQ(Restored(OnRead(Aggregation::kSum, {Float(0), Float(0)}), saved), "1 | 1");
  EXPECT_EQ(Restored(OnRead(Aggregation::kMean, {Float(0), Float(0)}), saved), "2 | 2");
}

TEST(Section6, Rule6x21ShardsAreOneEntryOfTheFullShape) {
  const Tensor whole = Tensor::Of<float>({10, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  for (const int from : {1, 2, 4}) {
    for (const int to : {1, 2, 3, 4}) {
      COHORT_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> shards, RestoredShards(whole, from));
      COHORT_ASSERT_OK_AND_ASSIGN(const Tensor saved, SavedValueOfShards(shards));
      EXPECT_TRUE(saved.BitwiseEquals(whole));
      COHORT_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> again, RestoredShards(saved, to));
      EXPECT_TRUE(SavedValueOfShards(again)->BitwiseEquals(whole));
    }
  }
  EXPECT_EQ(Shown(RestoredShards(whole, 4)),
            "float32 [3,1] [0, 1, 2] | float32 [3,1] [3, 4, 5] | float32 [2,1] [6, 7] | float32 [2,1] [8, 9]");
  EXPECT_THAT(RestoredShards(Float(1), 2), HasCode(kInvalid));
}

TEST(Section6, Rule6x21OtherShapesAndDTypesAreNamed) {
  EXPECT_THAT(RestoredComponents(Plain(Float(0)), Vec<float>({1, 2})),
              StatusIs(kInvalid, AllOf(HasSubstr("'v'"), HasSubstr("[]"), HasSubstr("[2]"))));
  EXPECT_THAT(RestoredComponents(Plain(Float(0)), Int(1)),
              StatusIs(kInvalid, AllOf(HasSubstr("int32"), HasSubstr("float32"))));
}

}  // namespace
}  // namespace cohort
