// Steps of several replicas that reduce together.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/models/training_program.h"
#include "runtime/base/thread.h"
#include "runtime/executor/step_executor.h"
#include "runtime/variable/initializer.h"
#include "tests/runtime/executor/regression.h"
#include "tests/testing/fake_group.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::Batch;
using ::cohort::testing::FakeGroup;
using ::cohort::testing::FillStore;
using ::cohort::testing::HasCode;
using ::cohort::testing::Sgd;
using ::cohort::testing::TraceRegression;
using ::cohort::testing::ValueOf;
using ::testing::ElementsAre;

// One replica with its own variables.
struct Replica {
  VariableStore store;
  TilePool tiles{1};
  std::unique_ptr<Communicator> communicator;
  std::unique_ptr<StepExecutor> executor;
  StepHeader header;
  absl::Status status;
};

class StepGroupTest : public ::testing::Test {
 protected:
  void MakeReplicas(int world) {
    COHORT_ASSERT_OK_AND_ASSIGN(const Function function, TraceRegression(Sgd()));
    MakeReplicas(world, function);
  }

  void MakeReplicas(int world, const Function& function) {
    group_ = std::make_unique<FakeGroup>(world);
    replicas_ = std::vector<Replica>(world);
    for (int rank = 0; rank < world; ++rank) {
      Replica& replica = replicas_[rank];
      replica.communicator = group_->Endpoint(rank);
      COHORT_ASSERT_OK(FillStore(replica.store));
      COHORT_ASSERT_OK_AND_ASSIGN(
          replica.executor,
          StepExecutor::Create(function, {}, replica.store, replica.communicator.get(), nullptr, replica.tiles));
    }
  }

  // One step of all replicas; inputs[rank].batch is set to batches[rank].
  void RunStep(const std::vector<Element>& batches, std::vector<StepInputs> inputs) {
    std::vector<Thread> threads;
    for (size_t rank = 0; rank < batches.size(); ++rank) {
      inputs[rank].batch = &batches[rank];
      inputs[rank].collective_timeout = absl::Seconds(10);
      threads.emplace_back("replica", [this, rank, &inputs] {
        replicas_[rank].status = replicas_[rank].executor->Run(inputs[rank], replicas_[rank].header);
      });
    }
    for (Thread& thread : threads) thread.Join();
  }

  std::unique_ptr<FakeGroup> group_;
  std::vector<Replica> replicas_;
};

TEST_F(StepGroupTest, AllRanksApplyTheMeanOverAllExamples) {
  MakeReplicas(2);
  // As one replica with both rows: see step_executor_test.
  RunStep({Batch({{1, 1, 1}}), Batch({{0, 1, 4}})}, {{.step = 1, .learning_rate = 0.5, .has_next = true},
                                                     {.step = 1, .learning_rate = 0.5, .stop_requested = true}});
  for (const Replica& replica : replicas_) {
    COHORT_ASSERT_OK(replica.status);
    EXPECT_THAT(ValueOf(replica.store, "w"), ElementsAre(0, 2));
    EXPECT_EQ(replica.header.examples, 2);
    EXPECT_EQ(replica.header.loss_sum, 8);
    EXPECT_THAT(replica.header.metric_sums, ElementsAre(5));
    EXPECT_EQ(replica.header.has_next, 1);
    EXPECT_EQ(replica.header.stop_requested, 1);
    EXPECT_EQ(replica.header.world, 2);
  }
  EXPECT_THAT(group_->Names(), ElementsAre("grads/0", "header"));
}

TEST_F(StepGroupTest, ARankWithoutExamplesTakesPart) {
  MakeReplicas(3);
  RunStep({Batch({}), Batch({{1, 1, 1}, {0, 1, 4}}), Batch({})},
          std::vector<StepInputs>(3, {.step = 1, .learning_rate = 0.5}));
  for (const Replica& replica : replicas_) {
    COHORT_ASSERT_OK(replica.status);
    EXPECT_THAT(ValueOf(replica.store, "w"), ElementsAre(0, 2));
    EXPECT_EQ(replica.header.examples, 2);
  }
}

