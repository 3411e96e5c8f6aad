#include "runtime/remote/coordination_client.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <deque>

#include "runtime/base/clock.h"
#include "runtime/base/first_cause.h"
#include "runtime/base/mutex.h"
#include "runtime/base/thread.h"
#include "runtime/coordination/coordination.h"
#include "runtime/rpc/server.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/wire_proxy.h"
#include "worker/membership_service.h"

namespace cohort {
namespace {

using ::cohort::testing::IsOk;
using ::cohort::testing::StatusIs;
using ::cohort::testing::WireProxy;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr absl::Duration kHeartbeat = absl::Milliseconds(100);
constexpr absl::Duration kPeerLost = absl::Seconds(1);
constexpr absl::Duration kPatience = absl::Seconds(20);

MemberInfo Info(const std::string& job, int index, uint64_t incarnation) {
  MemberInfo info;
  info.task = {job, index};
  info.address = job + std::to_string(index) + ":1";
  info.incarnation = incarnation;
  info.cluster_fingerprint = 7;
  info.protocol_version = 1;
  info.devices = {"CPU:0"};
  return info;
}

// chief:0, the leader of chief, worker:0 and worker:1; one life of it.
class LeaderProcess {
 public:
  LeaderProcess(uint64_t incarnation, const std::string& address) {
    CoordinationOptions options;
    options.membership.expected = {
        {{"chief", 0}, "chief0:1"}, {{"worker", 0}, "worker0:1"}, {{"worker", 1}, "worker1:1"}};
    options.membership.heartbeat = kHeartbeat;
    options.membership.peer_lost = kPeerLost;
    options.membership.disconnect_grace = kPeerLost;
    options.sessions.on_end = [](int64_t, const absl::Status&) {};
    options.jobs.start = [](const JobRecord&) {};
    options.jobs.cancel = [](int64_t) {};
    coordination = std::make_unique<Coordination>(options, Info("chief", 0, incarnation), Clock::Real());
    service = std::make_unique<MembershipService>(*coordination);
    auto started = RpcServer::Start({address, {&service->service()}, nullptr, {}});
    EXPECT_THAT(started.status(), IsOk());
    server = *std::move(started);
    ticker_ = Thread("ticker", [this] {
      MutexLock lock(&mu_);
      const auto stop = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return stop_; };
      while (!mu_.AwaitWithDeadline(stop, absl::Now() + absl::Milliseconds(20))) coordination->Tick();
    });
  }

  ~LeaderProcess() {
    {
      MutexLock lock(&mu_);
      stop_ = true;
    }
    ticker_.Join();
    server.reset();
  }

  MemberState StateOf(const TaskId& task) const { return coordination->membership().GetRoster().Find(task)->state; }

  std::unique_ptr<Coordination> coordination;
  std::unique_ptr<MembershipService> service;
  std::unique_ptr<RpcServer> server;

 private:
  Mutex mu_;
  bool stop_ ABSL_GUARDED_BY(mu_) = false;
  Thread ticker_;
};

// A member that writes down what it hears: "joined 2", "change 3 +/job:worker/task:1", "lost ...", "refused ...".
class MemberProcess {
 public:
  MemberProcess(MemberInfo info, const std::string& leader_address) {
    CoordinationClientOptions options;
    options.self = std::move(info);
    options.leader = {"chief", 0};
    options.leader_address = leader_address;
    options.heartbeat = kHeartbeat;
    options.peer_lost = kPeerLost;
    CoordinationListener listener;
    listener.report = [] { return MemberReport{17, 1000}; };
    listener.on_joined = [this](const JoinResult& result) {
      {
        MutexLock lock(&mu_);
        roster_ = result.roster;
      }
      Hear("joined");
    };
    listener.on_change = [this](const RosterChange& change) {
      {
        MutexLock lock(&mu_);
        EXPECT_GT(change.roster.epoch, roster_.epoch);
        roster_ = change.roster;
      }
      for (const MemberLoss& loss : change.losses) Hear("loss of " + loss.task.ToString());
      for (const TaskId& task : change.joined) Hear("join of " + task.ToString());
    };
    listener.on_leader_lost = [this](const absl::Status& status) {
      {
        MutexLock lock(&mu_);
        status_ = status;
      }
      Hear("leader lost");
    };
    listener.on_refused = [this](const absl::Status& status) {
      {
        MutexLock lock(&mu_);
        status_ = status;
      }
      Hear("refused");
    };
    listener.on_shutdown = [this] { Hear("shutdown"); };
    client_ = std::make_unique<CoordinationClient>(std::move(options), std::move(listener));
  }

