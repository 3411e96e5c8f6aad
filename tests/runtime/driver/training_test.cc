#include "runtime/driver/training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "runtime/base/first_cause.h"
#include "runtime/base/thread_pool.h"
#include "runtime/graph/builder.h"
#include "runtime/graph/ops.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::StatusIs;
using ::testing::HasSubstr;

constexpr int64_t kBatches = 5;

// A worker that answers from a script, on a thread of its own.
class FakeWorker final : public WorkerLink {
 public:
  explicit FakeWorker(int index) : task_{{"worker", index}, absl::StrCat("127.0.0.1:", 7000 + index), 1} {}

  const TaskAddress& task() const override { return task_; }
  void OpenSession(const SessionSpec& spec, absl::Time, Done<OpenedSession> done) override {
    opened = spec;
    OpenedSession info;
    info.plan_text = plan;
    info.plan_hash = std::hash<std::string>()(plan);
    info.batches_per_epoch = batches_per_epoch;
    pool_.Post([done, info] { done(info); });
  }
  void InitializeVariables(uint64_t, absl::Time, Done<bool> done) override {
    pool_.Post([done] { done(true); });
  }
  void Run(uint64_t, const RunSpec& run, std::function<void(StepReport)> report, Done<RunResult> done) override {
    runs.push_back(run);
    if (hang) {
      pending_ = done;
      return;
    }
    pool_.Post([this, run, report, done] {
      if (!fail_run.ok()) {
        done(fail_run);
        return;
      }
      RunResult result;
      result.sums.steps = run.count > 0 ? run.count : kBatches;
      result.sums.examples = result.sums.steps * 8;
      result.sums.loss_sum = 2.0 * result.sums.examples;
      result.sums.metric_sums = {result.sums.examples * 0.75};
      result.last_step = run.first_step + result.sums.steps - 1;
      result.end_of_data = run.count == 0;
      StepReport r;
      r.step = result.last_step;
      r.sums = result.sums;
      report(r);
      done(result);
    });
  }
  void RequestStop(uint64_t, absl::Time, Done<bool> done) override { done(true); }
  void Summarize(uint64_t, absl::Time, Done<WorkerSummary> done) override {
    WorkerSummary summary;
    summary.task = task_.task;
    summary.weights_crc32c = weights;
    pool_.Post([done, summary] { done(summary); });
  }
  void CloseSession(uint64_t, absl::Status reason, absl::Time, Done<bool> done) override {
    closed = reason;
    if (pending_) pending_(reason);
    pending_ = nullptr;
    done(true);
  }

  SessionSpec opened;
  std::vector<RunSpec> runs;
  std::string plan = "train: grads/0 sum float32 [10]\n";
  std::string weights = "0badcafe";
  int64_t batches_per_epoch = kBatches;
  absl::Status fail_run;
  bool hang = false;  // a run ends only with its session
  absl::Status closed;

 private:
  const TaskAddress task_;
  Done<RunResult> pending_;
  ThreadPool pool_{"fake", 1};
};

Program TinyProgram(StrategyKind strategy) {
  Program program;
  program.name = "tiny";
  program.strategy = strategy;
  for (const char* name : {"train", "evaluate"}) {
    FunctionBuilder builder(name);
    const Value x = builder.AddParameter("x", {DType::kF32, {Shape::kUnknown}});
    builder.AddResult("examples", Size(x, DType::kI64), ResultRole::kExamples);
    builder.AddResult("loss_sum", Sum(x), ResultRole::kLossSum);
    builder.AddResult("correct", Sum(x), ResultRole::kMetricSum);
    program.functions[name] = *builder.Finish();
  }
  program.loop.train_function = "train";
  program.loop.evaluate_function = "evaluate";
  program.loop.train_dataset.kind = program.loop.evaluate_dataset.kind = "Synthetic";
  program.loop.global_batch = program.loop.evaluate_batch = 8;
  program.loop.epochs = 2;
  program.loop.learning_rate = 0.1;
  return program;
}

