#include "worker/leader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/base/first_cause.h"
#include "runtime/base/thread.h"
#include "runtime/graph/builder.h"
#include "runtime/graph/ops.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::FakeClock;
using ::cohort::testing::StatusIs;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kBatches = 5;

absl::Time Soon() { return absl::Now() + absl::Seconds(20); }

// A worker whose runs end when the test says so (at once, unless held).
class FakeWorker final : public WorkerLink {
 public:
  explicit FakeWorker(TaskAddress task) : task_(std::move(task)) {}

  const TaskAddress& task() const override { return task_; }
  void OpenSession(const SessionSpec& spec, absl::Time, Done<OpenedSession> done) override {
    MutexLock lock(&mu_);
    sessions_.push_back(spec.session);
    OpenedSession info;
    info.batches_per_epoch = kBatches;
    if (stale_opens-- > 0) return done(absl::AbortedError("a session of epoch 2, but the cluster is at epoch 3"));
    done(info);
  }
  void InitializeVariables(uint64_t, absl::Time, Done<bool> done) override { done(true); }
  void Run(uint64_t, const RunSpec& run, std::function<void(StepReport)> report, Done<RunResult> done) override {
    std::function<void(bool)> finish = [run, report, done](bool stopped) {
      RunResult result;
      result.sums.steps = run.count > 0 ? run.count : kBatches;
      result.sums.examples = result.sums.steps * 8;
      result.sums.loss_sum = 2.0 * result.sums.examples;
      result.last_step = run.first_step + result.sums.steps - 1;
      result.stopped = stopped;
      StepReport r;
      r.step = result.last_step;
      r.sums = result.sums;
      report(r);
      done(result);
    };
    {
      MutexLock lock(&mu_);
      ++runs_;
      if (hold_) {
        finish_ = std::move(finish);
        fail_ = [done](const absl::Status& reason) { done(reason); };
        return;
      }
    }
    finish(false);
  }
  void RequestStop(uint64_t, absl::Time, Done<bool> done) override {
    done(true);
    if (!deaf) Finish(/*stopped=*/true);
  }
  void Summarize(uint64_t, absl::Time, Done<WorkerSummary> done) override {
    WorkerSummary summary;
    summary.task = task_.task;
    summary.weights_crc32c = "0badcafe";
    done(summary);
  }
  void CloseSession(uint64_t, absl::Status reason, absl::Time, Done<bool> done) override {
    std::function<void(const absl::Status&)> fail;
    {
      MutexLock lock(&mu_);
      finish_ = nullptr;
      fail = std::exchange(fail_, nullptr);
      closed_.push_back(reason);
    }
    if (fail) fail(reason);
    done(true);
  }

  void Hold(bool hold) {
    MutexLock lock(&mu_);
    hold_ = hold;
  }
  // Ends the run that is held.
  void Finish(bool stopped = false) {
    std::function<void(bool)> finish;
    {
      MutexLock lock(&mu_);
      finish = std::exchange(finish_, nullptr);
      fail_ = nullptr;
    }
    if (finish) finish(stopped);
  }
  bool AwaitRun(int number) {
    MutexLock lock(&mu_);
    const auto there = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return runs_ >= number; };
    return mu_.AwaitWithDeadline(there, Soon());
  }
  std::vector<uint64_t> sessions() {
    MutexLock lock(&mu_);
    return sessions_;
  }
  std::vector<absl::Status> closed() {
    MutexLock lock(&mu_);
    return closed_;
  }

  std::atomic<bool> deaf = false;  // to RequestStop
  int stale_opens = 0;             // so many sessions are refused as of an earlier epoch

 private:
  const TaskAddress task_;
  Mutex mu_;
  bool hold_ ABSL_GUARDED_BY(mu_) = false;
  int runs_ ABSL_GUARDED_BY(mu_) = 0;
  std::function<void(bool)> finish_ ABSL_GUARDED_BY(mu_);
  std::function<void(const absl::Status&)> fail_ ABSL_GUARDED_BY(mu_);
  std::vector<uint64_t> sessions_ ABSL_GUARDED_BY(mu_);
  std::vector<absl::Status> closed_ ABSL_GUARDED_BY(mu_);
};

