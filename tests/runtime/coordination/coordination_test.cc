#include "runtime/coordination/coordination.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/base/first_cause.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::FakeClock;
using ::cohort::testing::IsOk;
using ::cohort::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

TaskId Worker(int index) { return {"worker", index}; }

// A cluster of a leader, worker 0, and worker 1.
class CoordinationTest : public ::testing::Test {
 protected:
  static MemberInfo Info(int index, uint64_t incarnation) {
    MemberInfo info;
    info.task = Worker(index);
    info.address = index == 0 ? "h0:1" : "h1:1";
    info.incarnation = incarnation;
    return info;
  }

  CoordinationOptions Options() {
    CoordinationOptions options;
    options.membership.expected = {{Worker(0), "h0:1"}, {Worker(1), "h1:1"}};
    options.sessions.on_end = [this](int64_t id, const absl::Status& status) {
      session_ends_.emplace_back(id, status);
    };
    options.jobs.start = [this](const JobRecord& job) { started_.push_back(job.id); };
    return options;
  }

  static JobRequest Job(std::string name) {
    JobRequest request;
    request.name = std::move(name);
    return request;
  }

  static SessionRequest Client() {
    SessionRequest request;
    request.client = "c";
    return request;
  }

  void Arrive(int index, int64_t session = 0) {
    BarrierArrival arrival;
    arrival.key = {session, coordination_.membership().epoch(), "b", 1};
    arrival.task = Worker(index);
    arrival.tasks = {Worker(0), Worker(1)};
    arrival.deadline = clock_.Now() + absl::Seconds(60);
    coordination_.barriers().Arrive(arrival, [this](absl::Status status) { answers_.push_back(std::move(status)); });
  }

  void Pass(absl::Duration duration) {
    clock_.Advance(duration);
    coordination_.Tick();
  }

  FakeClock clock_;
  std::vector<std::pair<int64_t, absl::Status>> session_ends_;
  std::vector<int64_t> started_;
  std::vector<absl::Status> answers_;
  Coordination coordination_{Options(), Info(0, 10), clock_};
};

TEST_F(CoordinationTest, ALostMemberFailsTheBarrierThatWaitsForIt) {
  COHORT_ASSERT_OK(coordination_.Join(Info(1, 11)));
  Arrive(0);
  Pass(absl::Seconds(5));
  ASSERT_THAT(answers_,
              ElementsAre(StatusIs(absl::StatusCode::kUnavailable, HasSubstr("/job:worker/task:1 at h1:1 is lost"))));
  EXPECT_EQ(GetFirstCause(answers_[0])->incarnation, 11u);
  Arrive(0);
  EXPECT_THAT(answers_, AllOf(SizeIs(2), Each(StatusIs(absl::StatusCode::kUnavailable)))) << "still lost";
}

TEST_F(CoordinationTest, AfterARejoinBarriersWorkAgain) {
  COHORT_ASSERT_OK(coordination_.Join(Info(1, 11)));
  Pass(absl::Seconds(5));
  COHORT_ASSERT_OK(coordination_.Join(Info(1, 12)));
  Arrive(0);
  Arrive(1);
  EXPECT_THAT(answers_, AllOf(SizeIs(2), Each(IsOk())));
}

TEST_F(CoordinationTest, AnExpiredLeaseEndsTheSessionAndItsBarriers) {
  COHORT_ASSERT_OK(coordination_.Join(Info(1, 11)));
  COHORT_ASSERT_OK_AND_ASSIGN(const SessionStream stream, coordination_.sessions().Open(Client(), [](absl::Status) {}));
  Arrive(0, stream.session);
  coordination_.sessions().Disconnected(stream);
  for (int i = 0; i < 10; ++i) {
    COHORT_ASSERT_OK(coordination_.membership().Heartbeat(Worker(1), 11));
    Pass(absl::Seconds(1));
  }
  EXPECT_THAT(session_ends_, ElementsAre(Pair(stream.session, StatusIs(absl::StatusCode::kUnavailable))));
  EXPECT_THAT(answers_,
              ElementsAre(StatusIs(absl::StatusCode::kUnavailable, HasSubstr("the client of session 1 is lost"))));
}

TEST_F(CoordinationTest, AJobWaitsForASessionToBeFreed) {
  COHORT_ASSERT_OK_AND_ASSIGN(const SessionStream stream, coordination_.sessions().Open(Client(), [](absl::Status) {}));
  COHORT_ASSERT_OK_AND_ASSIGN(const int64_t job, coordination_.jobs().Submit(Job("mlp")));
  EXPECT_EQ(coordination_.jobs().Get(job)->behind, "session 1 of c");
  EXPECT_THAT(started_, IsEmpty());
  COHORT_ASSERT_OK(coordination_.sessions().Close(stream.session));
  coordination_.sessions().Freed(stream.session);
  EXPECT_THAT(started_, ElementsAre(job));
}

TEST_F(CoordinationTest, ClosingRefusesNewJobsAndEndsTheLog) {
  coordination_.Close(absl::CancelledError("shutdown"));
  EXPECT_THAT(coordination_.jobs().Submit(Job("mlp")), StatusIs(absl::StatusCode::kCancelled, "shutdown"));
  EXPECT_TRUE(coordination_.logs().Read(1, 10).closed);
}

TEST_F(CoordinationTest, ARestartedLeaderLearnsEpochAndJobsFromItsMembers) {
  MemberInfo member = Info(1, 11);
  member.last_epoch = 41;
  member.known_jobs.resize(1);
  member.known_jobs[0].id = 6;
  member.known_jobs[0].state = JobState::kRunning;
  COHORT_ASSERT_OK_AND_ASSIGN(const JoinResult result, coordination_.Join(member));
  EXPECT_EQ(result.roster.epoch, 42);
  EXPECT_EQ(coordination_.jobs().Get(6)->state, JobState::kFailed);
  COHORT_ASSERT_OK_AND_ASSIGN(const int64_t job, coordination_.jobs().Submit(Job("next")));
  EXPECT_EQ(job, 7);
}

}  // namespace
}  // namespace cohort
