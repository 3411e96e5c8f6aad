#include "worker/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "absl/time/clock.h"
#include "runtime/base/thread.h"
#include "runtime/collective/in_process/in_process_collectives.h"
#include "tests/testing/status_matchers.h"
#include "tests/worker/tiny_program.h"

namespace cohort {
namespace {

using ::cohort::testing::IsOkAndHolds;
using ::cohort::testing::StatusIs;
using ::cohort::testing::TinyData;
using ::cohort::testing::TinyProgram;
using ::testing::AllOf;
using ::testing::HasSubstr;

absl::Time Soon() { return absl::Now() + absl::Seconds(20); }

// One answer, which must come exactly once.
template <typename T>
class Answer {
 public:
  WorkerLink::Done<T> Done() {
    return [state = state_](absl::StatusOr<T> given) {
      MutexLock lock(&state->mu);
      EXPECT_FALSE(state->answer.has_value()) << "answered twice";
      state->answer = std::move(given);
    };
  }
  absl::StatusOr<T> Get() {
    MutexLock lock(&state_->mu);
    State& state = *state_;
    const auto there = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu) { return state.answer.has_value(); };
    if (!state_->mu.AwaitWithDeadline(there, Soon())) return absl::InternalError("no answer");
    return *state_->answer;
  }
  bool there() {
    MutexLock lock(&state_->mu);
    return state_->answer.has_value();
  }

 private:
  struct State {
    Mutex mu;
    std::optional<absl::StatusOr<T>> answer;
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

// Something that happens once.
class Event {
 public:
  void Set() {
    MutexLock lock(&mu_);
    set_ = true;
  }
  bool Await() {
    MutexLock lock(&mu_);
    const auto is_set = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return set_; };
    return mu_.AwaitWithDeadline(is_set, Soon());
  }

 private:
  Mutex mu_;
  bool set_ ABSL_GUARDED_BY(mu_) = false;
};

DatasetDef Endless() { return {"Repeat", {}, {TinyData(8, 4)}}; }

class WorkerTest : public ::testing::Test {
 protected:
  static TaskAddress Self(int index) { return {{"worker", index}, "", 1}; }

  std::unique_ptr<Worker> Make(int index, int threads = 1) {
    SessionEnvironment environment;
    environment.self = Self(index);
    environment.join_group = [this](const SessionSpec& session, absl::Time deadline) {
      GroupSpec group;
      group.id = {session.session, session.epoch, 0};
      for (const TaskAddress& task : session.group) group.members.push_back({task.task, task.address, 0});
      group.rank = session.rank;
      joining.Set();
      return collectives.Join(group, deadline);
    };
    environment.abort_group = [this](const SessionSpec& session, const absl::Status& reason) {
      collectives.AbortGroup({session.session, session.epoch, 0}, reason);
    };
    environment.connect_parameter_servers = [](const SessionSpec&) -> absl::StatusOr<std::unique_ptr<ParameterClient>> {
      return absl::InternalError("no parameter servers here");
    };
    return Make(std::move(environment), threads);
  }
  static std::unique_ptr<Worker> Make(SessionEnvironment environment, int threads = 1) {
    auto worker = Worker::Create(std::move(environment), {.threads = threads, .chaos = {}});
    EXPECT_THAT(worker, testing::IsOk());
    return *std::move(worker);
  }

  static SessionSpec Spec(uint64_t id, DatasetDef data, int rank = 0, int world = 1) {
    SessionSpec spec;
    spec.session = id;
    spec.epoch = 1;
    spec.program = TinyProgram(std::move(data));
    for (int i = 0; i < world; ++i) spec.group.push_back(Self(i));
    spec.rank = rank;
    spec.collective_timeout = absl::Seconds(20);
    return spec;
  }

