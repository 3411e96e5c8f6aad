#include "client/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "absl/time/clock.h"
#include "runtime/variable/variable_store.h"
#include "tests/testing/status_matchers.h"
#include "tests/worker/tiny_program.h"

namespace cohort {
namespace {

using ::cohort::testing::StatusIs;
using ::testing::HasSubstr;

// The driver makes the batches.
Program Tiny(int64_t examples) {
  DatasetDef data = testing::TinyData(examples, 4).inputs[0];
  return testing::TinyProgram(data, testing::TinyData(6, 4).inputs[0]);
}

class ClusterTest : public ::testing::Test {
 protected:
  ClusterTest() { unsetenv("COHORT_CLUSTER"); }
};

TEST_F(ClusterTest, ProgramsThatNameNoClusterTrainInThisProcess) {
  COHORT_ASSERT_OK_AND_ASSIGN(const auto cluster, Cluster::Connect());
  EXPECT_TRUE(cluster->in_process());
  std::vector<JobEvent> events;
  const auto result = cluster->Train(Tiny(12), [&](const JobEvent& event) { events.push_back(event); });
  COHORT_ASSERT_OK(result);
  EXPECT_EQ(result->steps, 3);
  EXPECT_EQ(result->examples, 12);
  EXPECT_EQ(result->loss, (4 + 1 + 0.25) / 3);
  EXPECT_EQ(result->evaluated, 6);
  VariableStore store;
  COHORT_ASSERT_OK(
      (*store.Create({"w", ""}, {DType::kF32, Shape{}}, true))->Assign(Tensor::Of<float>(Shape{}, {1.25})));
  EXPECT_EQ(result->weights_crc32c, *store.WeightsCrc32c());
  EXPECT_EQ(result->state_crc32c, *store.StateCrc32c(3));
  ASSERT_GE(events.size(), 3u);
  EXPECT_EQ(events.front().info.state, JobState::kRunning);
  EXPECT_EQ(events.back().kind, JobEvent::Kind::kEnd);
  EXPECT_EQ(events.back().info.state, JobState::kDone);
}

TEST_F(ClusterTest, OneClusterTrainsOneProgramAfterTheOther) {
  COHORT_ASSERT_OK_AND_ASSIGN(const auto cluster, Cluster::Connect({.threads = 2}));
  const auto first = cluster->Train(Tiny(12));
  const auto second = cluster->Train(Tiny(12));
  COHORT_ASSERT_OK(first);
  COHORT_ASSERT_OK(second);
  EXPECT_EQ(first->state_crc32c, second->state_crc32c);
  EXPECT_EQ(cluster->control().Jobs(absl::InfiniteFuture())->size(), 2u);
}

TEST_F(ClusterTest, WrongProgramsAreRefused) {
  COHORT_ASSERT_OK_AND_ASSIGN(const auto cluster, Cluster::Connect());
  Program program = Tiny(12);
  program.loop.train_function = "nonsense";
  EXPECT_THAT(cluster->Train(program), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("nonsense")));
  program = Tiny(12);
  program.strategy = StrategyKind::kParameterServer;
  EXPECT_THAT(cluster->Train(program), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at least one ps")));
  program = Tiny(12);
  program.loop.train_dataset.kind = "Nonsense";  // found by the worker
  EXPECT_THAT(cluster->Train(program), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'Nonsense'")));
  COHORT_EXPECT_OK(cluster->Train(Tiny(12)));
}

TEST_F(ClusterTest, ATrainingCanBeCancelledByWhoFollowsIt) {
  COHORT_ASSERT_OK_AND_ASSIGN(const auto cluster, Cluster::Connect());
  Program program = Tiny(12);
  program.loop.epochs = 1000000;
  const auto result = cluster->Train(program, [&](const JobEvent& event) {
    if (event.kind != JobEvent::Kind::kReport) return;
    COHORT_EXPECT_OK(cluster->control().Cancel(event.info.id, absl::InfiniteFuture()));
  });
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kCancelled, HasSubstr("after step")));
}

TEST_F(ClusterTest, AnEndedClusterEndsWhatRuns) {
  COHORT_ASSERT_OK_AND_ASSIGN(auto cluster, Cluster::Connect());
  Program program = Tiny(12);
  program.loop.epochs = 1000000;
  COHORT_ASSERT_OK(cluster->control().Submit(program, {.detach = true}, absl::InfiniteFuture()));
  cluster.reset();
}

TEST_F(ClusterTest, AnAddressWhereNobodyListensIsNamed) {
  const absl::Duration timeout = absl::Milliseconds(300);
  EXPECT_THAT(Cluster::Connect({.address = "127.0.0.1:1", .connect_timeout = timeout}),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("127.0.0.1:1")));
  setenv("COHORT_CLUSTER", "127.0.0.1:2", 1);
  EXPECT_THAT(Cluster::Connect({.connect_timeout = timeout}),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("127.0.0.1:2")));
  EXPECT_THAT(Cluster::Connect({.address = "127.0.0.1:1", .connect_timeout = timeout}),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("127.0.0.1:1")));
}

TEST_F(ClusterTest, WithoutThreadsThereIsNoCluster) {
  EXPECT_THAT(Cluster::Connect({.threads = 0}), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace cohort
