#include "runtime/coordination/membership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "runtime/base/first_cause.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::FakeClock;
using ::cohort::testing::IsOk;
using ::cohort::testing::IsOkAndHolds;
using ::cohort::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const TaskId kWorker0 = {"worker", 0};
const TaskId kWorker1 = {"worker", 1};
const TaskId kWorker2 = {"worker", 2};

// Three workers, worker 0 leads; incarnation of worker i: 100 + i, address hI:2222.
class MembershipTest : public ::testing::Test {
 protected:
  static std::string Address(int index) { return "h" + std::to_string(index) + ":2222"; }

  static MemberInfo Worker(int index, uint64_t incarnation = 0) {
    MemberInfo info;
    info.task = {"worker", index};
    info.address = Address(index);
    info.incarnation = incarnation != 0 ? incarnation : 100 + index;
    info.cluster_fingerprint = 7;
    info.protocol_version = 1;
    info.devices = {"CPU:0"};
    return info;
  }

  static MembershipOptions Options() {
    MembershipOptions options;
    for (int i = 0; i < 3; ++i) options.expected.push_back({{"worker", i}, Address(i)});
    options.expected.push_back({{"evaluator", 0}, "e0:2222", /*required=*/false});
    return options;
  }

  explicit MembershipTest(MemberInfo self = Worker(0)) : membership_(Options(), std::move(self), clock_) {
    membership_.Watch([this](const RosterChange& change) { changes_.push_back(change); });
  }

  void JoinAll() {
    COHORT_ASSERT_OK(membership_.Join(Worker(1)));
    COHORT_ASSERT_OK(membership_.Join(Worker(2)));
    changes_.clear();
  }

  // Lets `duration` pass in steps of half a second, in which the given workers send heartbeats.
  void Pass(absl::Duration duration, std::vector<int> alive) {
    for (absl::Duration t; t < duration; t += absl::Milliseconds(500)) {
      clock_.Advance(absl::Milliseconds(500));
      for (const int index : alive) COHORT_EXPECT_OK(membership_.Heartbeat({"worker", index}, 100 + index));
      membership_.Tick();
    }
  }

  MemberState StateOf(const TaskId& task) { return membership_.GetRoster().Find(task)->state; }

  FakeClock clock_;
  Membership membership_;
  std::vector<RosterChange> changes_;
};

TEST_F(MembershipTest, TheLeaderIsAMemberFromTheStart) {
  const Roster roster = membership_.GetRoster();
  EXPECT_EQ(roster.epoch, 1);
  EXPECT_EQ(roster.leader, kWorker0);
  ASSERT_EQ(roster.members.size(), 4u);
  EXPECT_EQ(roster.members[0].state, MemberState::kAlive);
  EXPECT_EQ(roster.members[0].incarnation, 100u);
  EXPECT_EQ(roster.members[1].state, MemberState::kMissing);
  EXPECT_EQ(roster.members[1].address, "h1:2222");
  EXPECT_EQ(roster.Find({"ps", 0}), nullptr);
}

TEST_F(MembershipTest, EachJoinRaisesTheEpochByOneAndIsWatched) {
  COHORT_ASSERT_OK_AND_ASSIGN(JoinResult first, membership_.Join(Worker(1)));
  EXPECT_EQ(first.roster.epoch, 2);
  COHORT_ASSERT_OK_AND_ASSIGN(JoinResult second, membership_.Join(Worker(2)));
  EXPECT_EQ(second.roster.epoch, 3);
  ASSERT_EQ(changes_.size(), 2u);
  EXPECT_THAT(changes_[0].joined, ElementsAre(kWorker1));
  EXPECT_THAT(changes_[1].joined, ElementsAre(kWorker2));
  EXPECT_EQ(changes_[1].roster.epoch, 3);
  EXPECT_THAT(changes_[1].losses, IsEmpty());
}

TEST_F(MembershipTest, JoiningTwiceWithOneIncarnationChangesNothing) {
  JoinAll();
  COHORT_ASSERT_OK_AND_ASSIGN(JoinResult again, membership_.Join(Worker(1)));
  EXPECT_EQ(again.roster.epoch, 3);
  EXPECT_THAT(changes_, IsEmpty());
}

TEST_F(MembershipTest, ATaskOutsideTheClusterIsRefused) {
  EXPECT_THAT(membership_.Join(Worker(3)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("/job:worker/task:3")));
}

