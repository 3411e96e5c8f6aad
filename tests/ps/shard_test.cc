#include "ps/shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>

#include "absl/time/clock.h"
#include "runtime/base/thread.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::IsOkAndHolds;
using ::cohort::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const TaskId kWorker = {"worker", 0};

PsSessionSpec Spec(uint64_t session) {
  PsSessionSpec spec;
  spec.session = session;
  PsVariable& variable = spec.variables.emplace_back();
  variable.definition.name = "w";
  variable.definition.spec = {DType::kF32, {2}};
  variable.optimizer = {{"optimizer", "sgd"}};
  return spec;
}

ParameterServer::Gradient Ones() {
  Tensor ones = Tensor::Zeros(DType::kF32, {2});
  for (float& element : ones.mutable_values<float>()) element = 1;
  return {"w", ones};
}

// A shard answers within the call.
template <typename T, typename Call>
absl::StatusOr<T> Answer(Call call) {
  std::optional<absl::StatusOr<T>> answer;
  call(absl::Now() + absl::Seconds(10), [&](absl::StatusOr<T> given) {
    EXPECT_FALSE(answer.has_value()) << "answered twice";
    answer = std::move(given);
  });
  return answer.has_value() ? *answer : absl::InternalError("not answered");
}

class ShardTest : public ::testing::Test {
 protected:
  absl::StatusOr<bool> Open(const PsSessionSpec& spec) {
    return Answer<bool>([&](absl::Time deadline, auto done) { shard.OpenSession(spec, deadline, done); });
  }
  absl::StatusOr<bool> Close(uint64_t session) {
    return Answer<bool>([&](absl::Time deadline, auto done) {
      shard.CloseSession(session, absl::CancelledError("done"), deadline, done);
    });
  }
  absl::StatusOr<PsSummary> Summarize(uint64_t session) {
    return Answer<PsSummary>([&](absl::Time deadline, auto done) { shard.Summarize(session, deadline, done); });
  }

  Shard shard{{{"ps", 1}, "127.0.0.1:7000", 5}};
};

TEST_F(ShardTest, SessionsHaveVariablesOfTheirOwn) {
  EXPECT_EQ(shard.task().task, (TaskId{"ps", 1}));
  EXPECT_THAT(Open(Spec(1)), IsOkAndHolds(true));
  EXPECT_THAT(Open(Spec(2)), IsOkAndHolds(true));
  EXPECT_EQ(shard.session_count(), 2u);
  COHORT_ASSERT_OK(shard.Push(1, kWorker, {1, 1, 1}, {Ones()}));
  EXPECT_THAT((*shard.Pull(1, {"w"}))[0].values<float>(), ElementsAre(-1, -1));
  EXPECT_THAT((*shard.Pull(2, {"w"}))[0].values<float>(), ElementsAre(0, 0));
  EXPECT_EQ(Summarize(1)->updates, 1);
  EXPECT_EQ(Summarize(2)->updates, 0);
}

TEST_F(ShardTest, UnknownSessionsAreNotFoundByTaskAndNumber) {
  const auto unknown = StatusIs(absl::StatusCode::kNotFound, HasSubstr("/job:ps/task:1 has no session 7"));
  EXPECT_THAT(shard.Pull(7, {"w"}), unknown);
  EXPECT_THAT(shard.Push(7, kWorker, {1, 1, 1}, {Ones()}), unknown);
  EXPECT_THAT(Summarize(7), unknown);
  EXPECT_THAT(Close(7), IsOkAndHolds(true));
}

TEST_F(ShardTest, ASessionIsOpenedOnceAndAFailedOpenLeavesNothing) {
  EXPECT_THAT(Open(Spec(1)), IsOkAndHolds(true));
  EXPECT_THAT(Open(Spec(1)), StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("/job:ps/task:1")));
  PsSessionSpec bad = Spec(2);
  bad.variables[0].optimizer = {{"optimizer", "nonsense"}};
  EXPECT_THAT(Open(bad), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("/job:ps/task:1")));
  EXPECT_EQ(shard.session_count(), 1u);
  EXPECT_THAT(Open(Spec(2)), IsOkAndHolds(true));
}

TEST_F(ShardTest, ClosedSessionsAreGoneAndTheirNumbersFree) {
  EXPECT_THAT(Open(Spec(1)), IsOkAndHolds(true));
  COHORT_ASSERT_OK(shard.Push(1, kWorker, {1, 1, 1}, {Ones()}));
  const auto pulled = shard.Pull(1, {"w"});
  EXPECT_THAT(Close(1), IsOkAndHolds(true));
  EXPECT_THAT((*pulled)[0].values<float>(), ElementsAre(-1, -1));  // outlives the session
  EXPECT_THAT(shard.Pull(1, {"w"}), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(Open(Spec(1)), IsOkAndHolds(true));
  EXPECT_THAT((*shard.Pull(1, {"w"}))[0].values<float>(), ElementsAre(0, 0));
}

TEST_F(ShardTest, CloseAllSessionsFreesAll) {
  EXPECT_THAT(Open(Spec(1)), IsOkAndHolds(true));
  EXPECT_THAT(Open(Spec(2)), IsOkAndHolds(true));
  shard.CloseAllSessions(absl::UnavailableError("the leader is lost"));
  EXPECT_EQ(shard.session_count(), 0u);
  EXPECT_THAT(shard.Pull(1, {"w"}), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ShardTest, SessionsComeAndGoUnderTheirCallers) {
  std::atomic<bool> done = false;
  std::vector<Thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back("caller", [&, t] {
      for (int step = 1; !done; ++step) {
        const absl::Status pushed = shard.Push(1, {"worker", t}, {step, 1, 1}, {Ones()});
        EXPECT_TRUE(pushed.ok() || absl::IsNotFound(pushed)) << pushed;
        const auto pulled = shard.Pull(1, {"w"});
        if (!pulled.ok()) continue;
        EXPECT_EQ((*pulled)[0].values<float>()[0], (*pulled)[0].values<float>()[1]);
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    EXPECT_THAT(Open(Spec(1)), IsOkAndHolds(true));
    COHORT_EXPECT_OK(Summarize(1));
    EXPECT_THAT(Close(1), IsOkAndHolds(true));
  }
  done = true;
  for (Thread& thread : threads) thread.Join();
}

}  // namespace
}  // namespace cohort
