#include "runtime/coordination/barrier.h"

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
using ::testing::SizeIs;

TaskId Worker(int index) { return {"worker", index}; }

MemberLoss Loss(int index, int64_t epoch) {
  MemberLoss loss = {Worker(index), "h1:2222", 77, epoch,
                     absl::UnavailableError("/job:worker/task:1 at h1:2222 is lost: silent")};
  SetFirstCause(loss.status, {loss.task, loss.address, loss.incarnation, 0, "", {}, {}});
  return loss;
}

// Four workers meet at barrier "start" unless a test says otherwise.
class BarrierTest : public ::testing::Test {
 protected:
  BarrierArrival Arrival(int index) {
    BarrierArrival arrival;
    arrival.key.name = "start";
    arrival.key.epoch = 5;
    arrival.task = Worker(index);
    for (int i = 3; i >= 0; --i) arrival.tasks.push_back(Worker(i));
    arrival.deadline = clock_.Now() + absl::Seconds(5);
    return arrival;
  }

  void Arrive(BarrierArrival arrival) {
    table_.Arrive(std::move(arrival), [this](absl::Status status) { answers_.push_back(std::move(status)); });
  }
  void Arrive(int index) { Arrive(Arrival(index)); }

  FakeClock clock_;
  std::map<TaskId, MemberLoss> lost_;
  BarrierTable table_{{{Worker(2), "h2:2222"}, {Worker(3), "h3:2222"}},
                      [this](const TaskId& task) {
                        const auto it = lost_.find(task);
                        return it == lost_.end() ? std::nullopt : std::optional<MemberLoss>(it->second);
                      },
                      clock_};
  std::vector<absl::Status> answers_;
};

TEST_F(BarrierTest, OpensForAllWhenTheLastOneArrives) {
  for (int i : {2, 0, 3}) Arrive(i);
  EXPECT_THAT(answers_, IsEmpty());
  Arrive(1);
  EXPECT_THAT(answers_, AllOf(SizeIs(4), Each(IsOk())));
}

TEST_F(BarrierTest, ATimeOutNamesArrivedAndMissingToAllWhoWait) {
  for (int i : {0, 1}) Arrive(i);
  clock_.Advance(absl::Milliseconds(4999));
  table_.Tick();
  EXPECT_THAT(answers_, IsEmpty());
  clock_.Advance(absl::Milliseconds(1));
  table_.Tick();
  ASSERT_THAT(answers_, SizeIs(2));
  EXPECT_EQ(answers_[0], answers_[1]);
  EXPECT_THAT(answers_[0],
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       "barrier 'start' #1: 2 of 4 tasks came in time; arrived /job:worker/task:0, /job:worker/task:1; "
                       "missing /job:worker/task:2 at h2:2222, /job:worker/task:3 at h3:2222"));
  const FirstCause cause = GetFirstCause(answers_[0]).value();
  EXPECT_EQ(cause.task, Worker(2));
  EXPECT_EQ(cause.address, "h2:2222");
  EXPECT_EQ(cause.name, "start");
  EXPECT_EQ(cause.seq, 1);
  EXPECT_THAT(cause.arrived, ElementsAre(Worker(0), Worker(1)));
  EXPECT_THAT(cause.missing, ElementsAre(Worker(2), Worker(3)));
}

TEST_F(BarrierTest, TheEarliestDeadlineCounts) {
  Arrive(0);
  BarrierArrival hurried = Arrival(1);
  hurried.deadline = clock_.Now() + absl::Seconds(1);
  Arrive(hurried);
  clock_.Advance(absl::Seconds(1));
  table_.Tick();
  EXPECT_THAT(answers_, AllOf(SizeIs(2), Each(StatusIs(absl::StatusCode::kDeadlineExceeded))));
}

TEST_F(BarrierTest, WhoComesAfterTheEndGetsTheSameAnswer) {
  Arrive(0);
  clock_.Advance(absl::Seconds(5));
  table_.Tick();
  Arrive(1);
  ASSERT_THAT(answers_, SizeIs(2));
  EXPECT_EQ(answers_[1], answers_[0]);
}

TEST_F(BarrierTest, ARepeatedCallAfterTheOpeningIsOk) {
  for (int i : {0, 1, 2, 3}) Arrive(i);
  Arrive(2);
  EXPECT_THAT(answers_, AllOf(SizeIs(5), Each(IsOk())));
}

TEST_F(BarrierTest, ARepeatedCallBeforeTheOpeningTakesTheFirstOnesPlace) {
  for (int i : {0, 1, 2, 2}) Arrive(i);
  ASSERT_THAT(answers_, SizeIs(1));
  EXPECT_THAT(answers_[0], StatusIs(absl::StatusCode::kAborted, HasSubstr("/job:worker/task:2 arrived again")));
  answers_.clear();
  Arrive(3);
  EXPECT_THAT(answers_, AllOf(SizeIs(4), Each(IsOk())));
}

