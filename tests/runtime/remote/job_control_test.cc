#include "runtime/remote/job_control.h"

#include <gmock/gmock.h>

#include <atomic>

#include "runtime/base/first_cause.h"
#include "runtime/base/thread.h"
#include "runtime/remote/cluster_service.h"
#include "runtime/remote/program_bytes.h"
#include "runtime/rpc/call_context.h"
#include "runtime/rpc/server.h"
#include "runtime/rpc/service_ptr.h"
#include "tests/testing/answer.h"
#include "tests/testing/fake_job_control.h"
#include "tests/testing/status_matchers.h"
#include "worker/leader_service.h"

namespace cohort {
namespace {

using ::cohort::testing::Answer;
using ::cohort::testing::FakeJobControl;
using ::cohort::testing::IsOk;
using ::cohort::testing::IsOkAndHolds;
using ::cohort::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

absl::Time Soon() { return absl::Now() + absl::Seconds(10); }

// chief:0 leads, with fake jobs behind its server; ps:0 only knows that.
class JobControlTest : public ::testing::Test {
 protected:
  JobControlTest() { Serve(64); }
  ~JobControlTest() override {
    if (leader_ != nullptr) leader_->Close(absl::CancelledError("the test ends"));
  }

  void Serve(int max_followers) {
    leader_server_.reset();
    LeaderServiceHooks hooks;
    hooks.check = [](const CallContext& call) { return CheckCallee(call, {"chief", 0}, 5); };
    hooks.on_submitted = [this](int64_t job) { submitted_ = job; };
    hooks.complete = [](ClusterStatus& status) {
      for (MemberStatus& member : status.members) member.last_step = 17;
    };
    hooks.max_followers = max_followers;
    leader_ = std::make_unique<LeaderService>(jobs_, hooks);
    leader_cluster_ = MakeClusterService({{"chief", 0}, "chief.invalid:1", 5}, [] {
      return TaskAddress{{"chief", 0}, "chief.invalid:1", 5};
    });
    leader_server_ = Start({&leader_->service(), leader_cluster_.get()});
    ps_cluster_ = MakeClusterService({{"ps", 0}, "ps.invalid:1", 6}, [this] {
      return TaskAddress{{"chief", 0}, leader_server_->address(), 0};
    });
    ps_server_ = Start({ps_cluster_.get()});
  }

  static std::unique_ptr<RpcServer> Start(std::vector<grpc::Service*> services) {
    auto server = RpcServer::Start({"127.0.0.1:0", std::move(services), nullptr, {}});
    EXPECT_THAT(server.status(), IsOk());
    return *std::move(server);
  }

  static LinkOptions Options() {
    LinkOptions options;
    options.retry_for = absl::Milliseconds(500);
    return options;
  }

  std::unique_ptr<JobControl> Connect() {
    auto control = ConnectCluster(leader_server_->address(), Soon(), Options());
    EXPECT_THAT(control.status(), IsOk());
    return *std::move(control);
  }

  FakeJobControl jobs_;
  std::atomic<int64_t> submitted_ = 0;
  std::unique_ptr<LeaderService> leader_;
  ServicePtr leader_cluster_, ps_cluster_;
  std::unique_ptr<RpcServer> leader_server_, ps_server_;
};

TEST_F(JobControlTest, AnyTaskLeadsToTheLeader) {
  jobs_.on_jobs = [] {
    std::vector<JobInfo> jobs(1);
    jobs[0].id = 4;
    jobs[0].state = JobState::kRunning;
    return jobs;
  };
  for (const std::string& address : {leader_server_->address(), ps_server_->address()}) {
    COHORT_ASSERT_OK_AND_ASSIGN(const auto control, ConnectCluster(address, Soon(), Options()));
    COHORT_ASSERT_OK_AND_ASSIGN(const std::vector<JobInfo> jobs, control->Jobs(Soon()));
    EXPECT_EQ(jobs.at(0).id, 4);
    EXPECT_EQ(jobs[0].state, JobState::kRunning);
  }
}

TEST_F(JobControlTest, NobodyThereIsOneSentenceWithAddressAndFix) {
  const std::string address = ps_server_->address();
  ps_server_.reset();
  const absl::Time start = absl::Now();
  const absl::Status status = ConnectCluster(address, Soon(), Options()).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable,
                               AllOf(HasSubstr("no cluster answers at " + address), HasSubstr("--cluster"))));
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("\n")));
  EXPECT_LT(absl::Now() - start, absl::Seconds(5));
}

