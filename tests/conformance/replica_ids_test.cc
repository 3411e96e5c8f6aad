// Section 3: numbers of replicas, their ids, and the names of what they create.

#include "runtime/distribute/replica_ids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/base/error_kind.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::StatusIs;

TEST(ReplicaIds, Rule3x10DefaultStrategyIsOneReplica) {
  EXPECT_EQ((StrategyShape{StrategyKind::kDefault, 1, 1}).num_replicas(), 1);
  EXPECT_FALSE((StrategyShape{StrategyKind::kDefault, 1, 1}).has_per_replica_values());
}

TEST(ReplicaIds, Rule3x12OneDeviceIsOneReplicaWithId0) {
  const StrategyShape strategy{StrategyKind::kOneDevice, 1, 1};
  EXPECT_EQ(strategy.num_replicas(), 1);
  EXPECT_FALSE(strategy.has_per_replica_values());
  EXPECT_THAT(ReplicaIdsOf(strategy, 0), ElementsAre(0));
}

TEST(ReplicaIds, Rule3x17MirroredIdsAreDeviceIndices) {
  const StrategyShape strategy{StrategyKind::kMirrored, 1, 3};
  EXPECT_EQ(strategy.num_replicas(), 3);
  EXPECT_THAT(ReplicaIdsOf(strategy, 0), ElementsAre(0, 1, 2));
}

TEST(ReplicaIds, Rule3x18ComponentNames) {
  EXPECT_EQ(ComponentName("v", 0), "v");
  EXPECT_EQ(ComponentName("layer/v", 2), "layer/v/replica_2");
}

TEST(ReplicaIds, Rule3x19SameCreationsInTheSameOrder) {
  COHORT_EXPECT_OK(CheckSameCreations({{"v", "w"}, {"v_1", "w_3"}}));
  COHORT_EXPECT_OK(CheckSameCreations({{"dense/kernel_2"}, {"dense_1/kernel"}}));
  const absl::Status order = CheckSameCreations({{"v", "w"}, {"w", "v"}});
  EXPECT_THAT(order, StatusIs(absl::StatusCode::kFailedPrecondition,
                              HasSubstr("Tried to create variable w with mismatching name on device 1")));
  EXPECT_EQ(ErrorKindOf(order), ErrorKind::kWrongContext);
  EXPECT_THAT(CheckSameCreations({{"v"}, {"v", "w"}}),
              StatusIs(absl::StatusCode::kFailedPrecondition, AllOf(HasSubstr("variable w"), HasSubstr("replica 1"))));
  EXPECT_THAT(CheckSameCreations({{"v", "w"}, {"v"}}),
              StatusIs(absl::StatusCode::kFailedPrecondition, AllOf(HasSubstr("variable w"), HasSubstr("replica 0"))));
}

TEST(ReplicaIds, Rule3x19OnlyUniquifyingSuffixesAreRemoved) {
  EXPECT_EQ(NameWithoutUniqueSuffix("dense_1/kernel_12"), "dense/kernel");
  for (const char* name : {"v", "v_", "_1", "v1", "v_1x", "v_x"}) EXPECT_EQ(NameWithoutUniqueSuffix(name), name);
}

TEST(ReplicaIds, Rule3x23TwoWorkersOfOneDevice) {
  EXPECT_EQ((StrategyShape{StrategyKind::kMultiWorkerMirrored, 2, 1}).num_replicas(), 2);
}

TEST(ReplicaIds, Rule3x26IdsAreGlobal) {
  const StrategyShape strategy{StrategyKind::kMultiWorkerMirrored, 2, 2};
  EXPECT_EQ(strategy.num_replicas(), 4);
  EXPECT_THAT(ReplicaIdsOf(strategy, 1), ElementsAre(2, 3));
  EXPECT_EQ(GlobalReplicaId({StrategyKind::kMultiWorkerMirrored, 3, 2}, 2, 0), 4);
}

}  // namespace
}  // namespace cohort
