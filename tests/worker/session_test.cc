#include "worker/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "runtime/base/first_cause.h"
#include "runtime/checkpoint/checksum.h"
#include "tests/testing/status_matchers.h"
#include "tests/worker/tiny_program.h"

namespace cohort {
namespace {

using ::cohort::testing::StatusIs;
using ::cohort::testing::TinyData;
using ::cohort::testing::TinyProgram;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

absl::Time Soon() { return absl::Now() + absl::Seconds(20); }

// A ps with the one variable.
class FakeParameters final : public ParameterClient {
 public:
  absl::Status Pull(absl::Span<const PullTarget> targets, absl::Time) override {
    for (const PullTarget& target : targets) *static_cast<float*>(target.destination) = 3;
    return absl::OkStatus();
  }
  absl::Status Push(const Update& update, absl::Span<const Gradient> gradients, absl::Time) override {
    EXPECT_EQ(gradients.size(), 1u);
    updates.push_back(update);
    return absl::OkStatus();
  }
  int64_t bytes_sent() const override { return 77; }

  std::vector<Update> updates;
};

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() {
    environment.self = {{"worker", 1}, "127.0.0.1:7001", 1};
    environment.join_group = [](const SessionSpec&, absl::Time) -> absl::StatusOr<std::unique_ptr<Communicator>> {
      return absl::UnavailableError("nobody to join");
    };
    environment.connect_parameter_servers = [this](const SessionSpec&) {
      auto client = std::make_unique<FakeParameters>();
      parameters = client.get();
      return absl::StatusOr<std::unique_ptr<ParameterClient>>(std::move(client));
    };
    environment.chaos = &chaos;
  }

  SessionSpec Spec(Program program) {
    SessionSpec spec;
    spec.session = 1;
    spec.program = std::move(program);
    spec.group = {environment.self};
    return spec;
  }
  // With values.
  std::unique_ptr<WorkerSession> Open(DatasetDef data) {
    auto session = WorkerSession::Open(Spec(TinyProgram(std::move(data))), environment, Soon());
    EXPECT_THAT(session, testing::IsOk());
    EXPECT_THAT((*session)->InitializeVariables(Soon()), testing::IsOk());
    return *std::move(session);
  }
  absl::StatusOr<RunResult> Run(WorkerSession& session, const RunSpec& run) {
    return session.Run(run, [this](StepReport report) { reports.push_back(std::move(report)); });
  }
  // w as the next training step would see it.
  float W(WorkerSession& session) {
    RunSpec run = {.function = "evaluate", .data = RunSpec::Data::kEvaluate, .fetch = {"w"}};
    const absl::StatusOr<RunResult> result = session.Run(run, [](const StepReport&) {});
    EXPECT_THAT(result, testing::IsOk());
    return result->fetched[0].values<float>()[0];
  }

