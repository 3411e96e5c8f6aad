#include "client/cli/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace cohort {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

JobEvent State(JobState state, std::string waits_for = "") {
  JobEvent event;
  event.info.id = 3;
  event.info.name = "mlp";
  event.info.state = state;
  event.info.waits_for = std::move(waits_for);
  return event;
}

JobEvent Report(int64_t step, int64_t total, int64_t steps, int64_t examples, double loss_sum, double seconds) {
  JobEvent event;
  event.kind = JobEvent::Kind::kReport;
  event.info.step = step;
  event.info.steps_total = total;
  event.report.sums.steps = steps;
  event.report.sums.examples = examples;
  event.report.sums.loss_sum = loss_sum;
  event.report.seconds = seconds;
  return event;
}

class ProgressTest : public ::testing::Test {
 protected:
  ~ProgressTest() override { std::fclose(file_); }

  Progress& Make(bool terminal) { return progress_.emplace(file_, terminal); }
  // What was printed, the end of the Progress included.
  std::string Text() {
    progress_.reset();
    std::fflush(file_);
    std::rewind(file_);
    std::string text(4096, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file_));
    return text;
  }

 private:
  std::FILE* const file_ = std::tmpfile();
  std::optional<Progress> progress_;
};

TEST_F(ProgressTest, StatesAreToldOnce) {
  Progress& progress = Make(false);
  progress.Show(State(JobState::kQueued, "job 1 'a'"));
  progress.Show(State(JobState::kQueued, "job 1 'a'"));
  progress.Show(State(JobState::kQueued, "job 2"));
  progress.Show(State(JobState::kRunning));
  progress.Show(State(JobState::kRunning));
  EXPECT_EQ(Text(), "job 3 waits behind job 1 'a'\njob 3 waits behind job 2\njob 3 'mlp' runs\n");
}

TEST_F(ProgressTest, APlainLineTellsMeanLossAndSpeedOfWhatItCovers) {
  Progress& progress = Make(false);
  progress.Show(Report(10, 0, 10, 100, 150, 0.5));
  EXPECT_EQ(Text(), "step 10  loss 1.5000  200 examples/s\n");
}

TEST_F(ProgressTest, TheLastStepIsAlwaysShownWithAllSinceTheLineBefore) {
  Progress& progress = Make(false);
  progress.Show(Report(10, 30, 10, 100, 150, 0.5));
  progress.Show(Report(20, 30, 10, 100, 100, 0.5));  // a moment later: no line
  progress.Show(Report(30, 30, 10, 100, 0, 0.5));
  EXPECT_EQ(Text(),
            "step 10/30  loss 1.5000  200 examples/s  ETA 0:01\n"
            "step 30/30  loss 0.5000  200 examples/s  ETA 0:00\n");
}

TEST_F(ProgressTest, TimeLeftHasHoursWhenThereAreSome) {
  Make(false).Show(Report(1, 3662, 1, 1, 1, 1));
  EXPECT_THAT(Text(), HasSubstr("ETA 1:01:01\n"));
}

TEST_F(ProgressTest, NothingIsDividedByZero) {
  Make(false).Show(Report(1, 5, 1, 0, 0, 0));
  EXPECT_EQ(Text(), "step 1/5  loss 0.0000  0 examples/s\n");
}

TEST_F(ProgressTest, ATerminalLineIsDrawnAgainAndEndedBeforeOthers) {
  Progress& progress = Make(true);
  progress.Show(Report(1, 0, 1, 10, 10, 0.1));
  progress.Show(Report(2, 0, 1, 10, 20, 0.1));
  JobEvent evaluation;
  evaluation.kind = JobEvent::Kind::kEvaluation;
  evaluation.info.step = 2;
  evaluation.accuracy = 0.875;
  evaluation.examples = 80;
  progress.Show(evaluation);
  progress.Show(Report(3, 0, 1, 10, 20, 0.1));
  EXPECT_EQ(Text(),
            "\r\033[Kstep 1  loss 1.0000  100 examples/s"
            "\r\033[Kstep 2  loss 2.0000  100 examples/s\n"
            "step 2: accuracy 0.8750 on 80 examples\n"
            "\r\033[Kstep 3  loss 2.0000  100 examples/s\n");
}

TEST_F(ProgressTest, LogLinesAndTheEnd) {
  Progress& progress = Make(false);
  JobEvent event;
  event.kind = JobEvent::Kind::kLog;
  event.line = "100% done %s";
  progress.Show(event);
  event.kind = JobEvent::Kind::kEnd;
  progress.Show(event);
  EXPECT_EQ(Text(), "100% done %s\n");
}

TEST(ResultTableTest, AllRows) {
  JobResult result;
  result.steps = 938;
  result.examples = 120000;
  result.seconds = 2;
  result.examples_per_second = 60000;
  result.loss = 0.25;
  result.accuracy = 0.875;
  result.evaluated = 10000;
  result.weights_crc32c = "0badcafe";
  WorkerSummary& worker = result.workers.emplace_back();
  worker.task = {"worker", 1};
  worker.examples = 60000;
  worker.steps = 938;
  worker.bytes_sent = 1500000;
  EXPECT_EQ(ResultTable(result),
            "steps            938\n"
            "examples         120000\n"
            "training time    2.00 s\n"
            "examples/s       60000\n"
            "loss             0.2500\n"
            "test accuracy    0.8750 (10000 examples)\n"
            "weights crc32c   0badcafe\n"
            "/job:worker/task:1 60000 examples, 938 steps, 1.5 MB sent\n");
}

TEST(ResultTableTest, NoRowForAnEvaluationThatWasNot) {
  EXPECT_THAT(ResultTable(JobResult{}), Not(HasSubstr("accuracy")));
}

}  // namespace
}  // namespace cohort