TEST_F(JobControlTest, LeaderThatDoesNotAnswerIsNamed) {
  const std::string leader = leader_server_->address();
  leader_server_->Stop(absl::Now());
  const absl::Status status = ConnectCluster(ps_server_->address(), Soon(), Options()).status();
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kUnavailable, AllOf(HasSubstr("/job:chief/task:0"), HasSubstr(leader))));
  EXPECT_EQ(GetFirstCause(status)->task, (TaskId{"chief", 0}));
}

TEST_F(JobControlTest, SubmitBringsProgramAndOptions) {
  Program sent;
  sent.name = "p";
  sent.seed = 3;
  jobs_.on_submit = [&](const Program& program, const JobOptions& options) -> absl::StatusOr<int64_t> {
    EXPECT_EQ(SerializeProgram(program), SerializeProgram(sent));
    EXPECT_EQ(options.name, "mine");
    EXPECT_FALSE(options.wait);
    EXPECT_TRUE(options.detach);
    return 12;
  };
  EXPECT_THAT(Connect()->Submit(sent, {"mine", false, true}, Soon()), IsOkAndHolds(12));
  EXPECT_EQ(submitted_, 12);
}

TEST_F(JobControlTest, ErrorsComeBackAsTheyWere) {
  jobs_.on_submit = [](const Program&, const JobOptions&) { return absl::ResourceExhaustedError("behind job 3"); };
  jobs_.on_cancel = [](int64_t job) { return absl::NotFoundError(absl::StrCat("no job ", job)); };
  const auto control = Connect();
  EXPECT_EQ(control->Submit({}, {}, Soon()).status(), absl::ResourceExhaustedError("behind job 3"));
  EXPECT_EQ(submitted_, 0);
  EXPECT_EQ(control->Cancel(9, Soon()), absl::NotFoundError("no job 9"));
}

TEST_F(JobControlTest, StatusIsCompletedWithWhatMembersReported) {
  jobs_.on_status = [] {
    ClusterStatus status;
    status.epoch = 6;
    status.leader = {"chief", 0};
    status.members.resize(1);
    status.members[0].task.task = {"chief", 0};
    return status;
  };
  COHORT_ASSERT_OK_AND_ASSIGN(const ClusterStatus status, Connect()->Status(Soon()));
  EXPECT_EQ(status.epoch, 6);
  EXPECT_EQ(status.members.at(0).last_step, 17);
}

TEST_F(JobControlTest, ShutdownReachesTheLeader) {
  std::atomic<bool> asked = false;
  jobs_.on_shutdown = [&] {
    asked = true;
    return absl::OkStatus();
  };
  COHORT_EXPECT_OK(Connect()->Shutdown(Soon()));
  EXPECT_TRUE(asked);
}

TEST_F(JobControlTest, FollowerSeesEventsInOrderAndTheJobsStatus) {
  absl::Status failed = absl::UnavailableError("worker 2 is gone");
  FirstCause cause;
  cause.task = {"worker", 2};
  SetFirstCause(failed, cause);
  jobs_.on_follow = [&](int64_t job, bool from_now, const FakeJobControl::Event& event) {
    EXPECT_EQ(job, 3);
    EXPECT_TRUE(from_now);
    for (int step = 1; step <= 50; ++step) {
      JobEvent e;
      e.kind = JobEvent::Kind::kReport;
      e.report.step = step;
      EXPECT_TRUE(event(e));
    }
    return failed;
  };
  std::vector<int64_t> steps;
  const absl::Status status = Connect()->Follow(3, true, [&](const JobEvent& event) {
    steps.push_back(event.report.step);
    return true;
  });
  EXPECT_EQ(status, failed);
  ASSERT_EQ(steps.size(), 50u);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(steps[i], i + 1);
}