TEST_F(StepGroupTest, AFailedReductionLeavesTheVariablesAlone) {
  for (const int64_t call : {1, 2}) {  // the bucket, the header
    MakeReplicas(2);
    group_->FailAt(call, absl::UnavailableError("/job:worker/task:1 is gone"));
    RunStep({Batch({{1, 1, 1}}), Batch({{0, 1, 4}})}, std::vector<StepInputs>(2, {.step = 1, .learning_rate = 0.5}));
    for (const Replica& replica : replicas_) {
      EXPECT_THAT(replica.status, HasCode(absl::StatusCode::kUnavailable));
      EXPECT_THAT(ValueOf(replica.store, "w"), ElementsAre(1, 2));
    }
  }
}

TEST_F(StepGroupTest, ReductionsInTheFunctionComeBeforeTheBuckets) {
  FunctionBuilder builder("f");
  const Value x = builder.AddParameter("x", {DType::kF32, Shape{Shape::kUnknown, 2}});
  builder.AddParameter("y", {DType::kF32, Shape{Shape::kUnknown, 1}});
  const Value sum = AllReduce(Sum(x));
  builder.AddResult("sum", sum);
  builder.AddResult("rank", ReplicaId(builder));
  COHORT_ASSERT_OK_AND_ASSIGN(const Function function, builder.Finish());
  MakeReplicas(2, function);
  RunStep({Batch({{1, 2, 0}}), Batch({{3, 4, 0}, {5, 6, 0}})}, std::vector<StepInputs>(2, {.step = 1}));
  for (int rank = 0; rank < 2; ++rank) {
    COHORT_ASSERT_OK(replicas_[rank].status);
    COHORT_ASSERT_OK_AND_ASSIGN(const Tensor reduced, replicas_[rank].executor->Fetch("sum"));
    EXPECT_THAT(reduced.values<float>(), ElementsAre(21));
    COHORT_ASSERT_OK_AND_ASSIGN(const Tensor id, replicas_[rank].executor->Fetch("rank"));
    EXPECT_THAT(id.values<int32_t>(), ElementsAre(rank));
  }
  EXPECT_THAT(group_->Names(), ElementsAre("AllReduce", "header"));
  EXPECT_EQ(replicas_[0].executor->collectives_text(), "AllReduce SUM float32 []\nheader SUM float64 [5]\n");

  group_->FailAt(3, absl::UnavailableError("/job:worker/task:1 is gone"));
  RunStep({Batch({{1, 2, 0}}), Batch({})}, std::vector<StepInputs>(2, {.step = 2}));
  EXPECT_THAT(replicas_[0].status, HasCode(absl::StatusCode::kUnavailable));
}

// --- threads never change bits

std::string TrainWithThreads(const std::string& model, int threads) {
  TrainOptions options;
  options.model = model;
  options.dataset = "synthetic";
  options.optimizer = "adam";
  const absl::StatusOr<Program> program = MakeTrainingProgram(options);
  if (!program.ok()) return program.status().ToString();
  VariableStore store;
  for (const VariableDef& def : program->variables) {
    auto variable = store.Create({def.name, ""}, def.spec, def.trainable);
    const auto value = InitialValue(def, 1);
    if (!variable.ok() || !value.ok() || !(*variable)->Assign(*value).ok()) return "no variable " + def.name;
  }
  TilePool tiles(threads);
  auto executor = StepExecutor::Create(program->functions.at("train"), {}, store, nullptr, nullptr, tiles);
  if (!executor.ok()) return executor.status().ToString();
  Element batch = {Tensor(DType::kF32, Shape{37, 28, 28, 1}), Tensor(DType::kI32, Shape{37})};
  for (int64_t i = 0; i < batch[0].num_elements(); ++i) {
    batch[0].mutable_values<float>()[i] = static_cast<float>(i * 7919 % 1000) / 1000.0f;
  }
  for (int64_t i = 0; i < 37; ++i) batch[1].mutable_values<int32_t>()[i] = static_cast<int32_t>(i % 10);
  StepHeader header;
  for (int64_t step = 1; step <= 3; ++step) {
    const absl::Status status = (*executor)->Run({.step = step, .learning_rate = 0.01, .batch = &batch}, header);
    if (!status.ok()) return status.ToString();
  }
  return *store.StateCrc32c(3);
}

TEST(StepThreadsTest, AnyNumberGivesTheSameBits) {
  for (const std::string model : {"mlp512", "cnn", "cnn32"}) {
    const std::string one = TrainWithThreads(model, 1);
    EXPECT_EQ(one.size(), 8u) << one;
    EXPECT_EQ(TrainWithThreads(model, 2), one) << model;
    EXPECT_EQ(TrainWithThreads(model, 3), one) << model;
  }
}

}  // namespace
}  // namespace cohort
