// What every WorkerLink promises, for the fake in this process and for the same one behind a server; then what only the
// remote one can meet.
#include "runtime/remote/worker_link.h"

#include <gmock/gmock.h>

#include "runtime/base/first_cause.h"
#include "runtime/remote/program_bytes.h"
#include "runtime/rpc/call_context.h"
#include "runtime/rpc/server.h"
#include "runtime/rpc/service_ptr.h"
#include "tests/testing/answer.h"
#include "tests/testing/fake_worker.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/wire_proxy.h"
#include "worker/worker_service.h"

namespace cohort {
namespace {

using ::cohort::testing::Answer;
using ::cohort::testing::FakeWorker;
using ::cohort::testing::IsOk;
using ::cohort::testing::IsOkAndHolds;
using ::cohort::testing::StatusIs;
using ::cohort::testing::WireProxy;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kIncarnation = 0xabcd;
constexpr absl::Duration kSoon = absl::Seconds(10);

absl::Time Soon() { return absl::Now() + kSoon; }

absl::Status LostRank() {
  absl::Status status = absl::UnavailableError("/job:worker/task:2 is gone");
  FirstCause cause;
  cause.task = {"worker", 2};
  cause.address = "h2:1";
  cause.incarnation = 9;
  cause.seq = 4;
  cause.missing.push_back({"worker", 2});
  SetFirstCause(status, cause);
  return status;
}

// A fake worker, alone or behind a server.
class ServedWorker {
 public:
  explicit ServedWorker(bool remote) : worker({{"worker", 1}, "", kIncarnation}) {
    if (!remote) return;
    service_ = MakeWorkerService(worker, [](const CallContext& call) {
      return CheckCallee(call, {"worker", 1}, kIncarnation);
    });
    Restart("127.0.0.1:0");
    self.address = server->address();
    link_ = ConnectWorker(self, Options());
  }

  static LinkOptions Options() {
    LinkOptions options;
    options.self = {"chief", 0};
    options.incarnation = 5;
    options.retry_for = absl::Seconds(1);
    return options;
  }

  void Restart(const std::string& address) {
    auto started = RpcServer::Start({address, {service_.get()}, nullptr, {}});
    ASSERT_TRUE(started.ok()) << started.status();
    server = *std::move(started);
  }

  WorkerLink& link() { return link_ == nullptr ? static_cast<WorkerLink&>(worker) : *link_; }
  void DestroyLink() { link_.reset(); }

  TaskAddress self{{"worker", 1}, "", kIncarnation};
  FakeWorker worker;

 private:
  ServicePtr service_;

 public:
  std::unique_ptr<RpcServer> server;