Program TinyProgram(StrategyKind strategy = StrategyKind::kMultiWorkerMirrored) {
  Program program;
  program.name = "tiny";
  program.strategy = strategy;
  FunctionBuilder builder("train");
  const Value x = builder.AddParameter("x", {DType::kF32, {Shape::kUnknown}});
  builder.AddResult("examples", Size(x, DType::kI64), ResultRole::kExamples);
  builder.AddResult("loss_sum", Sum(x), ResultRole::kLossSum);
  program.functions["train"] = *builder.Finish();
  program.loop.train_function = "train";
  program.loop.train_dataset.kind = "Synthetic";
  program.loop.global_batch = 8;
  program.loop.epochs = 1;
  program.loop.learning_rate = 0.1;
  return program;
}

// A leader, /job:worker/task:0, and one more worker, both behind fake links; time stands still.
class LeaderTest : public ::testing::Test {
 protected:
  LeaderTest() {
    LeaderOptions options;
    options.membership.expected = {{{"worker", 0}, "h0:1"}, {{"worker", 1}, "h1:1"}};
    options.self = Member(0);
    options.start_timeout = absl::Seconds(30);
    options.training.drain = absl::Seconds(20);
    LeaderEnvironment environment;
    environment.link_worker = [this](const TaskAddress& task) { return workers[task.task.index]; };
    environment.link_parameter_server = [](const TaskAddress&) { return nullptr; };
    // A program is kept under its number.
    environment.serialize_program = [this](const Program& program) {
      MutexLock lock(&mu);
      programs.push_back(program);
      return absl::StrCat(programs.size() - 1);
    };
    environment.parse_program = [this](absl::string_view bytes) -> absl::StatusOr<Program> {
      MutexLock lock(&mu);
      return programs[std::stoi(std::string(bytes))];
    };
    environment.on_job_end = [this](int64_t job, const absl::Status& status) {
      MutexLock lock(&mu);
      ended.emplace_back(job, status.code());
    };
    environment.on_shutdown = [this] { ++shutdowns; };
    leader = std::make_unique<Leader>(std::move(options), std::move(environment), clock);
  }

  MemberInfo Member(int index) {
    MemberInfo info;
    info.task = {"worker", index};
    info.address = absl::StrCat("h", index, ":1");
    info.incarnation = 100 + index;
    info.devices = {"CPU:0"};
    return info;
  }
  void JoinSecond() { EXPECT_THAT(leader->coordination().Join(Member(1)), testing::IsOk()); }

  int64_t Submit(JobOptions options = {}, const Program& program = TinyProgram()) {
    const absl::StatusOr<int64_t> job = leader->Submit(program, options, Soon());
    EXPECT_THAT(job, testing::IsOk());
    return job.value_or(0);
  }
  absl::Status Follow(int64_t job, std::vector<JobEvent>* events = nullptr) {
    return leader->Follow(job, /*from_now=*/false, [events](const JobEvent& event) {
      if (events != nullptr) events->push_back(event);
      return true;
    });
  }
  JobInfo InfoOf(int64_t job) {
    const auto jobs = leader->Jobs(Soon());
    for (const JobInfo& info : *jobs) {
      if (info.id == job) return info;
    }
    ADD_FAILURE() << "no job " << job;
    return {};
  }
  std::vector<std::pair<int64_t, absl::StatusCode>> Ended() {
    MutexLock lock(&mu);
    return ended;
  }
  // Until the leader's tick, at most.
  bool AwaitState(int64_t job, JobState state) {
    for (const absl::Time deadline = Soon(); absl::Now() < deadline; absl::SleepFor(absl::Milliseconds(5))) {
      if (InfoOf(job).state == state) return true;
    }
    return false;
  }

  FakeClock clock;
  const std::vector<std::shared_ptr<FakeWorker>> workers = {
      std::make_shared<FakeWorker>(TaskAddress{{"worker", 0}, "h0:1", 100}),
      std::make_shared<FakeWorker>(TaskAddress{{"worker", 1}, "h1:1", 101})};
  Mutex mu;
  std::vector<Program> programs ABSL_GUARDED_BY(mu);
  std::vector<std::pair<int64_t, absl::StatusCode>> ended ABSL_GUARDED_BY(mu);
  std::atomic<int> shutdowns = 0;
  std::unique_ptr<Leader> leader;
};