  Chaos chaos;
  SessionEnvironment environment;
  FakeParameters* parameters = nullptr;
  std::vector<StepReport> reports;
};

TEST_F(SessionTest, ThreeStepsByHand) {
  const auto session = Open(TinyData(12, 4));
  EXPECT_EQ(session->info().batches_per_epoch, 3);
  const auto result = Run(*session, {.function = "train", .count = 3, .report_every = 1, .fetch = {"w"}});
  COHORT_ASSERT_OK(result);
  EXPECT_EQ(result->last_step, 3);
  EXPECT_EQ(result->sums.steps, 3);
  EXPECT_EQ(result->sums.examples, 12);
  EXPECT_EQ(result->sums.loss_sum, 4 * (4 + 1 + 0.25));
  EXPECT_THAT(result->sums.metric_sums, ElementsAre(12));
  EXPECT_FALSE(result->end_of_data);
  EXPECT_FALSE(result->stopped);
  ASSERT_EQ(result->fetched.size(), 1u);
  EXPECT_EQ(result->fetched[0].values<float>()[0], 1.5f);  // before the last step
  EXPECT_EQ(W(*session), 1.25f);
  ASSERT_EQ(reports.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(reports[i].step, i + 1);
    EXPECT_EQ(reports[i].sums.examples, 4);
    EXPECT_THAT(reports[i].losses, ElementsAre(4.0 / (1 << 2 * i)));
  }
  EXPECT_EQ(session->last_step(), 3);
  const auto summary = session->Summarize();
  EXPECT_EQ(summary->task, (TaskId{"worker", 1}));
  EXPECT_EQ(summary->examples, 12);
  EXPECT_EQ(summary->steps, 3);
  EXPECT_EQ(summary->bytes_sent, 0);
}

TEST_F(SessionTest, ChecksumsAreThoseOfTheValues) {
  const auto session = Open(TinyData(12, 4));
  COHORT_ASSERT_OK(Run(*session, {.function = "train", .count = 3}));
  VariableStore store;
  COHORT_ASSERT_OK(
      (*store.Create({"w", ""}, {DType::kF32, Shape{}}, true))->Assign(Tensor::Of<float>(Shape{}, {1.25})));
  EXPECT_EQ(session->Summarize()->weights_crc32c, *store.WeightsCrc32c());
  EXPECT_EQ(session->Summarize()->state_crc32c, *store.StateCrc32c(3));
}

TEST_F(SessionTest, ARunWithoutACountEndsWithTheData) {
  const auto session = Open(TinyData(10, 4));
  auto result = Run(*session, {.function = "train"});
  EXPECT_EQ(result->last_step, 3);
  EXPECT_EQ(result->sums.examples, 10);
  EXPECT_TRUE(result->end_of_data);
  result = Run(*session, {.function = "train", .first_step = 4, .epoch = 1});
  EXPECT_EQ(result->last_step, 6);
  EXPECT_EQ(result->sums.examples, 10);
  EXPECT_EQ(session->Summarize()->examples, 20);
}

TEST_F(SessionTest, ACountedRunGoesOnOverAsManyEpochsAsItNeeds) {
  const auto session = Open(TinyData(10, 4));
  auto result = Run(*session, {.function = "train", .count = 7, .report_every = 3});
  EXPECT_EQ(result->last_step, 7);
  EXPECT_EQ(result->sums.examples, 4 + 4 + 2 + 4 + 4 + 2 + 4);
  EXPECT_FALSE(result->end_of_data);
  ASSERT_EQ(reports.size(), 3u);
  EXPECT_EQ(reports[1].sums.examples, 10);
  EXPECT_EQ(reports[2].sums.steps, 1);  // the end is always reported
  // The next one goes on in the middle of the third epoch.
  result = Run(*session, {.function = "train", .first_step = 8, .count = 2, .epoch = 2});
  EXPECT_EQ(result->sums.examples, 4 + 2);
}

TEST_F(SessionTest, WithoutExamplesNothingMoves) {
  const auto session = Open(TinyData(0, 4));
  auto result = Run(*session, {.function = "train", .report_every = 1});
  COHORT_ASSERT_OK(result);
  EXPECT_EQ(result->last_step, 1);
  EXPECT_EQ(result->sums.examples, 0);
  EXPECT_TRUE(result->end_of_data);
  EXPECT_THAT(reports[0].losses, ElementsAre(0));
  result = Run(*session, {.function = "train", .first_step = 2, .count = 3, .epoch = 1});
  EXPECT_EQ(result->last_step, 4);
  EXPECT_EQ(W(*session), 3);
}

TEST_F(SessionTest, AStopEndsTheRunAfterTheNextStep) {
  const auto session = Open(TinyData(40, 4));
  const auto result = session->Run({.function = "train", .report_every = 1}, [&](const StepReport& report) {
    if (report.step == 2) session->RequestStop();
  });
  EXPECT_EQ(result->last_step, 3);
  EXPECT_TRUE(result->stopped);
  EXPECT_FALSE(result->end_of_data);
  EXPECT_EQ(Run(*session, {.function = "train", .first_step = 4})->last_step, 4);  // and every later one
}

TEST_F(SessionTest, WrongRunsAreRefusedBeforeAnythingMoves) {
  const auto session = Open(TinyData(12, 4));
  EXPECT_THAT(Run(*session, {.function = "nonsense"}),
              StatusIs(absl::StatusCode::kNotFound, AllOf(HasSubstr("/job:worker/task:1"), HasSubstr("'nonsense'"))));
  EXPECT_THAT(Run(*session, {.function = "train", .first_step = 2}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("step 2 was asked for, but the session stands "
                                                                        "after step 0")));
  EXPECT_THAT(Run(*session, {.function = "train", .count = 1, .fetch = {"w", "v"}}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'v'")));
  EXPECT_THAT(Run(*session, {.function = "train", .epoch = -1}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(session->last_step(), 0);
  EXPECT_EQ(W(*session), 3);
  EXPECT_THAT(reports, IsEmpty());
}

TEST_F(SessionTest, TheLastRunAgainGivesItsAnswerAgain) {
  const auto session = Open(TinyData(12, 4));
  const RunSpec run = {.function = "train", .count = 2, .fetch = {"w"}};
  const auto first = Run(*session, run);
  COHORT_ASSERT_OK(first);
  const auto again = Run(*session, run);
  COHORT_ASSERT_OK(again);
  EXPECT_EQ(again->last_step, 2);
  EXPECT_EQ(again->sums.loss_sum, first->sums.loss_sum);
  EXPECT_EQ(again->fetched[0].values<float>()[0], 2);
  EXPECT_EQ(W(*session), 1.5f);
  RunSpec longer = run;
  longer.count = 3;  // no repetition
  EXPECT_THAT(Run(*session, longer), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(Run(*session, {.function = "train", .first_step = 2}), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(Run(*session, {.function = "train", .first_step = 3, .count = 1})->last_step, 3);
}

TEST_F(SessionTest, EvaluationsReadTheWholeTestSetAndChangeNothing) {
  const auto session = Open(TinyData(12, 4));
  for (int i = 0; i < 2; ++i) {
    const auto result = Run(*session, {.function = "evaluate", .data = RunSpec::Data::kEvaluate});
    COHORT_ASSERT_OK(result);
    EXPECT_EQ(result->sums.steps, 2);
    EXPECT_EQ(result->sums.examples, 6);
    EXPECT_EQ(result->sums.loss_sum, 24);
    EXPECT_TRUE(result->end_of_data);
  }
  EXPECT_EQ(session->last_step(), 0);
  EXPECT_EQ(session->Summarize()->examples, 0);
}

TEST_F(SessionTest, AProgramWithoutAnEvaluationHasNoDataForIt) {
  Program program = TinyProgram(TinyData(12, 4));
  program.loop.evaluate_function = "";
  const auto session = WorkerSession::Open(Spec(std::move(program)), environment, Soon());
  COHORT_ASSERT_OK((*session)->InitializeVariables(Soon()));
  EXPECT_THAT(Run(**session, {.function = "evaluate", .data = RunSpec::Data::kEvaluate}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("'evaluate'")));
}

TEST_F(SessionTest, VariablesNeedTheirFirstValues) {
  const auto session = WorkerSession::Open(Spec(TinyProgram(TinyData(12, 4))), environment, Soon());
  EXPECT_THAT(Run(**session, {.function = "train"}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("'w'"), HasSubstr("/job:worker/task:1: step 1"))));
}

TEST_F(SessionTest, AbortEndsTheRunWithItsReason) {
  const auto session = Open(TinyData(400, 4));
  absl::Status lost = absl::UnavailableError("/job:worker/task:0 is lost");
  SetFirstCause(lost, {.task = {"worker", 0}});
  const auto result = session->Run({.function = "train", .report_every = 1}, [&](const StepReport& report) {
    if (report.step == 2) session->Abort(lost);
    if (report.step == 2) session->Abort(absl::CancelledError("later"));
  });
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kUnavailable,
                               AllOf(HasSubstr("is lost"), HasSubstr("/job:worker/task:1: step 3"))));
  EXPECT_EQ(GetFirstCause(result.status())->task, (TaskId{"worker", 0}));
  EXPECT_EQ(session->last_step(), 2);
  EXPECT_THAT(session->InitializeVariables(Soon()), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(SessionTest, WhatCannotBeOpenedSaysWhy) {
  Program program = TinyProgram(TinyData(12, 4));
  program.loop.train_function = "nonsense";
  EXPECT_THAT(WorkerSession::Open(Spec(program), environment, Soon()), StatusIs(absl::StatusCode::kInvalidArgument));
  program = TinyProgram({"Nonsense", {}, {}});
  EXPECT_THAT(WorkerSession::Open(Spec(program), environment, Soon()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("training data")));
  program = TinyProgram(TinyData(12, 4), {"Nonsense", {}, {}});
  EXPECT_THAT(WorkerSession::Open(Spec(program), environment, Soon()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("evaluation data")));
  SessionSpec group = Spec(TinyProgram(TinyData(12, 4)));
  group.group.push_back({{"worker", 0}, "127.0.0.1:7000", 1});
  EXPECT_THAT(WorkerSession::Open(group, environment, Soon()),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("nobody to join")));
}

TEST_F(SessionTest, WithParameterServersStepsPullAndPush) {
  SessionSpec spec = Spec(TinyProgram(TinyData(12, 4)));
  spec.parameter_servers = {{{"ps", 0}, "127.0.0.1:7002", 1}};
  const auto session = WorkerSession::Open(spec, environment, Soon());
  COHORT_ASSERT_OK(session);
  COHORT_ASSERT_OK((*session)->InitializeVariables(Soon()));
  const auto result = Run(**session, {.function = "train", .count = 2});
  COHORT_ASSERT_OK(result);
  EXPECT_EQ(result->sums.loss_sum, 2 * 4 * 4);
  ASSERT_EQ(parameters->updates.size(), 2u);
  EXPECT_EQ(parameters->updates[1].worker_step, 2);
  EXPECT_EQ(parameters->updates[1].examples, 4);
  EXPECT_EQ(parameters->updates[1].learning_rate, 0.25);
  const auto summary = (*session)->Summarize();
  COHORT_ASSERT_OK(summary);
  const VariableDef& variable = spec.program.variables[0];
  Tensor value = Tensor::Zeros(variable.spec.dtype, variable.spec.shape);
  value.mutable_values<float>()[0] = 3;
  EXPECT_EQ(summary->weights_crc32c, WeightsCrc32c({{{variable.name, ""}, value}}));
  EXPECT_EQ(summary->state_crc32c, "");
  EXPECT_EQ(summary->bytes_sent, 77);
}

}  // namespace
}  // namespace cohort