 private:
  std::unique_ptr<WorkerLink> link_;
};

class WorkerLinkContractTest : public ::testing::TestWithParam<bool> {
 protected:
  ServedWorker setup_{GetParam()};
  FakeWorker& worker_ = setup_.worker;
  WorkerLink& link_ = setup_.link();
};

TEST_P(WorkerLinkContractTest, NamesItsTask) {
  EXPECT_EQ(link_.task().task, (TaskId{"worker", 1}));
  EXPECT_EQ(link_.task().incarnation, kIncarnation);
}

TEST_P(WorkerLinkContractTest, SessionReachesTheWorkerWhole) {
  SessionSpec sent;
  sent.session = 0xfedcba9876543210;
  sent.epoch = 3;
  sent.program.name = "p";
  sent.program.loop.train_dataset.attributes["large"] = Tensor::Zeros(DType::kF32, {1 << 20});
  sent.group.push_back({{"worker", 1}, "h1:1", 5});
  SessionSpec received;
  worker_.on_open = [&](const SessionSpec& spec) {
    received = spec;
    return OpenedSession{0xfedcba9876543211, "plan", 60};
  };
  Answer<OpenedSession> answer;
  link_.OpenSession(sent, Soon(), answer.Slot());
  const absl::StatusOr<OpenedSession> opened = answer.Wait();
  ASSERT_THAT(opened, IsOk());
  EXPECT_EQ(opened->plan_hash, 0xfedcba9876543211);
  EXPECT_EQ(opened->plan_text, "plan");
  EXPECT_EQ(opened->batches_per_epoch, 60);
  EXPECT_EQ(received.session, sent.session);
  EXPECT_EQ(received.epoch, 3);
  EXPECT_EQ(SerializeProgram(received.program), SerializeProgram(sent.program));
  EXPECT_EQ(received.group.at(0).address, "h1:1");
}

TEST_P(WorkerLinkContractTest, ReportsComeInOrderBeforeTheResult) {
  worker_.on_run = [](uint64_t, const RunSpec& run, const FakeWorker::Report& report) {
    for (int64_t step = 1; step <= run.count; ++step) {
      StepReport r;
      r.step = step;
      r.losses = {0.1 * step};
      report(r);
    }
    RunResult result;
    result.last_step = run.count;
    result.fetched.push_back(Tensor::Of<float>({2}, {1, 2}));
    return result;
  };
  RunSpec run;
  run.function = "train";
  run.count = 100;
  std::vector<int64_t> steps;
  Answer<RunResult> answer;
  link_.Run(
      7, run,
      [&](const StepReport& report) {
        EXPECT_EQ(answer.count(), 0);
        EXPECT_THAT(report.losses, ElementsAre(0.1 * report.step));
        steps.push_back(report.step);
      },
      answer.Slot());
  const absl::StatusOr<RunResult> result = answer.Wait();
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->last_step, 100);
  EXPECT_TRUE(result->fetched.at(0).BitwiseEquals(Tensor::Of<float>({2}, {1, 2})));
  ASSERT_EQ(steps.size(), 100u);
  for (int64_t i = 0; i < 100; ++i) EXPECT_EQ(steps[i], i + 1);
}

TEST_P(WorkerLinkContractTest, ErrorsKeepCodeMessageAndCause) {
  worker_.on_open = [](const SessionSpec&) { return absl::InvalidArgumentError("node 'x'"); };
  worker_.on_run = [](uint64_t, const RunSpec&, const FakeWorker::Report& report) {
    report(StepReport());
    return LostRank();
  };
  worker_.on_summarize = [](uint64_t) { return absl::NotFoundError("no session"); };
  SessionSpec spec;
  spec.group.push_back(link_.task());
  Answer<OpenedSession> opened;
  link_.OpenSession(spec, Soon(), opened.Slot());
  EXPECT_EQ(opened.Wait().status(), absl::InvalidArgumentError("node 'x'"));
  Answer<RunResult> ran;
  link_.Run(
      7, RunSpec(), [](const StepReport&) {}, ran.Slot());
  EXPECT_EQ(ran.Wait().status(), LostRank());
  Answer<WorkerSummary> summary;
  link_.Summarize(7, Soon(), summary.Slot());
  EXPECT_EQ(summary.Wait().status(), absl::NotFoundError("no session"));
}

TEST_P(WorkerLinkContractTest, ReasonOfACloseReachesTheWorker) {
  absl::Status received;
  worker_.on_close = [&](uint64_t, const absl::Status& reason) {
    received = reason;
    return true;
  };
  Answer<bool> closed;
  link_.CloseSession(7, LostRank(), Soon(), closed.Slot());
  EXPECT_THAT(closed.Wait(), IsOkAndHolds(true));
  EXPECT_EQ(received, LostRank());
}

TEST_P(WorkerLinkContractTest, OtherCallsPassARun) {
  Answer<bool> stopped;
  worker_.on_run = [&](uint64_t, const RunSpec&, const FakeWorker::Report&) -> absl::StatusOr<RunResult> {
    COHORT_EXPECT_OK(stopped.Wait());
    return RunResult();
  };
  Answer<RunResult> ran;
  link_.Run(
      7, RunSpec(), [](const StepReport&) {}, ran.Slot());
  link_.RequestStop(7, Soon(), stopped.Slot());
  EXPECT_THAT(ran.Wait(), IsOk());
  Answer<bool> initialized;
  link_.InitializeVariables(7, Soon(), initialized.Slot());
  EXPECT_THAT(initialized.Wait(), IsOkAndHolds(true));
  EXPECT_EQ(ran.count(), 1);
  EXPECT_EQ(initialized.count(), 1);
}

INSTANTIATE_TEST_SUITE_P(Links, WorkerLinkContractTest, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "Remote" : "InProcess"; });

class RemoteWorkerLinkTest : public ::testing::Test {
 protected:
  absl::StatusOr<WorkerSummary> Summarize(WorkerLink& link, absl::Duration timeout = kSoon) {
    Answer<WorkerSummary> answer;
    link.Summarize(7, absl::Now() + timeout, answer.Slot());
    return answer.Wait();
  }

  // A run that is under way until release_ is answered.
  void HoldRuns() {
    setup_.worker.on_run = [this](uint64_t, const RunSpec&, const FakeWorker::Report&) -> absl::StatusOr<RunResult> {
      begun_.Slot()(true);
      COHORT_EXPECT_OK(release_.Wait());
      return RunResult();
    };
  }

  Answer<bool> begun_, release_;
  ServedWorker setup_{/*remote=*/true};
};

