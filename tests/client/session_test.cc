#include "client/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "client/api.h"
#include "client/cli/local_cluster.h"
#include "runtime/base/first_cause.h"
#include "tests/testing/process.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::Command;
using ::cohort::testing::Finished;
using ::cohort::testing::Process;
using ::cohort::testing::Runfile;
using ::cohort::testing::RunToEnd;
using ::cohort::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const TensorSpec kScalar{DType::kF32, {}};

absl::Time Soon() { return absl::Now() + absl::Seconds(30); }

// "count" adds x to a variable and returns the variable's value, its sum over all workers, and x as it came; "nothing"
// does nothing; "train" is a step of gradient descent for w in (w - x)^2.
Program TestProgram(StrategyKind strategy) {
  Program program;
  program.name = "attached";
  program.strategy = strategy;
  program.variables = {{"total", kScalar, {}}, {"w", kScalar, {}}};
  program.loop.learning_rate = 0.25;
  FunctionBuilder count("count");
  const Value x = count.AddParameter("x", kScalar);
  const Value total = count.Variable("total", kScalar);
  AssignAdd(total, x);
  const Value now = ReadVariable(total);
  count.AddResult("total", now);
  count.AddResult("sum", AllReduce(now, "SUM"));
  count.AddResult("x", x);
  program.functions["count"] = *count.Finish();
  FunctionBuilder nothing("nothing");
  program.functions["nothing"] = *nothing.Finish();
  FunctionBuilder train("train");
  const Value target = train.AddParameter("x", {DType::kF32, {Shape::kUnknown}});
  const Value w = train.Variable("w", kScalar);
  const Value loss = Sum(Square(Sub(ReadVariable(w), target)));
  train.AddResult("loss", loss, ResultRole::kLossSum);
  train.AddResult("examples", Size(target, DType::kI64), ResultRole::kExamples);
  train.AddResult("w", ReadVariable(w));
  ApplyGradient(w, (*Gradients(train, loss, {w}))[0], {{"optimizer", std::string("sgd")}});
  program.functions["train"] = *train.Finish();
  return program;
}

float Number(const Tensor& tensor) { return tensor.values<float>()[0]; }

std::unique_ptr<Cluster> Connect(const std::string& address) {
  return *Cluster::Connect({.address = address, .connect_timeout = absl::Seconds(10), .threads = 1});
}

// --- a cluster in this process

TEST(EmbeddedSessionTest, StepsKeepVariablesAndReturnWhatIsFetched) {
  const std::unique_ptr<Cluster> cluster = Connect("");
  COHORT_ASSERT_OK_AND_ASSIGN(const auto session,
                              Session::Open(*cluster, TestProgram(StrategyKind::kMultiWorkerMirrored)));
  EXPECT_EQ(session->workers(), 1);
  for (const float x : {1.0f, 2.0f, 4.0f}) {
    const std::vector<std::vector<Tensor>> feeds = {{Tensor::Scalar(x)}};
    COHORT_ASSERT_OK_AND_ASSIGN(const auto results, session->Run("count", feeds, {"x", "total"}));
    ASSERT_THAT(results, SizeIs(1));
    EXPECT_EQ(results[0].task, (TaskId{"worker", 0}));
    EXPECT_EQ(Number(results[0].fetched[0]), x);
    EXPECT_EQ(Number(results[0].fetched[1]), 2 * x - 1);
  }
  COHORT_EXPECT_OK(session->Run("nothing"));
  EXPECT_EQ(session->steps(), 4);
}

TEST(EmbeddedSessionTest, WhatDoesNotFitIsSaidBeforeAnythingRuns) {
  const std::unique_ptr<Cluster> cluster = Connect("");
  COHORT_ASSERT_OK_AND_ASSIGN(const auto session, Session::Open(*cluster, TestProgram(StrategyKind::kOneDevice)));
  const std::vector<std::vector<Tensor>> good = {{Tensor::Scalar(1.0f)}};
  const std::vector<std::vector<Tensor>> of_integers = {{Tensor::Scalar(int32_t{1})}};
  const std::vector<std::vector<Tensor>> two = {{Tensor::Scalar(1.0f), Tensor::Scalar(1.0f)}};
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(session->Run("counts", good), StatusIs(kInvalid, HasSubstr("no function 'counts'")));
  EXPECT_THAT(session->Run("count"), StatusIs(kInvalid, HasSubstr("feeds for 0 workers, the session has 1")));
  EXPECT_THAT(session->Run("count", of_integers),
              StatusIs(kInvalid, HasSubstr("parameter 'x' is float32 [], not int32 []")));
  EXPECT_THAT(session->Run("count", two), StatusIs(kInvalid, HasSubstr("2 tensors for 1 parameters")));
  EXPECT_THAT(session->Run("count", good, {"totals"}), StatusIs(kInvalid, HasSubstr("no result 'totals'")));
  EXPECT_EQ(session->steps(), 0);
  COHORT_EXPECT_OK(session->Run("count", good));
}