  // Waits for `what`, and takes it and everything before it.
  bool Hears(const std::string& what) {
    MutexLock lock(&mu_);
    const auto heard = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return std::find(heard_.begin(), heard_.end(), what) != heard_.end();
    };
    if (!mu_.AwaitWithDeadline(heard, absl::Now() + kPatience)) return false;
    heard_.erase(heard_.begin(), std::find(heard_.begin(), heard_.end(), what) + 1);
    return true;
  }

  std::vector<std::string> heard() {
    MutexLock lock(&mu_);
    return {heard_.begin(), heard_.end()};
  }
  absl::Status status() {
    MutexLock lock(&mu_);
    return status_;
  }
  Roster roster() {
    MutexLock lock(&mu_);
    return roster_;
  }

  const std::unique_ptr<CoordinationClient>& client() const { return client_; }

 private:
  void Hear(const std::string& what) {
    MutexLock lock(&mu_);
    heard_.push_back(what);
  }

  Mutex mu_;
  std::deque<std::string> heard_ ABSL_GUARDED_BY(mu_);
  absl::Status status_ ABSL_GUARDED_BY(mu_);
  Roster roster_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<CoordinationClient> client_;  // last: what it calls is there until it is gone
};

absl::Time Soon() { return absl::Now() + kPatience; }

template <typename Condition>
bool Eventually(Condition condition) {
  Mutex mu;
  const absl::Time deadline = Soon();
  MutexLock lock(&mu);
  while (!condition()) {
    if (absl::Now() > deadline) return false;
    mu.AwaitWithDeadline([] { return false; }, absl::Now() + absl::Milliseconds(5));
  }
  return true;
}

const TaskId kWorker0 = {"worker", 0};
const TaskId kWorker1 = {"worker", 1};

TEST(CoordinationClientTest, TwoMembersSeeEachOtherComeAndGo) {
  LeaderProcess leader(1, "127.0.0.1:0");
  MemberProcess first(Info("worker", 0, 10), leader.server->address());
  COHORT_ASSERT_OK(first.client()->WaitJoined(Soon()));
  ASSERT_TRUE(first.Hears("joined"));
  MemberProcess second(Info("worker", 1, 11), leader.server->address());
  ASSERT_TRUE(second.Hears("joined"));
  ASSERT_TRUE(first.Hears("join of /job:worker/task:1"));
  EXPECT_EQ(first.roster().Find(kWorker1)->incarnation, 11u);
  EXPECT_EQ(first.roster().epoch, 3);
  EXPECT_TRUE(Eventually([&] { return second.client()->epoch() == 3; }));
  second.client()->Leave("SIGTERM", Soon());
  ASSERT_TRUE(first.Hears("loss of /job:worker/task:1"));
  EXPECT_EQ(first.roster().Find(kWorker1)->state, MemberState::kLost);
  EXPECT_THAT(leader.coordination->membership().LossOf(kWorker1)->status,
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("it left: SIGTERM")));
}

TEST(CoordinationClientTest, MemberThatDiesWithoutGoodbyeIsLost) {
  LeaderProcess leader(1, "127.0.0.1:0");
  COHORT_ASSERT_OK_AND_ASSIGN(auto proxy, WireProxy::Start(leader.server->port()));
  MemberProcess first(Info("worker", 0, 10), leader.server->address());
  MemberProcess second(Info("worker", 1, 11), proxy->address());
  ASSERT_TRUE(first.Hears("joined"));
  ASSERT_TRUE(second.Hears("joined"));
  proxy->SetDown(true);
  ASSERT_TRUE(first.Hears("loss of /job:worker/task:1"));
  ASSERT_TRUE(second.Hears("leader lost"));
  proxy->SetDown(false);  // and it comes back
  ASSERT_TRUE(first.Hears("join of /job:worker/task:1"));
  ASSERT_TRUE(second.Hears("joined"));
}