TEST_F(MembershipTest, HeartbeatAnswersTheEpoch) {
  JoinAll();
  EXPECT_THAT(membership_.Heartbeat(kWorker1, 101), IsOkAndHolds(3));
}

TEST_F(MembershipTest, SilenceForPeerLostIsALossWithItsFirstCause) {
  JoinAll();
  Pass(absl::Milliseconds(4500), {2});
  EXPECT_EQ(StateOf(kWorker1), MemberState::kAlive);
  EXPECT_THAT(changes_, IsEmpty());
  Pass(absl::Milliseconds(500), {2});
  EXPECT_EQ(StateOf(kWorker1), MemberState::kLost);
  ASSERT_EQ(changes_.size(), 1u);
  EXPECT_EQ(changes_[0].roster.epoch, 4);
  ASSERT_EQ(changes_[0].losses.size(), 1u);
  const MemberLoss& loss = changes_[0].losses[0];
  EXPECT_EQ(loss.epoch, 4);
  EXPECT_THAT(loss.status,
              StatusIs(absl::StatusCode::kUnavailable, "/job:worker/task:1 at h1:2222 is lost: silent for 5s"));
  const FirstCause cause = GetFirstCause(loss.status).value();
  EXPECT_EQ(cause.task, kWorker1);
  EXPECT_EQ(cause.address, "h1:2222");
  EXPECT_EQ(cause.incarnation, 101u);
  EXPECT_EQ(membership_.LossOf(kWorker1)->status, loss.status);
  EXPECT_EQ(membership_.LossOf(kWorker2), std::nullopt);
}

TEST_F(MembershipTest, EachOfTwoLossesRaisesTheEpoch) {
  JoinAll();
  Pass(absl::Seconds(5), {});
  ASSERT_EQ(changes_.size(), 1u);
  ASSERT_EQ(changes_[0].losses.size(), 2u);
  EXPECT_EQ(changes_[0].roster.epoch, 5);
  Pass(absl::Seconds(60), {});
  EXPECT_EQ(StateOf(kWorker0), MemberState::kAlive) << "the leader is never lost to itself";
  EXPECT_EQ(changes_.size(), 1u);
}

TEST_F(MembershipTest, ABrokenConnectionIsALossAfterTheGrace) {
  JoinAll();
  membership_.MarkDisconnected(kWorker1, 101);
  EXPECT_EQ(StateOf(kWorker1), MemberState::kDisconnected);
  Pass(absl::Milliseconds(2500), {2});
  EXPECT_THAT(changes_, IsEmpty());
  Pass(absl::Milliseconds(500), {2});
  ASSERT_EQ(changes_.size(), 1u);
  EXPECT_THAT(changes_[0].losses[0].status,
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("connection broke 3s ago")));
}

TEST_F(MembershipTest, AReconnectWithinTheGraceIsNoLoss) {
  JoinAll();
  membership_.MarkDisconnected(kWorker1, 101);
  Pass(absl::Milliseconds(2500), {2});
  EXPECT_THAT(membership_.Heartbeat(kWorker1, 101), IsOkAndHolds(3));
  Pass(absl::Seconds(10), {1, 2});
  EXPECT_THAT(changes_, IsEmpty());
}

TEST_F(MembershipTest, ADisconnectOfAnEarlierIncarnationIsIgnored) {
  JoinAll();
  membership_.MarkDisconnected(kWorker1, 99);
  membership_.MarkLost(kWorker1, 99, "connection refused");
  EXPECT_EQ(StateOf(kWorker1), MemberState::kAlive);
}

TEST_F(MembershipTest, AMemberKnownToBeGoneIsLostAtOnce) {
  JoinAll();
  membership_.MarkLost(kWorker1, 101, "connection refused");
  ASSERT_EQ(changes_.size(), 1u);
  EXPECT_THAT(changes_[0].losses[0].status, StatusIs(absl::StatusCode::kUnavailable, HasSubstr("connection refused")));
  membership_.MarkLost(kWorker1, 101, "again");
  EXPECT_EQ(changes_.size(), 1u);
}