TEST_F(RemoteWorkerLinkTest, CallForAnotherLifeIsAborted) {
  TaskAddress earlier = setup_.self;
  earlier.incarnation = 0x1234;
  const auto link = ConnectWorker(earlier, ServedWorker::Options());
  EXPECT_THAT(Summarize(*link).status(),
              StatusIs(absl::StatusCode::kAborted,
                       AllOf(HasSubstr("/job:worker/task:1"), HasSubstr("1234"), HasSubstr("abcd"))));
  Answer<RunResult> ran;
  link->Run(
      7, RunSpec(), [](const StepReport&) {}, ran.Slot());
  EXPECT_THAT(ran.Wait().status(), StatusIs(absl::StatusCode::kAborted));
  EXPECT_THAT(setup_.worker.calls(), ElementsAre());
}

TEST_F(RemoteWorkerLinkTest, DeadWorkerIsUnavailableAndNamed) {
  setup_.server.reset();
  const absl::Time start = absl::Now();
  WorkerLink& link = setup_.link();
  Answer<RunResult> ran;
  link.Run(
      7, RunSpec(), [](const StepReport&) {}, ran.Slot());
  for (const absl::Status& status : {ran.Wait().status(), Summarize(link).status()}) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable,
                                 AllOf(HasSubstr("/job:worker/task:1"), HasSubstr(setup_.self.address))));
    ASSERT_TRUE(GetFirstCause(status).has_value());
    EXPECT_EQ(GetFirstCause(status)->task, (TaskId{"worker", 1}));
    EXPECT_EQ(GetFirstCause(status)->incarnation, kIncarnation);
  }
  EXPECT_LT(absl::Now() - start, absl::Seconds(5));
}

TEST_F(RemoteWorkerLinkTest, DeathDuringARunEndsItAtOnce) {
  HoldRuns();
  Answer<RunResult> ran;
  setup_.link().Run(
      7, RunSpec(), [](const StepReport&) {}, ran.Slot());
  COHORT_ASSERT_OK(begun_.Wait());
  setup_.server->Stop(absl::Now());  // its calls are cancelled though the worker has not answered
  EXPECT_THAT(ran.Wait().status(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("/job:worker/task:1")));
  release_.Slot()(true);
}

TEST_F(RemoteWorkerLinkTest, RepeatableCallOutlastsAShortOutage) {
  COHORT_ASSERT_OK(Summarize(setup_.link()));
  setup_.server.reset();
  Answer<WorkerSummary> answer;
  setup_.link().Summarize(7, Soon(), answer.Slot());
  setup_.Restart(setup_.self.address);
  EXPECT_THAT(answer.Wait(), IsOk());
}

TEST_F(RemoteWorkerLinkTest, DestructionCancelsWhatIsUnderWay) {
  HoldRuns();
  Answer<RunResult> ran;
  setup_.link().Run(
      7, RunSpec(), [](const StepReport&) {}, ran.Slot());
  COHORT_ASSERT_OK(begun_.Wait());
  setup_.DestroyLink();
  EXPECT_EQ(ran.count(), 1);
  EXPECT_THAT(ran.Wait().status(), StatusIs(absl::StatusCode::kCancelled));
  release_.Slot()(true);
}

TEST_F(RemoteWorkerLinkTest, SilentWorkerIsLateOnceConnected) {
  COHORT_ASSERT_OK_AND_ASSIGN(auto proxy, WireProxy::Start(setup_.server->port()));
  TaskAddress behind = setup_.self;
  behind.address = proxy->address();
  const auto link = ConnectWorker(behind, ServedWorker::Options());
  COHORT_ASSERT_OK(Summarize(*link));
  proxy->SetSilent(true);
  const absl::Status late = Summarize(*link, absl::Milliseconds(300)).status();
  EXPECT_THAT(late, StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("/job:worker/task:1")));
  EXPECT_THAT(GetFirstCause(late)->missing, ElementsAre(TaskId{"worker", 1}));
}

TEST_F(RemoteWorkerLinkTest, WhoNeverAnsweredIsUnavailableNotLate) {
  COHORT_ASSERT_OK_AND_ASSIGN(auto proxy, WireProxy::Start(setup_.server->port()));
  proxy->SetSilent(true);
  TaskAddress behind = setup_.self;
  behind.address = proxy->address();
  const auto link = ConnectWorker(behind, ServedWorker::Options());
  EXPECT_THAT(Summarize(*link, absl::Milliseconds(300)).status(), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(RemoteWorkerLinkTest, CutConnectionIsUnavailable) {
  COHORT_ASSERT_OK_AND_ASSIGN(auto proxy, WireProxy::Start(setup_.server->port()));
  HoldRuns();
  TaskAddress behind = setup_.self;
  behind.address = proxy->address();
  const auto link = ConnectWorker(behind, ServedWorker::Options());
  Answer<RunResult> ran;
  link->Run(
      7, RunSpec(), [](const StepReport&) {}, ran.Slot());
  COHORT_ASSERT_OK(begun_.Wait());
  proxy->Cut();
  EXPECT_THAT(ran.Wait().status(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("/job:worker/task:1")));
  release_.Slot()(true);
}

}  // namespace
}  // namespace cohort