TEST_F(LeaderTest, FollowFromTheStartSeesEverythingAndTheJobsStatus) {
  JoinSecond();
  const int64_t job = Submit({.name = "mine", .detach = true});
  std::vector<JobEvent> events;
  COHORT_ASSERT_OK(Follow(job, &events));
  std::erase_if(events, [](const JobEvent& e) { return e.kind == JobEvent::Kind::kState; });
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, JobEvent::Kind::kReport);
  EXPECT_EQ(events[0].info.id, job);
  EXPECT_EQ(events[0].info.name, "mine");
  EXPECT_EQ(events[0].info.step, kBatches);
  EXPECT_EQ(events[0].info.steps_total, kBatches);
  EXPECT_EQ(events[1].kind, JobEvent::Kind::kEnd);
  EXPECT_EQ(events[1].info.state, JobState::kDone);
  EXPECT_EQ(events[1].result.steps, kBatches);
  EXPECT_EQ(events[1].result.loss, 2.0);
  EXPECT_EQ(events[1].result.weights_crc32c, "0badcafe");
  // Again, after the end: the same.
  std::vector<JobEvent> again;
  COHORT_ASSERT_OK(Follow(job, &again));
  EXPECT_EQ(again.back().result.steps, kBatches);
  EXPECT_TRUE(leader->WaitIdle(Soon()));
  EXPECT_FALSE(leader->busy());
}

TEST_F(LeaderTest, AJobWhoseRosterGrewStaleReadsItAgain) {
  JoinSecond();
  workers[0]->stale_opens = 2;
  COHORT_EXPECT_OK(Follow(Submit({.detach = true})));
  workers[0]->stale_opens = 100;
  EXPECT_THAT(Follow(Submit({.detach = true})), StatusIs(absl::StatusCode::kAborted));
}

TEST_F(LeaderTest, FollowersFromNowSeeWhatComesAndUnknownJobsAreNotFound) {
  JoinSecond();
  const int64_t job = Submit({.detach = true});
  COHORT_ASSERT_OK(Follow(job));
  int events = 0;
  COHORT_EXPECT_OK(leader->Follow(job, /*from_now=*/true, [&](const JobEvent&) { return ++events < 10; }));
  EXPECT_EQ(events, 0);
  EXPECT_THAT(Follow(99), StatusIs(absl::StatusCode::kNotFound, HasSubstr("99")));
}

TEST_F(LeaderTest, AFollowerMayLeave) {
  workers[0]->Hold(true);
  JoinSecond();
  const int64_t job = Submit({.detach = true});
  int events = 0;
  COHORT_EXPECT_OK(leader->Follow(job, false, [&](const JobEvent&) { return ++events < 1; }));
  EXPECT_EQ(events, 1);
  EXPECT_TRUE(leader->busy());
}

TEST_F(LeaderTest, TwoJobsRunOneAfterTheOtherInSessionsOfTheirOwn) {
  workers[0]->Hold(true);
  JoinSecond();
  const int64_t first = Submit({.name = "a", .detach = true});
  ASSERT_TRUE(workers[0]->AwaitRun(1));
  const int64_t second = Submit({.name = "b", .detach = true});
  EXPECT_EQ(InfoOf(first).state, JobState::kRunning);
  EXPECT_EQ(InfoOf(second).state, JobState::kQueued);
  EXPECT_EQ(InfoOf(second).waits_for, absl::StrCat("job ", first, " 'a'"));
  workers[0]->Finish();
  COHORT_EXPECT_OK(Follow(first));
  ASSERT_TRUE(workers[0]->AwaitRun(2));
  EXPECT_EQ(InfoOf(second).state, JobState::kRunning);
  workers[0]->Finish();
  COHORT_EXPECT_OK(Follow(second));
  const std::vector<uint64_t> sessions = workers[0]->sessions();
  ASSERT_EQ(sessions.size(), 2u);
  EXPECT_LT(sessions[0], sessions[1]);
  leader->WaitIdle(Soon());
  const auto status = leader->Status(Soon());
  ASSERT_EQ(status->jobs.size(), 2u);
  EXPECT_EQ(status->jobs[0].id, second);  // the newest first
}

