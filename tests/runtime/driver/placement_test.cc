#include "runtime/driver/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TaskAddress Task(const char* job, int index) { return {{job, index}, "127.0.0.1:1", 1}; }

Program ProgramWith(std::vector<std::string> variables, StrategyKind strategy) {
  Program program;
  program.strategy = strategy;
  for (std::string& name : variables) program.variables.push_back({std::move(name), {DType::kF32, {2}}, {}, true});
  program.loop.global_batch = 8;
  program.loop.train_dataset.kind = "Synthetic";
  return program;
}

std::vector<std::string> NamesOn(const Program& program, int index, int count) {
  const absl::StatusOr<PsSessionSpec> spec = PsSession(program, index, count);
  std::vector<std::string> names;
  for (const PsVariable& variable : spec->variables) names.push_back(variable.definition.name);
  return names;
}

TEST(PlacementTest, VariablesGoRoundRobinOverParameterServers) {
  const Program program = ProgramWith({"a", "b", "c", "d", "e"}, StrategyKind::kParameterServer);
  EXPECT_THAT(NamesOn(program, 0, 2), ElementsAre("a", "c", "e"));
  EXPECT_THAT(NamesOn(program, 1, 2), ElementsAre("b", "d"));
}

TEST(PlacementTest, SynchronousWorkersSplitEachGlobalBatchAndReduceTogether) {
  const Program program = ProgramWith({"a"}, StrategyKind::kMultiWorkerMirrored);
  const std::vector<TaskAddress> workers = {Task("worker", 0), Task("worker", 1)};
  const SessionSpec spec = WorkerSession(program, workers, {}, 1);
  EXPECT_EQ(spec.rank, 1);
  EXPECT_EQ(spec.group.size(), 2);
  const DatasetDef& part = spec.program.loop.train_dataset.inputs[0];
  EXPECT_EQ(part.kind, "GlobalBatch");
  EXPECT_EQ(*GetAttribute<int64_t>(part.attributes, "num_workers"), 2);
  EXPECT_EQ(*GetAttribute<int64_t>(part.attributes, "index"), 1);
}

TEST(PlacementTest, WorkersOfParameterServersTrainByThemselves) {
  const Program program = ProgramWith({"a"}, StrategyKind::kParameterServer);
  const std::vector<TaskAddress> workers = {Task("worker", 0), Task("worker", 1)};
  const SessionSpec spec = WorkerSession(program, workers, {Task("ps", 0)}, 1);
  EXPECT_EQ(spec.rank, 0);
  EXPECT_EQ(spec.group.size(), 1);
  EXPECT_EQ(spec.group[0].task.index, 1);
  EXPECT_EQ(spec.parameter_servers.size(), 1);
  EXPECT_EQ(spec.program.loop.train_dataset.inputs[0].kind, "DealtBatch");
}

TEST(PlacementTest, StrategiesSayWhichTasksTheyMiss) {
  EXPECT_THAT(WorkersFor(StrategyKind::kParameterServer, {Task("worker", 0)}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at least one ps")));
  EXPECT_THAT(WorkersFor(StrategyKind::kParameterServer, {Task("chief", 0)}, {Task("ps", 0)}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at least one worker")));
  EXPECT_THAT(WorkersFor(StrategyKind::kMultiWorkerMirrored, {}, {}), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(PlacementTest, ChiefTrainsOnlySynchronously) {
  const std::vector<TaskAddress> workers = {Task("chief", 0), Task("worker", 0)};
  EXPECT_EQ(WorkersFor(StrategyKind::kMultiWorkerMirrored, workers, {})->size(), 2);
  EXPECT_EQ(WorkersFor(StrategyKind::kParameterServer, workers, {Task("ps", 0)})->at(0).task.job, "worker");
  EXPECT_EQ(WorkersFor(StrategyKind::kOneDevice, workers, {})->size(), 1);
}

TEST(PlacementTest, DealtStepsAddUpAndFollowTheBatchNumbers) {
  // 10 batches an epoch, 3 workers: 4, 3, 3 an epoch. 23 steps = 2 epochs and batches 0, 1, 2.
  EXPECT_EQ(DealtSteps(23, 10, 0, 3), 9);
  EXPECT_EQ(DealtSteps(23, 10, 1, 3), 7);
  EXPECT_EQ(DealtSteps(23, 10, 2, 3), 7);
  for (int64_t steps : {0, 1, 2, 9, 10, 11, 100}) {
    EXPECT_EQ(DealtSteps(steps, 10, 0, 2) + DealtSteps(steps, 10, 1, 2), steps) << steps;
  }
}

}  // namespace
}  // namespace cohort