  static absl::StatusOr<OpenedSession> Open(Worker& worker, const SessionSpec& spec) {
    Answer<OpenedSession> answer;
    worker.OpenSession(spec, Soon(), answer.Done());
    return answer.Get();
  }
  static absl::StatusOr<bool> Initialize(Worker& worker, uint64_t session) {
    Answer<bool> answer;
    worker.InitializeVariables(session, Soon(), answer.Done());
    return answer.Get();
  }
  static absl::StatusOr<RunResult> Run(Worker& worker, uint64_t session, const RunSpec& run) {
    Answer<RunResult> answer;
    worker.Run(
        session, run, [](const StepReport&) {}, answer.Done());
    return answer.Get();
  }
  static absl::StatusOr<WorkerSummary> Summarize(Worker& worker, uint64_t session) {
    Answer<WorkerSummary> answer;
    worker.Summarize(session, Soon(), answer.Done());
    return answer.Get();
  }
  static absl::StatusOr<bool> Close(Worker& worker, uint64_t session, absl::Status reason = absl::OkStatus()) {
    Answer<bool> answer;
    worker.CloseSession(session, std::move(reason), Soon(), answer.Done());
    return answer.Get();
  }
  static void OpenWithValues(Worker& worker, const SessionSpec& spec) {
    EXPECT_THAT(Open(worker, spec), testing::IsOk());
    EXPECT_THAT(Initialize(worker, spec.session), IsOkAndHolds(true));
  }