TEST_F(LeaderTest, WhoDoesNotWaitIsToldWhoHoldsTheCluster) {
  workers[0]->Hold(true);
  JoinSecond();
  Submit({.name = "holder", .detach = true});
  EXPECT_THAT(leader->Submit(TinyProgram(), {.wait = false}, Soon()),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("'holder'")));
  EXPECT_EQ(leader->Jobs(Soon())->size(), 1u);
}

TEST_F(LeaderTest, CancelledRunningJobStopsAfterAStepAndIsCancelled) {
  workers[0]->Hold(true);
  workers[1]->Hold(true);
  JoinSecond();
  const int64_t job = Submit({.detach = true});
  ASSERT_TRUE(workers[0]->AwaitRun(1));
  ASSERT_TRUE(workers[1]->AwaitRun(1));
  COHORT_ASSERT_OK(leader->Cancel(job, Soon()));
  EXPECT_THAT(Follow(job), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(InfoOf(job).state, JobState::kCancelled);
  COHORT_EXPECT_OK(leader->Cancel(job, Soon()));
}

TEST_F(LeaderTest, CancelledQueuedJobEndsAtOnceAndLeavesTheLeaderIdle) {
  workers[0]->Hold(true);
  JoinSecond();
  const int64_t first = Submit({.detach = true});
  const int64_t second = Submit({.detach = true});
  COHORT_ASSERT_OK(leader->Cancel(second, Soon()));
  std::vector<JobEvent> events;
  EXPECT_THAT(Follow(second, &events), StatusIs(absl::StatusCode::kCancelled, HasSubstr("cancelled by a client")));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, JobEvent::Kind::kEnd);
  EXPECT_EQ(events[0].info.state, JobState::kCancelled);
  ASSERT_TRUE(workers[0]->AwaitRun(1));
  workers[0]->Finish();
  COHORT_EXPECT_OK(Follow(first));
  EXPECT_FALSE(leader->busy());
  EXPECT_THAT(leader->Cancel(first, Soon()), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(leader->Cancel(77, Soon()), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(LeaderTest, AWorkerThatIsDeafToAStopIsEndedAfterTheDrain) {
  workers[0]->Hold(true);
  workers[0]->deaf = true;
  JoinSecond();
  const int64_t job = Submit({.detach = true});
  ASSERT_TRUE(workers[0]->AwaitRun(1));
  COHORT_ASSERT_OK(leader->Cancel(job, Soon()));
  clock.Advance(absl::Seconds(1));
  EXPECT_EQ(InfoOf(job).state, JobState::kRunning);
  // Its peer is heard of all the time.
  for (int i = 0; i < 21; ++i) {
    clock.Advance(absl::Seconds(1));
    COHORT_ASSERT_OK(leader->coordination().membership().Heartbeat({"worker", 1}, 101));
  }
  EXPECT_THAT(Follow(job), StatusIs(absl::StatusCode::kCancelled, HasSubstr("not at the end of a step within 20s")));
  EXPECT_EQ(InfoOf(job).state, JobState::kCancelled);
}

TEST_F(LeaderTest, AbandonedAttachedJobIsCancelledAfterTheLeaseAndSaysSoOnce) {
  workers[0]->Hold(true);
  workers[1]->Hold(true);
  JoinSecond();
  const int64_t job = Submit();
  const int64_t queued = Submit();
  ASSERT_TRUE(workers[0]->AwaitRun(1));
  ASSERT_TRUE(workers[1]->AwaitRun(1));
  for (int i = 0; i < 11; ++i) {
    clock.Advance(absl::Seconds(1));
    COHORT_ASSERT_OK(leader->coordination().membership().Heartbeat({"worker", 1}, 101));
  }
  ASSERT_TRUE(AwaitState(job, JobState::kCancelled));
  ASSERT_TRUE(AwaitState(queued, JobState::kCancelled));
  EXPECT_THAT(Follow(queued), StatusIs(absl::StatusCode::kCancelled, HasSubstr("its client is gone")));
  leader->WaitIdle(Soon());
  EXPECT_FALSE(leader->busy());
  std::vector<std::string> lines;
  COHORT_EXPECT_OK(leader->Logs(job, false, [&](const std::string& line) {
    if (absl::StrContains(line, "client is gone")) lines.push_back(line);
    return true;
  }));
  EXPECT_EQ(lines.size(), 1u);
}

TEST_F(LeaderTest, FollowedAndDetachedJobsOutliveTheLease) {
  workers[0]->Hold(true);
  JoinSecond();
  const int64_t job = Submit();
  Mutex seen_mu;
  bool seen = false;
  absl::Status status;
  Thread follower("follower", [&] {
    status = leader->Follow(job, false, [&](const JobEvent&) {
      MutexLock lock(&seen_mu);
      return seen = true;
    });
  });
  {
    MutexLock lock(&seen_mu);
    const auto is_seen = [&] { return seen; };
    ASSERT_TRUE(seen_mu.AwaitWithDeadline(is_seen, Soon()));
  }
  ASSERT_TRUE(workers[0]->AwaitRun(1));
  for (int i = 0; i < 60; ++i) {
    clock.Advance(absl::Seconds(1));
    COHORT_ASSERT_OK(leader->coordination().membership().Heartbeat({"worker", 1}, 101));
    leader->coordination().Tick();
  }
  EXPECT_EQ(InfoOf(job).state, JobState::kRunning);
  workers[0]->Finish();
  follower.Join();
  COHORT_EXPECT_OK(status);
}

TEST_F(LeaderTest, ALostMemberEndsTheRunningJobByName) {
  workers[0]->Hold(true);
  workers[1]->Hold(true);
  JoinSecond();
  const int64_t job = Submit({.detach = true});
  ASSERT_TRUE(workers[1]->AwaitRun(1));
  leader->coordination().membership().MarkLost({"worker", 1}, 101, "connection refused");
  const absl::Status status = Follow(job);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable, HasSubstr("/job:worker/task:1 at h1:1 is lost")));
  EXPECT_EQ(GetFirstCause(status)->task, (TaskId{"worker", 1}));
  EXPECT_EQ(InfoOf(job).state, JobState::kFailed);
  ASSERT_FALSE(workers[0]->closed().empty());
  EXPECT_EQ(workers[0]->closed()[0].code(), absl::StatusCode::kUnavailable);
  leader->WaitIdle(Soon());
  const auto roster = leader->Status(Soon());
  EXPECT_TRUE(roster->members[0].present);
  EXPECT_FALSE(roster->members[1].present);
}

TEST_F(LeaderTest, TheLossOfATaskThatDoesNotWorkForTheJobDoesNotEndIt) {
  workers[0]->Hold(true);
  JoinSecond();
  const int64_t job = Submit({.detach = true}, TinyProgram(StrategyKind::kOneDevice));
  ASSERT_TRUE(workers[0]->AwaitRun(1));
  leader->coordination().membership().MarkLost({"worker", 1}, 101, "connection refused");
  workers[0]->Finish();
  COHORT_EXPECT_OK(Follow(job));
}

TEST_F(LeaderTest, AJobWaitsForMissingTasksAndFailsNamingThem) {
  const int64_t job = Submit({.detach = true});
  ASSERT_TRUE(AwaitState(job, JobState::kRunning));
  absl::SleepFor(absl::Milliseconds(20));  // most likely it waits by now; if not, it waits from later on
  Thread time("time", [this, job] {
    while (InfoOf(job).state == JobState::kRunning) {
      clock.Advance(absl::Seconds(10));
      absl::SleepFor(absl::Milliseconds(20));
    }
  });
  EXPECT_THAT(Follow(job), StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("/job:worker/task:1 at h1:1")));
  time.Join();
  EXPECT_EQ(InfoOf(job).state, JobState::kFailed);
}