TEST_F(MembershipTest, ANewIncarnationReplacesADisconnectedOne) {
  JoinAll();
  membership_.MarkDisconnected(kWorker1, 101);
  COHORT_ASSERT_OK_AND_ASSIGN(JoinResult result, membership_.Join(Worker(1, 201)));
  EXPECT_EQ(result.roster.epoch, 5) << "one for the loss, one for the join";
  EXPECT_EQ(result.roster.Find(kWorker1)->incarnation, 201u);
  ASSERT_EQ(changes_.size(), 1u);
  EXPECT_THAT(changes_[0].joined, ElementsAre(kWorker1));
  ASSERT_EQ(changes_[0].losses.size(), 1u);
  EXPECT_EQ(changes_[0].losses[0].incarnation, 101u);
  EXPECT_THAT(changes_[0].losses[0].status,
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("replaced by its new incarnation 00000000000000c9")));
}

TEST_F(MembershipTest, ANewIncarnationReplacesASilentOne) {
  JoinAll();
  clock_.Advance(absl::Seconds(2));
  COHORT_EXPECT_OK(membership_.Join(Worker(1, 201)));
}

TEST_F(MembershipTest, ANewIncarnationAfterALossRaisesTheEpochOnce) {
  JoinAll();
  Pass(absl::Seconds(5), {2});
  COHORT_ASSERT_OK_AND_ASSIGN(JoinResult result, membership_.Join(Worker(1, 201)));
  EXPECT_EQ(result.roster.epoch, 5);
  ASSERT_EQ(changes_.size(), 2u);
  EXPECT_THAT(changes_[1].losses, IsEmpty());
  EXPECT_EQ(membership_.LossOf(kWorker1), std::nullopt);
}

TEST_F(MembershipTest, TheSameIncarnationMayComeBackAfterALossByJoining) {
  JoinAll();
  Pass(absl::Seconds(5), {2});
  EXPECT_THAT(membership_.Heartbeat(kWorker1, 101),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("declared lost and has to join again")));
  COHORT_ASSERT_OK_AND_ASSIGN(JoinResult result, membership_.Join(Worker(1)));
  EXPECT_EQ(result.roster.epoch, 5);
  COHORT_EXPECT_OK(membership_.Heartbeat(kWorker1, 101));
}

TEST_F(MembershipTest, AStaleHeartbeatIsAbortedNamingTaskAndBothIncarnations) {
  JoinAll();
  membership_.MarkDisconnected(kWorker1, 101);
  COHORT_ASSERT_OK(membership_.Join(Worker(1, 201)));
  const absl::Status status = membership_.Heartbeat(kWorker1, 101).status();
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kAborted, AllOf(HasSubstr("/job:worker/task:1"), HasSubstr("0000000000000065"),
                                                         HasSubstr("00000000000000c9"))));
  EXPECT_EQ(GetFirstCause(status)->incarnation, 201u);
  EXPECT_THAT(membership_.CheckCaller(kWorker1, 101), StatusIs(absl::StatusCode::kAborted));
  EXPECT_THAT(membership_.CheckCaller(kWorker1, 201), IsOk());
}

TEST_F(MembershipTest, AReplacedIncarnationCannotPushOutItsSuccessor) {
  JoinAll();
  membership_.MarkDisconnected(kWorker1, 101);
  COHORT_ASSERT_OK(membership_.Join(Worker(1, 201)));
  clock_.Advance(absl::Seconds(4));  // even a silent one
  EXPECT_THAT(membership_.Join(Worker(1, 101)),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("incarnation 00000000000000c9 has taken its place")));
}

TEST_F(MembershipTest, AHeartbeatBeforeJoiningIsAborted) {
  EXPECT_THAT(membership_.Heartbeat(kWorker1, 101), StatusIs(absl::StatusCode::kAborted, HasSubstr("has not joined")));
}

TEST_F(MembershipTest, TwoLivingProcessesWithOneTaskAreBothNamed) {
  JoinAll();
  clock_.Advance(absl::Milliseconds(1900));
  MemberInfo second = Worker(1, 201);
  second.address = "other:2222";
  EXPECT_THAT(membership_.Join(second),
              StatusIs(absl::StatusCode::kAlreadyExists,
                       AllOf(HasSubstr("/job:worker/task:1"), HasSubstr("00000000000000c9 at other:2222"),
                             HasSubstr("0000000000000065 at h1:2222"))));
  EXPECT_THAT(membership_.Heartbeat(kWorker1, 101), IsOkAndHolds(3));
}