TEST_F(BarrierTest, ALostTaskFailsTheBarrierAtOnce) {
  for (int i : {0, 2}) Arrive(i);
  table_.MemberLost(Loss(1, 6));
  ASSERT_THAT(answers_, SizeIs(2));
  EXPECT_EQ(answers_[0], answers_[1]);
  EXPECT_THAT(answers_[0], StatusIs(absl::StatusCode::kUnavailable,
                                    "barrier 'start' #1: /job:worker/task:1 at h1:2222 is lost: silent"));
  const FirstCause cause = GetFirstCause(answers_[0]).value();
  EXPECT_EQ(cause.task, Worker(1));
  EXPECT_EQ(cause.incarnation, 77u);
  EXPECT_THAT(cause.arrived, ElementsAre(Worker(0), Worker(2)));
  EXPECT_THAT(cause.missing, ElementsAre(Worker(1), Worker(3)));
}

TEST_F(BarrierTest, ALostTaskFailsWhoArrivesLater) {
  lost_[Worker(1)] = Loss(1, 4);
  Arrive(0);
  EXPECT_THAT(answers_, ElementsAre(StatusIs(absl::StatusCode::kUnavailable, HasSubstr("/job:worker/task:1"))));
}

TEST_F(BarrierTest, ALossBeforeTheBarriersEpochOrOfAnotherTaskIsNoneOfItsBusiness) {
  BarrierArrival arrival = Arrival(0);
  arrival.tasks = {Worker(0), Worker(1)};
  Arrive(arrival);
  table_.MemberLost(Loss(1, 5));
  table_.MemberLost(Loss(2, 6));
  EXPECT_THAT(answers_, IsEmpty());
}

TEST_F(BarrierTest, EachUseOfANameIsABarrierOfItsOwn) {
  BarrierArrival second = Arrival(0);
  second.key.seq = 2;
  Arrive(second);
  for (int i : {1, 2, 3}) Arrive(i);
  EXPECT_THAT(answers_, IsEmpty()) << "worker 0 is at the second one";
  Arrive(0);
  EXPECT_THAT(answers_, AllOf(SizeIs(4), Each(IsOk())));
}

TEST_F(BarrierTest, ValuesThatDifferFailItForAllNamingFieldValuesAndTasks) {
  for (int i : {0, 1, 2}) {
    BarrierArrival arrival = Arrival(i);
    arrival.agree = {{"batch size", i == 2 ? "64" : "128"}, {"program", "f00d"}};
    Arrive(arrival);
  }
  BarrierArrival last = Arrival(3);
  last.agree = {{"batch size", "128"}, {"program", "f00d"}};
  Arrive(last);
  EXPECT_THAT(answers_,
              AllOf(SizeIs(4), Each(StatusIs(absl::StatusCode::kFailedPrecondition,
                                             "barrier 'start' #1: 'batch size' is '64' on /job:worker/task:2 and "
                                             "'128' on /job:worker/task:0"))));
}

TEST_F(BarrierTest, AFieldThatOneTaskLacksIsCalledAbsent) {
  BarrierArrival with = Arrival(0);
  with.agree = {{"seed", "0"}};
  Arrive(with);
  Arrive(1);
  EXPECT_THAT(answers_,
              AllOf(SizeIs(2), Each(StatusIs(absl::StatusCode::kFailedPrecondition,
                                             HasSubstr("'seed' is absent on /job:worker/task:1 and '0' on")))));
}

TEST_F(BarrierTest, ListsOfTasksThatDifferFailIt) {
  Arrive(0);
  BarrierArrival other = Arrival(1);
  other.tasks = {Worker(0), Worker(1)};
  Arrive(other);
  EXPECT_THAT(
      answers_,
      AllOf(SizeIs(2), Each(StatusIs(absl::StatusCode::kFailedPrecondition,
                                     HasSubstr("the list of tasks is /job:worker/task:0, /job:worker/task:1 on")))));
}

TEST_F(BarrierTest, ATaskThatIsNotExpectedIsRefusedAlone) {
  Arrive(0);
  Arrive(4);
  EXPECT_THAT(answers_, ElementsAre(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("/job:worker/task:4"))));
}

TEST_F(BarrierTest, TheEndOfASessionEndsItsBarriersOnly) {
  BarrierArrival in_session = Arrival(0);
  in_session.key.session = 3;
  Arrive(in_session);
  Arrive(1);
  table_.EndSession(3, absl::CancelledError("closed"));
  EXPECT_THAT(answers_, ElementsAre(StatusIs(absl::StatusCode::kCancelled, "barrier 'start' #1: closed")));
}

}  // namespace
}  // namespace cohort