TEST_F(LeaderTest, AJobThatWaitsForMissingTasksBeginsWithTheLast) {
  const int64_t job = Submit({.detach = true});
  ASSERT_TRUE(AwaitState(job, JobState::kRunning));
  JoinSecond();
  COHORT_EXPECT_OK(Follow(job));
}

TEST_F(LeaderTest, AJobThatWaitsForMissingTasksCanBeCancelled) {
  const int64_t job = Submit({.detach = true});
  ASSERT_TRUE(AwaitState(job, JobState::kRunning));
  COHORT_ASSERT_OK(leader->Cancel(job, Soon()));
  EXPECT_THAT(Follow(job), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(InfoOf(job).state, JobState::kCancelled);
}

TEST_F(LeaderTest, WrongProgramsAreRefusedBeforeTheyAreJobs) {
  Program invalid = TinyProgram();
  invalid.loop.train_function = "nonsense";
  EXPECT_THAT(leader->Submit(invalid, {}, Soon()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("program 'tiny'")));
  EXPECT_THAT(leader->Submit(TinyProgram(StrategyKind::kParameterServer), {}, Soon()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at least one ps")));
  EXPECT_TRUE(leader->Jobs(Soon())->empty());
  EXPECT_FALSE(leader->busy());
}

TEST_F(LeaderTest, LogsOfAJobAreItsOwnAndFollowingThemEndsWithIt) {
  workers[0]->Hold(true);
  JoinSecond();
  const int64_t job = Submit({.detach = true});
  leader->coordination().logs().Append("another job's line", 99);
  ASSERT_TRUE(workers[0]->AwaitRun(1));
  std::vector<std::string> lines;
  std::atomic<int> count = 0;
  Thread reader("reader", [&] {
    EXPECT_THAT(leader->Logs(job, /*follow=*/true,
                             [&](const std::string& line) {
                               if (!line.empty()) lines.push_back(line);
                               if (++count == 1) workers[0]->Finish();
                               return true;
                             }),
                testing::IsOk());
  });
  reader.Join();
  EXPECT_THAT(lines, ElementsAre("'tiny' begins", HasSubstr("step 5/5  loss 2.0000"), HasSubstr("done after step 5")));
  lines.clear();
  COHORT_EXPECT_OK(leader->Logs(0, false, [&](const std::string& line) {
    lines.push_back(line);
    return true;
  }));
  EXPECT_THAT(lines, Contains("another job's line"));
  EXPECT_THAT(leader->Logs(99, false, [](const std::string&) { return true; }), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(LeaderTest, CloseEndsTheRunningAndTheQueuedJobAndRefusesNewOnes) {
  workers[0]->Hold(true);
  JoinSecond();
  const int64_t running = Submit({.detach = true});
  const int64_t queued = Submit({.detach = true});
  ASSERT_TRUE(workers[0]->AwaitRun(1));
  leader->Close(absl::CancelledError("shutting down"));
  EXPECT_THAT(Follow(queued), StatusIs(absl::StatusCode::kCancelled, HasSubstr("shutting down")));
  EXPECT_THAT(Follow(running), StatusIs(absl::StatusCode::kCancelled, HasSubstr("shutting down")));
  EXPECT_THAT(leader->Submit(TinyProgram(), {}, Soon()), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_TRUE(leader->WaitIdle(Soon()));
  EXPECT_FALSE(leader->busy());
}

TEST_F(LeaderTest, CloseWhileTasksAreMissingEndsTheWait) {
  const int64_t job = Submit({.detach = true});
  ASSERT_TRUE(AwaitState(job, JobState::kRunning));
  leader->Close(absl::CancelledError("shutting down"));
  EXPECT_THAT(Follow(job), StatusIs(absl::StatusCode::kCancelled));
  leader.reset();
}

TEST_F(LeaderTest, DestroyedInTheMiddleOfAJobItEndsIt) {
  for (const auto& worker : workers) worker->Hold(true);
  JoinSecond();
  const int64_t job = Submit({.detach = true});
  leader.reset();  // at whatever moment of the start
  EXPECT_THAT(Ended(), ElementsAre(std::make_pair(job, absl::StatusCode::kCancelled)));
}

TEST_F(LeaderTest, ShutdownAsksTheProcess) {
  COHORT_EXPECT_OK(leader->Shutdown(Soon()));
  EXPECT_EQ(shutdowns, 1);
}

TEST_F(LeaderTest, StatusShowsTheRosterWithAgesOfHeartbeats) {
  JoinSecond();
  clock.Advance(absl::Seconds(2));
  const auto status = leader->Status(Soon());
  COHORT_ASSERT_OK(status);
  EXPECT_EQ(status->leader, (TaskId{"worker", 0}));
  ASSERT_EQ(status->members.size(), 2u);
  EXPECT_TRUE(status->members[1].present);
  EXPECT_EQ(status->members[1].devices, "CPU:0");
  EXPECT_EQ(status->members[0].last_heartbeat_age_seconds, 0);
  EXPECT_EQ(status->members[1].last_heartbeat_age_seconds, 2);
}

}  // namespace
}  // namespace cohort