TEST_F(MembershipTest, NobodyElseCanBeTheLeader) {
  clock_.Advance(absl::Hours(1));
  EXPECT_THAT(membership_.Join(Worker(0, 200)),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("leads the cluster")));
}

TEST_F(MembershipTest, ARestartedLeaderGoesOnAboveTheHighestEpochOfItsMembers) {
  MemberInfo first = Worker(1);
  first.last_epoch = 7;
  COHORT_ASSERT_OK_AND_ASSIGN(JoinResult one, membership_.Join(first));
  EXPECT_EQ(one.roster.epoch, 8);
  MemberInfo second = Worker(2);
  second.last_epoch = 6;
  COHORT_ASSERT_OK_AND_ASSIGN(JoinResult two, membership_.Join(second));
  EXPECT_EQ(two.roster.epoch, 9);
}

TEST_F(MembershipTest, WarningsOfAMemberWithOtherLibrariesComeBackFromJoin) {
  MemberInfo info = Worker(1);
  info.library_versions = "oneDNN 3.0.0";
  COHORT_ASSERT_OK_AND_ASSIGN(JoinResult result, membership_.Join(info));
  EXPECT_THAT(result.warnings, ElementsAre(HasSubstr("oneDNN 3.0.0")));
}

TEST_F(MembershipTest, CompletionAnswersWithTheRosterWithoutTheEvaluator) {
  std::optional<absl::StatusOr<Roster>> answer;
  membership_.WhenComplete(clock_.Now() + absl::Seconds(10), [&](absl::StatusOr<Roster> r) { answer = std::move(r); });
  COHORT_ASSERT_OK(membership_.Join(Worker(1)));
  EXPECT_FALSE(answer.has_value());
  EXPECT_THAT(membership_.Missing(), ElementsAre(kWorker2));
  COHORT_ASSERT_OK(membership_.Join(Worker(2)));
  ASSERT_TRUE(answer.has_value());
  COHORT_ASSERT_OK(*answer);
  EXPECT_EQ((*answer)->epoch, 3);
  EXPECT_THAT(membership_.Missing(), IsEmpty());
  EXPECT_EQ(membership_.StartupReport(), "");

  bool at_once = false;
  membership_.WhenComplete(clock_.Now(), [&](const absl::StatusOr<Roster>& r) { at_once = r.ok(); });
  EXPECT_TRUE(at_once);
}

TEST_F(MembershipTest, TheStartUpDeadlineNamesOnlyTheMissingTaskWithItsConnectError) {
  std::optional<absl::StatusOr<Roster>> answer;
  membership_.WhenComplete(clock_.Now() + absl::Seconds(10), [&](absl::StatusOr<Roster> r) { answer = std::move(r); });
  COHORT_ASSERT_OK(membership_.Join(Worker(1)));
  membership_.NoteConnectError(kWorker2, "name not resolved");
  EXPECT_EQ(membership_.StartupReport(), "waiting for 1 of 3 tasks: /job:worker/task:2 at h2:2222 (name not resolved)");
  Pass(absl::Milliseconds(9500), {1});
  EXPECT_FALSE(answer.has_value());
  Pass(absl::Milliseconds(500), {1});
  ASSERT_TRUE(answer.has_value());
  const absl::Status status = answer->status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDeadlineExceeded,
                               AllOf(HasSubstr("1 of 3 tasks: /job:worker/task:2 at h2:2222 (name not resolved)"),
                                     Not(HasSubstr("task:1")))));
  const FirstCause cause = GetFirstCause(status).value();
  EXPECT_EQ(cause.task, kWorker2);
  EXPECT_THAT(cause.missing, ElementsAre(kWorker2));
  EXPECT_THAT(cause.arrived, ElementsAre(kWorker0, kWorker1));
}