TEST(EmbeddedSessionTest, OneAtATime) {
  const std::unique_ptr<Cluster> cluster = Connect("");
  const Program program = TestProgram(StrategyKind::kOneDevice);
  COHORT_ASSERT_OK_AND_ASSIGN(auto first, Session::Open(*cluster, program, {.name = "the first"}));
  EXPECT_THAT(Session::Open(*cluster, program, {.name = "the second", .wait = false}),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("the first")));
  EXPECT_THAT(Session::Open(*cluster, program, {.name = "late", .open_timeout = absl::Milliseconds(50)}),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("behind session")));
  first.reset();
  COHORT_ASSERT_OK_AND_ASSIGN(const auto third, Session::Open(*cluster, program));
  COHORT_EXPECT_OK(third->Run("nothing"));
}

TEST(EmbeddedSessionTest, ProgramsWithoutALoopAreNoJobs) {
  const std::unique_ptr<Cluster> cluster = Connect("");
  EXPECT_THAT(cluster->Train(TestProgram(StrategyKind::kOneDevice)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no loop")));
}

// --- real daemons

class SessionTest : public ::testing::Test {
 protected:
  void StartCluster(int workers, int parameter_servers, std::vector<std::string> flags = {}) {
    LocalClusterOptions options;
    options.workers = workers;
    options.parameter_servers = parameter_servers;
    if (flags.empty()) flags.push_back("--drain=1s");
    flags.push_back("--lease=1s");
    options.daemon_flags = std::move(flags);
    COHORT_ASSERT_OK_AND_ASSIGN(daemons_, LocalCluster::Start(options, Soon()));
    cluster_ = Connect(daemons_->leader_address());
  }

  std::unique_ptr<LocalCluster> daemons_;
  std::unique_ptr<Cluster> cluster_;
};

TEST_F(SessionTest, AllWorkersStepTogetherAndReduce) {
  StartCluster(2, 0);
  COHORT_ASSERT_OK_AND_ASSIGN(const auto session,
                              Session::Open(*cluster_, TestProgram(StrategyKind::kMultiWorkerMirrored)));
  ASSERT_EQ(session->workers(), 2);
  for (int step = 1; step <= 3; ++step) {
    const std::vector<std::vector<Tensor>> feeds = {{Tensor::Scalar(1.0f)}, {Tensor::Scalar(10.0f)}};
    COHORT_ASSERT_OK_AND_ASSIGN(const auto results, session->Run("count", feeds, {"total", "sum"}));
    ASSERT_THAT(results, SizeIs(2));
    EXPECT_EQ(Number(results[0].fetched[0]), 1.0f * step);
    EXPECT_EQ(Number(results[1].fetched[0]), 10.0f * step);
    for (const WorkerResult& worker : results) EXPECT_EQ(Number(worker.fetched[1]), 11.0f * step);
  }
  // w is 0: the mean of 2 (w - x) over 1, 3 and 5 is -6; a quarter of that is 1.5.
  const std::vector<std::vector<Tensor>> batches = {{Tensor::Of<float>({1}, {1})}, {Tensor::Of<float>({2}, {3, 5})}};
  COHORT_ASSERT_OK_AND_ASSIGN(auto trained, session->Run("train", batches));
  EXPECT_EQ(trained[0].sums.examples, 3);
  EXPECT_EQ(trained[1].sums.loss_sum, 35);
  COHORT_ASSERT_OK_AND_ASSIGN(trained, session->Run("train", batches, {"w"}));
  for (const WorkerResult& worker : trained) EXPECT_EQ(Number(worker.fetched[0]), 1.5f);
}

TEST_F(SessionTest, VariablesOnAParameterServerAreSharedByWorkersThatStepAlone) {
  StartCluster(2, 1);
  Program program = TestProgram(StrategyKind::kParameterServer);
  program.functions.erase("count");  // assigns, which only gradients may
  COHORT_ASSERT_OK_AND_ASSIGN(const auto session, Session::Open(*cluster_, program));
  const std::vector<std::vector<Tensor>> batches(2, {Tensor::Of<float>({2}, {0, 0})});
  COHORT_ASSERT_OK_AND_ASSIGN(const auto results, session->Run("train", batches, {"w"}));
  for (const WorkerResult& worker : results) {
    EXPECT_EQ(worker.sums.examples, 2);  // its own
    EXPECT_EQ(Number(worker.fetched[0]), 0.0f);
  }
}

TEST_F(SessionTest, DeadWorkerIsNamedAndTheSessionIsOver) {
  StartCluster(2, 0, {"--chaos=kill:/job:worker/task:1@step=3"});
  COHORT_ASSERT_OK_AND_ASSIGN(const auto session,
                              Session::Open(*cluster_, TestProgram(StrategyKind::kMultiWorkerMirrored)));
  const std::vector<std::vector<Tensor>> feeds(2, {Tensor::Scalar(1.0f)});
  COHORT_EXPECT_OK(session->Run("count", feeds));
  COHORT_EXPECT_OK(session->Run("count", feeds));
  const auto third = session->Run("count", feeds);
  EXPECT_THAT(third, StatusIs(absl::StatusCode::kUnavailable, HasSubstr("/job:worker/task:1")));
  const auto cause = GetFirstCause(third.status());
  ASSERT_TRUE(cause.has_value());
  EXPECT_EQ(cause->task, (TaskId{"worker", 1}));
  EXPECT_THAT(session->Run("count", feeds),
              StatusIs(absl::StatusCode::kUnavailable, AllOf(HasSubstr("is over"), HasSubstr("/job:worker/task:1"))));
}

TEST_F(SessionTest, KilledClientIsFreedWithinTheLeaseAndTheNextGetsIn) {
  StartCluster(2, 0);
  COHORT_ASSERT_OK_AND_ASSIGN(
      const auto holder,
      Process::Start({{Runfile("tests/client/hold_session")}, {{"COHORT_CLUSTER", daemons_->leader_address()}}, {}}));
  COHORT_ASSERT_OK(holder->WaitForLine("holds", Soon()));
  const Program program = TestProgram(StrategyKind::kMultiWorkerMirrored);
  EXPECT_THAT(Session::Open(*cluster_, program, {.wait = false}),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("the holder")));
  const absl::Time killed = absl::Now();
  holder->Signal(SIGKILL);
  COHORT_ASSERT_OK_AND_ASSIGN(const auto next, Session::Open(*cluster_, program));
  EXPECT_GE(absl::Now() - killed, absl::Milliseconds(900));  // the lease: it might have come back
  EXPECT_LE(absl::Now() - killed, absl::Seconds(5));
  COHORT_EXPECT_OK(next->Run("nothing"));
}

TEST_F(SessionTest, LostLeaderEndsTheSession) {
  StartCluster(1, 0);
  COHORT_ASSERT_OK_AND_ASSIGN(const auto session, Session::Open(*cluster_, TestProgram(StrategyKind::kOneDevice)));
  COHORT_EXPECT_OK(session->Run("nothing"));
  daemons_->Stop(absl::Now());
  EXPECT_THAT(session->Run("nothing"), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("/job:worker/task:0")));
}