TEST_F(JobControlTest, StateThatDidNotChangeIsToldOnce) {
  jobs_.on_follow = [](int64_t, bool, const FakeJobControl::Event& event) {
    JobEvent state;
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(event(state));
    state.info.state = JobState::kRunning;
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(event(state));
    return absl::OkStatus();
  };
  std::vector<JobState> states;
  COHORT_EXPECT_OK(Connect()->Follow(3, false, [&](const JobEvent& event) {
    states.push_back(event.info.state);
    return true;
  }));
  EXPECT_THAT(states, ElementsAre(JobState::kQueued, JobState::kRunning));
}

// A follower that stops, or whose process dies, is noticed with the next sign of life.
TEST_F(JobControlTest, FollowerThatStopsEndsOnTheLeaderToo) {
  Answer<bool> gone;
  jobs_.on_follow = [&](int64_t, bool, const FakeJobControl::Event& event) {
    JobEvent state;
    while (event(state)) {
    }
    gone.Slot()(true);
    return absl::OkStatus();
  };
  COHORT_EXPECT_OK(Connect()->Follow(3, false, [](const JobEvent&) { return false; }));
  COHORT_EXPECT_OK(gone.Wait());
}

TEST_F(JobControlTest, LogLinesComeWithoutTheSignsOfLife) {
  jobs_.on_logs = [](int64_t job, bool follow, const FakeJobControl::Line& line) {
    EXPECT_EQ(job, 2);
    EXPECT_TRUE(follow);
    for (const char* text : {"one", "", "two", "", "three"}) EXPECT_TRUE(line(text));
    return absl::OkStatus();
  };
  std::vector<std::string> lines;
  COHORT_EXPECT_OK(Connect()->Logs(2, true, [&](const std::string& line) {
    lines.push_back(line);
    return true;
  }));
  EXPECT_THAT(lines, ElementsAre("one", "two", "three"));
}

TEST_F(JobControlTest, FollowersAreBounded) {
  Serve(1);
  Answer<bool> begun;
  jobs_.on_follow = [&](int64_t, bool, const FakeJobControl::Event& event) {
    JobEvent state;
    event(state);
    begun.Slot()(true);
    while (event(state)) {
    }
    return absl::OkStatus();
  };
  const auto control = Connect();
  Thread first("first", [&] {
    EXPECT_THAT(control->Follow(3, false, [](const JobEvent&) { return true; }),
                StatusIs(absl::StatusCode::kCancelled, "closing"));
  });
  COHORT_EXPECT_OK(begun.Wait());
  EXPECT_THAT(control->Follow(3, false, [](const JobEvent&) { return true; }),
              StatusIs(absl::StatusCode::kResourceExhausted));
  leader_->Close(absl::CancelledError("closing"));
  first.Join();
}

TEST_F(JobControlTest, DeathOfTheLeaderEndsAFollower) {
  Answer<bool> begun;
  jobs_.on_follow = [&](int64_t, bool, const FakeJobControl::Event& event) {
    JobEvent state;
    begun.Slot()(true);
    while (event(state)) {
    }
    return absl::OkStatus();
  };
  const auto control = Connect();
  absl::Status status;
  Thread follower("follower", [&] { status = control->Follow(3, false, [](const JobEvent&) { return true; }); });
  COHORT_EXPECT_OK(begun.Wait());
  leader_server_->Stop(absl::Now());
  follower.Join();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable, HasSubstr("/job:chief/task:0")));
}

}  // namespace
}  // namespace cohort