class TrainingTest : public ::testing::Test {
 protected:
  std::unique_ptr<Training> MakeTraining() {
    TrainingTimeouts timeouts;
    timeouts.drain = absl::Seconds(2);
    return std::make_unique<Training>(TrainingTasks{1, 1, {&first, &second}, {}}, timeouts,
                                      [this](const JobEvent& event) { events.push_back(event); });
  }

  FakeWorker first{0}, second{1};
  std::vector<JobEvent> events;
};

TEST_F(TrainingTest, SynchronousEpochsCountOnceAndEndWithAnEvaluation) {
  const auto result = MakeTraining()->Run(TinyProgram(StrategyKind::kMultiWorkerMirrored));
  COHORT_ASSERT_OK(result);
  EXPECT_EQ(result->steps, 2 * kBatches);
  EXPECT_EQ(result->examples, 2 * kBatches * 8);
  EXPECT_EQ(result->loss, 2.0);
  EXPECT_EQ(result->accuracy, 0.75);
  EXPECT_EQ(result->weights_crc32c, "0badcafe");
  ASSERT_EQ(first.runs.size(), 3);
  EXPECT_EQ(first.runs[1].first_step, kBatches + 1);
  EXPECT_EQ(first.runs[1].epoch, 1);
  EXPECT_EQ(first.runs[2].data, RunSpec::Data::kEvaluate);
  EXPECT_EQ(second.opened.rank, 1);
  ASSERT_EQ(events.size(), 3);
  EXPECT_EQ(events[0].info.steps_total, 2 * kBatches);
}

TEST_F(TrainingTest, UnknownNumberOfBatchesIsNoTotal) {
  first.batches_per_epoch = second.batches_per_epoch = -2;  // a filter decides
  const auto result = MakeTraining()->Run(TinyProgram(StrategyKind::kMultiWorkerMirrored));
  COHORT_ASSERT_OK(result);
  EXPECT_EQ(result->steps, 2 * kBatches);
  EXPECT_EQ(first.runs[0].count, 0);
  EXPECT_EQ(events[0].info.steps_total, 0);
}

TEST_F(TrainingTest, FailedWorkerEndsTheOthersAndItsErrorIsTold) {
  second.fail_run = absl::UnavailableError("/job:worker/task:1: connection reset");
  SetFirstCause(second.fail_run, {.task = {"worker", 1}});
  first.hang = true;
  const auto result = MakeTraining()->Run(TinyProgram(StrategyKind::kMultiWorkerMirrored));
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kUnavailable, HasSubstr("/job:worker/task:1")));
  EXPECT_EQ(GetFirstCause(result.status())->task, (TaskId{"worker", 1}));
  EXPECT_EQ(first.closed.code(), absl::StatusCode::kUnavailable);
}

TEST_F(TrainingTest, AbortEndsARunThatNobodyAnswers) {
  first.hang = second.hang = true;
  const std::unique_ptr<Training> training = MakeTraining();
  ThreadPool pool("abort", 1);
  pool.Post([&] { training->Abort(absl::UnavailableError("/job:worker/task:1 is lost")); });
  EXPECT_THAT(training->Run(TinyProgram(StrategyKind::kMultiWorkerMirrored)),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("is lost")));
}

TEST_F(TrainingTest, DifferentPlansNamePositionAndBothTasks) {
  second.plan = "train: grads/0 sum float32 [11]\n";
  EXPECT_THAT(MakeTraining()->Run(TinyProgram(StrategyKind::kMultiWorkerMirrored)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("position 1 is train: grads/0 sum float32 [10] on /job:worker/task:0 and train: "
                                 "grads/0 sum float32 [11] on /job:worker/task:1")));
}

TEST_F(TrainingTest, ReplicasThatDifferAreAnInternalError) {
  second.weights = "deadbeef";
  EXPECT_THAT(MakeTraining()->Run(TinyProgram(StrategyKind::kMultiWorkerMirrored)),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("deadbeef on /job:worker/task:1")));
}

TEST_F(TrainingTest, StopRequestedBeforeTheFirstRunIsCancelled) {
  const std::unique_ptr<Training> training = MakeTraining();
  training->RequestStop();
  EXPECT_THAT(training->Run(TinyProgram(StrategyKind::kMultiWorkerMirrored)), StatusIs(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace cohort