  InProcessCollectives collectives;
  Event joining;
};

TEST_F(WorkerTest, ASessionFromItsOpeningToItsEnd) {
  const auto worker = Make(0);
  EXPECT_EQ(worker->task().task, (TaskId{"worker", 0}));
  EXPECT_EQ(Open(*worker, Spec(7, TinyData(12, 4)))->batches_per_epoch, 3);
  EXPECT_EQ(worker->session_count(), 1u);
  EXPECT_THAT(Initialize(*worker, 7), IsOkAndHolds(true));
  const auto result = Run(*worker, 7, {.function = "train"});
  EXPECT_EQ(result->sums.loss_sum, 4 * (4 + 1 + 0.25));
  EXPECT_EQ(worker->last_step(), 3);
  EXPECT_EQ(Summarize(*worker, 7)->steps, 3);
  EXPECT_THAT(Close(*worker, 7), IsOkAndHolds(true));
  EXPECT_EQ(worker->session_count(), 0u);
  EXPECT_TRUE(worker->WaitIdle(absl::Now()));
  EXPECT_THAT(Run(*worker, 7, {.function = "train"}), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(WorkerTest, UnknownSessionsAreNotFoundByTaskAndNumber) {
  const auto worker = Make(3);
  const auto unknown = StatusIs(absl::StatusCode::kNotFound, HasSubstr("/job:worker/task:3 has no session 7"));
  EXPECT_THAT(Initialize(*worker, 7), unknown);
  EXPECT_THAT(Run(*worker, 7, {.function = "train"}), unknown);
  EXPECT_THAT(Summarize(*worker, 7), unknown);
  Answer<bool> stopped;
  worker->RequestStop(7, Soon(), stopped.Done());
  EXPECT_THAT(stopped.Get(), unknown);
  EXPECT_THAT(Close(*worker, 7), IsOkAndHolds(true));
}

TEST_F(WorkerTest, ASessionIsOpenedOnceAndAFailedOneNotAtAll) {
  const auto worker = Make(0);
  COHORT_ASSERT_OK(Open(*worker, Spec(7, TinyData(12, 4))));
  EXPECT_THAT(Open(*worker, Spec(7, TinyData(12, 4))),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("/job:worker/task:0")));
  EXPECT_THAT(Open(*worker, Spec(8, {"Nonsense", {}, {}})), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(worker->session_count(), 1u);
  COHORT_EXPECT_OK(Open(*worker, Spec(8, TinyData(12, 4))));  // at once, with the same number
}

TEST_F(WorkerTest, SessionsOfOlderEpochsAreRefused) {
  const auto worker = Make(0);
  COHORT_ASSERT_OK(Open(*worker, Spec(7, TinyData(12, 4))));
  worker->SetEpoch(2);
  EXPECT_THAT(Open(*worker, Spec(8, TinyData(12, 4))), StatusIs(absl::StatusCode::kAborted, HasSubstr("epoch 1")));
  EXPECT_THAT(Initialize(*worker, 7), IsOkAndHolds(true));  // goes on
}

TEST_F(WorkerTest, WithoutThreadsThereIsNoWorker) {
  EXPECT_THAT(Worker::Create({}, {.threads = 0, .chaos = {}}), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(WorkerTest, TwoWorkersTrainAsOne) {
  const auto first = Make(0), second = Make(1);
  Worker* const workers[] = {first.get(), second.get()};
  DatasetDef data = TinyData(10, 4);
  Answer<OpenedSession> opened[2];
  Answer<bool> initialized[2];
  Answer<RunResult> ran[2];
  for (int i = 0; i < 2; ++i) {
    DatasetDef part = {"GlobalBatch",
                       {{"batch_size", int64_t{4}}, {"num_workers", int64_t{2}}, {"index", int64_t{i}}},
                       {data.inputs[0]}};
    workers[i]->OpenSession(Spec(7, part, i, 2), Soon(), opened[i].Done());
    workers[i]->InitializeVariables(7, Soon(), initialized[i].Done());  // in order, behind the opening
    workers[i]->Run(
        7, {.function = "train"}, [](const StepReport&) {}, ran[i].Done());
  }
  for (int i = 0; i < 2; ++i) {
    COHORT_ASSERT_OK(opened[i].Get());
    COHORT_ASSERT_OK(initialized[i].Get());
    COHORT_ASSERT_OK(ran[i].Get());
    EXPECT_EQ(ran[i].Get()->sums.examples, 10);
    EXPECT_EQ(ran[i].Get()->sums.loss_sum, 4 * 4 + 4 * 1 + 2 * 0.25);
    EXPECT_EQ(Summarize(*workers[i], 7)->examples, 5);
    EXPECT_GT(workers[i]->bytes_sent(), 0);
  }
  EXPECT_EQ(opened[0].Get()->plan_hash, opened[1].Get()->plan_hash);
  const auto alone = Make(2);
  OpenWithValues(*alone, Spec(9, data));
  COHORT_ASSERT_OK(Run(*alone, 9, {.function = "train"}));
  EXPECT_EQ(Summarize(*alone, 9)->state_crc32c, Summarize(*first, 7)->state_crc32c);
  EXPECT_EQ(Summarize(*alone, 9)->state_crc32c, Summarize(*second, 7)->state_crc32c);
}

TEST_F(WorkerTest, StopReachesTheWholeGroupAfterTheSameStep) {
  const auto first = Make(0), second = Make(1);
  Answer<RunResult> ran[2];
  Answer<bool> initialized[2];
  Event running;
  for (int i = 0; i < 2; ++i) {
    Worker& worker = i == 0 ? *first : *second;
    worker.OpenSession(Spec(7, Endless(), i, 2), Soon(), [](const absl::StatusOr<OpenedSession>&) {});
    worker.InitializeVariables(7, Soon(), initialized[i].Done());
    worker.Run(
        7, {.function = "train", .report_every = 1}, [&](const StepReport&) { running.Set(); }, ran[i].Done());
  }
  ASSERT_TRUE(running.Await());
  second->Leave();
  COHORT_ASSERT_OK(ran[0].Get());
  COHORT_ASSERT_OK(ran[1].Get());
  EXPECT_TRUE(ran[0].Get()->stopped);
  EXPECT_EQ(ran[0].Get()->last_step, ran[1].Get()->last_step);
  EXPECT_FALSE(ran[0].Get()->leaving);
  EXPECT_TRUE(ran[1].Get()->leaving);
  EXPECT_THAT(Open(*second, Spec(8, Endless())), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("is ending")));
}

TEST_F(WorkerTest, ClosingEndsTheRunWithTheReasonAndLaterWorkWithItToo) {
  const auto worker = Make(0);
  OpenWithValues(*worker, Spec(7, Endless()));
  Event running;
  Answer<RunResult> ran, queued;
  worker->Run(
      7, {.function = "train", .report_every = 1}, [&](const StepReport&) { running.Set(); }, ran.Done());
  worker->Run(
      7, {.function = "train", .first_step = 5}, [](const StepReport&) {}, queued.Done());
  ASSERT_TRUE(running.Await());
  EXPECT_THAT(Close(*worker, 7, absl::UnavailableError("/job:worker/task:1 is lost")), IsOkAndHolds(true));
  ASSERT_TRUE(ran.there() && queued.there());  // whatever ran is over when the close is answered
  EXPECT_THAT(ran.Get(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("/job:worker/task:1 is lost")));
  EXPECT_THAT(queued.Get(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("is lost")));
}

TEST_F(WorkerTest, AClosedPeerEndsTheRunOfTheOther) {
  const auto first = Make(0), second = Make(1);
  Answer<RunResult> ran[2];
  Event running;
  for (int i = 0; i < 2; ++i) {
    Worker& worker = i == 0 ? *first : *second;
    worker.OpenSession(Spec(7, Endless(), i, 2), Soon(), [](const absl::StatusOr<OpenedSession>&) {});
    worker.InitializeVariables(7, Soon(), [](const absl::StatusOr<bool>&) {});
    worker.Run(
        7, {.function = "train", .report_every = 1}, [&](const StepReport&) { running.Set(); }, ran[i].Done());
  }
  ASSERT_TRUE(running.Await());
  first->CloseSessionsWith({"worker", 5}, absl::UnavailableError("not one of ours"));
  first->CloseSessionsWith({"worker", 1}, absl::UnavailableError("/job:worker/task:1 is lost"));
  EXPECT_THAT(ran[0].Get(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("/job:worker/task:1 is lost")));
  EXPECT_FALSE(ran[1].Get().ok());
}

TEST_F(WorkerTest, ClosingWhileTheGroupIsJoinedEndsTheWait) {
  const auto worker = Make(0);
  Answer<OpenedSession> opened;
  worker->OpenSession(Spec(7, TinyData(12, 4), 0, 2), absl::Now() + absl::Minutes(5), opened.Done());
  ASSERT_TRUE(joining.Await());
  EXPECT_THAT(Close(*worker, 7, absl::UnavailableError("/job:worker/task:1 is lost")), IsOkAndHolds(true));
  EXPECT_THAT(opened.Get(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("is lost")));
  EXPECT_EQ(worker->session_count(), 0u);
}

// The news of the end may come a moment before the wait begins, and find nothing.
TEST_F(WorkerTest, ClosingIsToldAgainToAJoinThatMissedIt) {
  SessionEnvironment environment;
  environment.self = Self(0);
  Event missed, ended;
  std::atomic<int> news = 0;
  environment.join_group = [&](const SessionSpec&, absl::Time) -> absl::StatusOr<std::unique_ptr<Communicator>> {
    joining.Set();
    if (!ended.Await()) return absl::DeadlineExceededError("nobody ended it");
    return absl::CancelledError("ended");
  };
  environment.abort_group = [&](const SessionSpec&, const absl::Status& reason) {
    EXPECT_THAT(reason, StatusIs(absl::StatusCode::kUnavailable, HasSubstr("lost")));
    if (++news == 3) ended.Set();
  };
  const auto worker = Make(std::move(environment));
  Answer<OpenedSession> opened;
  worker->OpenSession(Spec(7, TinyData(12, 4), 0, 2), Soon(), opened.Done());
  ASSERT_TRUE(joining.Await());
  EXPECT_THAT(Close(*worker, 7, absl::UnavailableError("lost")), IsOkAndHolds(true));
  EXPECT_THAT(opened.Get(), StatusIs(absl::StatusCode::kCancelled, "ended"));
}

TEST_F(WorkerTest, AStopOfASessionThatIsBeingOpenedIsKept) {
  SessionEnvironment environment;
  environment.self = Self(0);
  Event go;
  environment.join_group = [&](const SessionSpec& session, absl::Time deadline) {
    joining.Set();
    EXPECT_TRUE(go.Await());
    return collectives.Join({{session.session, 1, 0}, {{{"worker", 0}, "", 0}}, 0}, deadline);
  };
  environment.abort_group = [](const SessionSpec&, const absl::Status&) {};
  const auto worker = Make(std::move(environment));
  Answer<OpenedSession> opened;
  worker->OpenSession(Spec(7, Endless(), 0, 2), Soon(), opened.Done());
  ASSERT_TRUE(joining.Await());
  Answer<bool> noted;
  worker->RequestStop(7, Soon(), noted.Done());
  EXPECT_THAT(noted.Get(), IsOkAndHolds(true));
  EXPECT_FALSE(opened.there());
  go.Set();
  COHORT_ASSERT_OK(opened.Get());
  EXPECT_THAT(Initialize(*worker, 7), IsOkAndHolds(true));
  const auto result = Run(*worker, 7, {.function = "train"});
  EXPECT_TRUE(result->stopped);
  EXPECT_EQ(result->last_step, 1);
}

TEST_F(WorkerTest, DestroyedInTheMiddleOfARunItAnswersEverything) {
  auto worker = Make(0);
  OpenWithValues(*worker, Spec(7, Endless()));
  Answer<RunResult> ran;
  Answer<WorkerSummary> summarized;
  Answer<OpenedSession> opened;
  worker->Run(
      7, {.function = "train"}, [](const StepReport&) {}, ran.Done());
  worker->Summarize(7, Soon(), summarized.Done());
  worker->OpenSession(Spec(8, TinyData(12, 4), 0, 2), Soon(), opened.Done());
  worker.reset();
  ASSERT_TRUE(ran.there() && summarized.there() && opened.there());
  EXPECT_THAT(ran.Get(), StatusIs(absl::StatusCode::kCancelled, HasSubstr("shutting down")));
  EXPECT_THAT(summarized.Get(), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(opened.Get(), StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(WorkerTest, CallsThatMeetTheEndAreAllAnsweredOnce) {
  const auto worker = Make(0);
  for (int round = 0; round < 50; ++round) {
    OpenWithValues(*worker, Spec(7, TinyData(12, 4)));
    std::vector<Answer<WorkerSummary>> summaries(20);
    std::vector<Answer<bool>> closes(2);
    Thread caller("caller", [&] {
      for (auto& summary : summaries) worker->Summarize(7, Soon(), summary.Done());
    });
    Thread closer("closer", [&] { worker->CloseSession(7, absl::OkStatus(), Soon(), closes[0].Done()); });
    worker->CloseSession(7, absl::OkStatus(), Soon(), closes[1].Done());
    caller.Join();
    closer.Join();
    for (auto& close : closes) EXPECT_THAT(close.Get(), IsOkAndHolds(true));
    for (auto& summary : summaries) {
      const auto answer = summary.Get();
      EXPECT_TRUE(answer.ok() || absl::IsNotFound(answer.status()) || absl::IsCancelled(answer.status()))
          << answer.status();
    }
    EXPECT_EQ(worker->session_count(), 0u);
  }
}

TEST_F(WorkerTest, SessionsSideBySideDoNotShareThreads) {
  const auto worker = Make(0, /*threads=*/2);
  Answer<RunResult> ran[2];
  for (int i = 0; i < 2; ++i) {
    OpenWithValues(*worker, Spec(7 + i, TinyData(400, 4)));
    worker->Run(
        7 + i, {.function = "train"}, [](const StepReport&) {}, ran[i].Done());
  }
  for (Answer<RunResult>& answer : ran) {
    COHORT_ASSERT_OK(answer.Get());
    EXPECT_EQ(answer.Get()->sums.examples, 400);
  }
  EXPECT_EQ(Summarize(*worker, 7)->state_crc32c, Summarize(*worker, 8)->state_crc32c);
}

}  // namespace
}  // namespace cohort