TEST_F(MembershipTest, SomeTasksAreWaitedForWhateverTheOthersAre) {
  absl::StatusOr<Roster> first = absl::UnknownError("none yet"), second = first;
  membership_.WhenAlive({kWorker0}, clock_.Now(), [&](absl::StatusOr<Roster> r) { first = std::move(r); });
  EXPECT_THAT(first, IsOk());
  membership_.WhenAlive({kWorker0, kWorker2}, clock_.Now() + absl::Seconds(10),
                        [&](absl::StatusOr<Roster> r) { second = std::move(r); });
  COHORT_ASSERT_OK(membership_.Join(Worker(1)));
  EXPECT_THAT(second, StatusIs(absl::StatusCode::kUnknown));
  COHORT_ASSERT_OK(membership_.Join(Worker(2)));
  EXPECT_THAT(second, IsOk());
  membership_.MarkLost(kWorker2, 102, "it said so");
  membership_.WhenAlive({kWorker0, kWorker2}, clock_.Now() + absl::Seconds(1),
                        [&](absl::StatusOr<Roster> r) { second = std::move(r); });
  clock_.Advance(absl::Seconds(2));
  membership_.Tick();
  EXPECT_THAT(second, StatusIs(absl::StatusCode::kDeadlineExceeded,
                               AllOf(HasSubstr("1 of 2 tasks: /job:worker/task:2"), Not(HasSubstr("task:1")))));
}

TEST_F(MembershipTest, AnotherConfigurationFailsTheStartForEverybody) {
  std::optional<absl::StatusOr<Roster>> early;
  std::optional<absl::StatusOr<Roster>> late;
  membership_.WhenComplete(clock_.Now() + absl::Seconds(10), [&](absl::StatusOr<Roster> r) { early = std::move(r); });
  MemberInfo other = Worker(1);
  other.cluster_fingerprint = 8;
  EXPECT_THAT(membership_.Join(other), StatusIs(absl::StatusCode::kFailedPrecondition));
  membership_.WhenComplete(clock_.Now() + absl::Seconds(10), [&](absl::StatusOr<Roster> r) { late = std::move(r); });
  ASSERT_TRUE(early.has_value());
  ASSERT_TRUE(late.has_value());
  EXPECT_THAT(*early, StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("the cluster is 0000000000000008 on")));
  EXPECT_EQ(early->status(), late->status());
  EXPECT_THAT(changes_, IsEmpty());
}

TEST_F(MembershipTest, ACorrectedTaskIsTakenAfterItsRefusal) {
  MemberInfo other = Worker(1);
  other.protocol_version = 2;
  EXPECT_THAT(membership_.Join(other), StatusIs(absl::StatusCode::kFailedPrecondition));
  JoinAll();
  bool complete = false;
  membership_.WhenComplete(clock_.Now() + absl::Seconds(1),
                           [&](const absl::StatusOr<Roster>& r) { complete = r.ok(); });
  EXPECT_TRUE(complete);
}

TEST_F(MembershipTest, AStrangerDoesNotDisturbARunningCluster) {
  JoinAll();
  Pass(absl::Seconds(5), {2});
  std::optional<absl::StatusOr<Roster>> answer;
  membership_.WhenComplete(clock_.Now() + absl::Seconds(30), [&](absl::StatusOr<Roster> r) { answer = std::move(r); });
  MemberInfo stranger = Worker(1, 201);
  stranger.protocol_version = 2;
  EXPECT_THAT(membership_.Join(stranger), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_FALSE(answer.has_value());
  EXPECT_THAT(membership_.StartupReport(), HasSubstr("the protocol version is 2"));
  COHORT_ASSERT_OK(membership_.Join(Worker(1, 201)));
  ASSERT_TRUE(answer.has_value());
  COHORT_EXPECT_OK(*answer);
}

TEST_F(MembershipTest, AnUnwatchedWatcherHearsNothingMore) {
  int heard = 0;
  const int64_t id = membership_.Watch([&](const RosterChange&) { ++heard; });
  COHORT_ASSERT_OK(membership_.Join(Worker(1)));
  EXPECT_EQ(heard, 1);
  membership_.Unwatch(id);
  COHORT_ASSERT_OK(membership_.Join(Worker(2)));
  EXPECT_EQ(heard, 1);
}

TEST_F(MembershipTest, AWatcherMayCallBackIntoTheMembership) {
  int64_t epoch = 0;
  membership_.Watch([&](const RosterChange& change) {
    epoch = membership_.epoch();
    if (change.roster.epoch == 2) {
      COHORT_EXPECT_OK(membership_.Join(Worker(2)));
    }
  });
  COHORT_ASSERT_OK(membership_.Join(Worker(1)));
  EXPECT_EQ(epoch, 3);
  ASSERT_EQ(changes_.size(), 2u);
  EXPECT_EQ(changes_[1].roster.epoch, 3);
}

}  // namespace
}  // namespace cohort