TEST(CoordinationClientTest, SilenceLosesBothSidesAndEndsWithARejoin) {
  LeaderProcess leader(1, "127.0.0.1:0");
  COHORT_ASSERT_OK_AND_ASSIGN(auto proxy, WireProxy::Start(leader.server->port()));
  MemberProcess member(Info("worker", 0, 10), proxy->address());
  ASSERT_TRUE(member.Hears("joined"));
  proxy->SetSilent(true);
  ASSERT_TRUE(member.Hears("leader lost"));
  EXPECT_THAT(member.status(), StatusIs(absl::StatusCode::kUnavailable,
                                        AllOf(HasSubstr("/job:chief/task:0"), HasSubstr("was not heard of for 1s"))));
  EXPECT_EQ(GetFirstCause(member.status())->task, (TaskId{"chief", 0}));
  EXPECT_EQ(GetFirstCause(member.status())->incarnation, 1u);
  EXPECT_TRUE(Eventually([&] { return leader.StateOf(kWorker0) == MemberState::kLost; }));
  proxy->SetSilent(false);
  ASSERT_TRUE(member.Hears("joined"));
  EXPECT_TRUE(Eventually([&] { return leader.StateOf(kWorker0) == MemberState::kAlive; }));
}

TEST(CoordinationClientTest, BrokenStreamIsResumedWithoutALoss) {
  LeaderProcess leader(1, "127.0.0.1:0");
  COHORT_ASSERT_OK_AND_ASSIGN(auto proxy, WireProxy::Start(leader.server->port()));
  MemberProcess member(Info("worker", 0, 10), proxy->address());
  ASSERT_TRUE(member.Hears("joined"));
  const int64_t epoch = leader.coordination->membership().epoch();
  proxy->Cut();
  ASSERT_TRUE(member.Hears("joined"));
  EXPECT_EQ(leader.coordination->membership().epoch(), epoch);
  EXPECT_THAT(member.heard(), ElementsAre());
}

TEST(CoordinationClientTest, RestartedLeaderIsLostAndJoinedAboveTheOldEpoch) {
  auto leader = std::make_unique<LeaderProcess>(1, "127.0.0.1:0");
  const std::string address = leader->server->address();
  MemberProcess first(Info("worker", 0, 10), address);
  MemberProcess second(Info("worker", 1, 11), address);
  ASSERT_TRUE(first.Hears("joined"));
  ASSERT_TRUE(second.Hears("joined"));
  ASSERT_TRUE(Eventually([&] { return first.client()->epoch() == 3 && second.client()->epoch() == 3; }));
  leader.reset();
  leader = std::make_unique<LeaderProcess>(2, address);
  ASSERT_TRUE(first.Hears("leader lost"));
  EXPECT_EQ(GetFirstCause(first.status())->incarnation, 1u);
  ASSERT_TRUE(first.Hears("joined"));
  ASSERT_TRUE(second.Hears("joined"));
  EXPECT_GE(leader->coordination->membership().epoch(), 4);
}

TEST(CoordinationClientTest, LeaderThatStaysDeadIsLost) {
  auto leader = std::make_unique<LeaderProcess>(1, "127.0.0.1:0");
  MemberProcess member(Info("worker", 0, 10), leader->server->address());
  ASSERT_TRUE(member.Hears("joined"));
  const absl::Time start = absl::Now();
  leader.reset();
  ASSERT_TRUE(member.Hears("leader lost"));
  EXPECT_LT(absl::Now() - start, 3 * kPeerLost);
}

TEST(CoordinationClientTest, WaitingForALeaderNamesIt) {
  std::string address;
  {
    LeaderProcess leader(1, "127.0.0.1:0");
    address = leader.server->address();
  }
  MemberProcess member(Info("worker", 0, 10), address);
  EXPECT_THAT(member.client()->WaitJoined(absl::Now() + absl::Milliseconds(500)),
              StatusIs(absl::StatusCode::kUnavailable, AllOf(HasSubstr("/job:chief/task:0"), HasSubstr(address))));
  LeaderProcess late(1, address);
  COHORT_EXPECT_OK(member.client()->WaitJoined(Soon()));
}

TEST(CoordinationClientTest, OtherConfigurationIsRefusedForGood) {
  LeaderProcess leader(1, "127.0.0.1:0");
  MemberInfo info = Info("worker", 0, 10);
  info.cluster_fingerprint = 8;
  MemberProcess member(info, leader.server->address());
  EXPECT_THAT(member.client()->WaitJoined(Soon()), StatusIs(absl::StatusCode::kFailedPrecondition));
  ASSERT_TRUE(member.Hears("refused"));
}