TEST_F(SessionTest, IdleSessionDoesNotKeepTheClusterFromEnding) {
  StartCluster(2, 0, {"--drain=20s"});
  COHORT_ASSERT_OK_AND_ASSIGN(const auto session,
                              Session::Open(*cluster_, TestProgram(StrategyKind::kMultiWorkerMirrored)));
  const absl::Time start = absl::Now();
  daemons_->Stop(start + absl::Seconds(15));
  EXPECT_LT(absl::Now() - start, absl::Seconds(10));
  EXPECT_THAT(session->Run("nothing"), StatusIs(absl::StatusCode::kUnavailable));
}

std::vector<std::string> LinesOf(const std::string& text) { return absl::StrSplit(text, '\n', absl::SkipEmpty()); }

TEST(AttachedStepsTest, PrintsTheSameWithAndWithoutACluster) {
  COHORT_ASSERT_OK_AND_ASSIGN(
      const Finished alone,
      RunToEnd({{Runfile("client/examples/attached_steps")}, {}, {"COHORT_CLUSTER"}}, absl::Seconds(30)));
  EXPECT_EQ(alone.exit_code, 0) << alone.err;
  EXPECT_THAT(LinesOf(alone.out), ElementsAre("/job:worker/task:0: product 1, sum 1, step 1",
                                              "/job:worker/task:0: product 10, sum 10, step 2",
                                              "/job:worker/task:0: product 100, sum 100, step 3"));
  const Command local = {
      {Runfile("client/cohort"), "local", "--workers=2", "--", Runfile("client/examples/attached_steps")},
      {},
      {"COHORT_CLUSTER"}};
  COHORT_ASSERT_OK_AND_ASSIGN(const Finished together, RunToEnd(local, absl::Seconds(60)));
  EXPECT_EQ(together.exit_code, 0) << together.err;
  for (const char* line :
       {"/job:worker/task:0: product 1, sum 3, step 1", "/job:worker/task:1: product 2, sum 3, step 1",
        "/job:worker/task:0: product 100, sum 300, step 3", "/job:worker/task:1: product 200, sum 300, step 3"}) {
    EXPECT_THAT(together.out, HasSubstr(line));
  }
}

}  // namespace
}  // namespace cohort