TEST(CoordinationClientTest, NewLifeReplacesADeadOneAndTheOldOneIsRefused) {
  LeaderProcess leader(1, "127.0.0.1:0");
  COHORT_ASSERT_OK_AND_ASSIGN(auto proxy, WireProxy::Start(leader.server->port()));
  MemberProcess old_life(Info("worker", 0, 10), proxy->address());
  ASSERT_TRUE(old_life.Hears("joined"));
  proxy->SetDown(true);
  MemberProcess new_life(Info("worker", 0, 20), leader.server->address());
  ASSERT_TRUE(new_life.Hears("joined"));
  EXPECT_EQ(new_life.roster().Find(kWorker0)->incarnation, 20u);
  proxy->SetDown(false);
  ASSERT_TRUE(old_life.Hears("refused"));
  EXPECT_THAT(old_life.status(), StatusIs(absl::StatusCode::kAborted, HasSubstr("/job:worker/task:0")));
}

TEST(CoordinationClientTest, HeartbeatsReportAndShutdownReachesAll) {
  LeaderProcess leader(1, "127.0.0.1:0");
  MemberProcess member(Info("worker", 0, 10), leader.server->address());
  ASSERT_TRUE(member.Hears("joined"));
  ClusterStatus status;
  status.members.resize(1);
  status.members[0].task.task = kWorker0;
  EXPECT_TRUE(Eventually([&] {
    leader.service->Complete(status);
    return status.members[0].last_step == 17;
  }));
  EXPECT_EQ(status.members[0].bytes_sent, 1000);
  leader.service->SendShutdown();
  EXPECT_TRUE(member.Hears("shutdown"));
}

TEST(CoordinationClientTest, JobsAreKeptForARestartedLeader) {
  auto leader = std::make_unique<LeaderProcess>(1, "127.0.0.1:0");
  const std::string address = leader->server->address();
  MemberProcess early(Info("worker", 0, 10), address);
  ASSERT_TRUE(early.Hears("joined"));
  JobRequest request;
  request.name = "mlp";
  request.program_bytes = std::string(1 << 20, 'p');
  COHORT_ASSERT_OK_AND_ASSIGN(const int64_t running, leader->coordination->jobs().Submit(request));
  leader->service->PublishJob(running);
  COHORT_ASSERT_OK_AND_ASSIGN(const int64_t queued, leader->coordination->jobs().Submit(request));
  leader->service->PublishJob(queued);
  MemberProcess late(Info("worker", 1, 11), address);  // is told of jobs of before
  ASSERT_TRUE(late.Hears("joined"));
  leader->service->SendShutdown();  // comes after the jobs
  ASSERT_TRUE(early.Hears("shutdown"));
  ASSERT_TRUE(late.Hears("shutdown"));
  early.client()->Leave("test", Soon());
  leader.reset();
  leader = std::make_unique<LeaderProcess>(2, address);
  ASSERT_TRUE(late.Hears("joined"));
  COHORT_ASSERT_OK_AND_ASSIGN(const JobRecord failed, leader->coordination->jobs().Get(running));
  EXPECT_EQ(failed.state, JobState::kFailed);
  EXPECT_THAT(failed.result, StatusIs(absl::StatusCode::kUnavailable));
  COHORT_ASSERT_OK_AND_ASSIGN(const JobRecord again, leader->coordination->jobs().Get(queued));
  EXPECT_FALSE(HasEnded(again.state));
  EXPECT_EQ(again.program_bytes, request.program_bytes);
}

TEST(CoordinationClientTest, ClosedServiceEndsItsStreams) {
  LeaderProcess leader(1, "127.0.0.1:0");
  MemberProcess member(Info("worker", 0, 10), leader.server->address());
  ASSERT_TRUE(member.Hears("joined"));
  leader.service->Close(absl::UnavailableError("the leader is shutting down"));
  const absl::Time start = absl::Now();
  leader.server->Stop(absl::Now() + kPatience);
  EXPECT_LT(absl::Now() - start, kPatience / 2);  // there was nothing to wait for
  EXPECT_TRUE(member.Hears("leader lost"));
}

}  // namespace
}  // namespace cohort
