// Jobs as several shells see them: detached, in line, cancelled, abandoned; and how daemons end.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tests/integration/cohort.h"
#include "tests/testing/status_matchers.h"

namespace cohort::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Words Endless(const Words& more) {
  Words words = EndlessTraining();
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

const Words kShort = {
    "train",        "--model=linear", "--dataset=synthetic", "--strategy=multi_worker_mirrored", "--steps=20",
    "--evaluate=0", "--json"};

class JobsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    cluster_ = std::make_unique<DaemonCluster>(2, 0, Words{"--lease=1s", "--drain=5s"});
    cluster_->StartAll();
  }
  static void TearDownTestSuite() { cluster_.reset(); }

  static json Jobs() {
    const Finished jobs = cluster_->RunClient({"jobs", "--json"});
    EXPECT_EQ(jobs.exit_code, 0) << jobs.err;
    return json::parse(LastLine(jobs.out), nullptr, /*allow_exceptions=*/false);
  }
  static json Job(int64_t id) {
    for (const json& job : Jobs()) {
      if (job["job"] == id) return job;
    }
    return {};
  }
  static int64_t Detach(const Words& more = {}) {
    Words words = Endless({"--detach", "--json"});
    words.insert(words.end(), more.begin(), more.end());
    const Finished submitted = cluster_->RunClient(words);
    EXPECT_EQ(submitted.exit_code, 0) << submitted.err;
    const json line = json::parse(LastLine(submitted.out), nullptr, /*allow_exceptions=*/false);
    EXPECT_TRUE(line.is_object()) << submitted.out;
    return line.is_object() ? line["job"].get<int64_t>() : 0;
  }

  static std::unique_ptr<DaemonCluster> cluster_;
};

std::unique_ptr<DaemonCluster> JobsTest::cluster_;

TEST_F(JobsTest, ADetachedJobIsSeenReadAndCancelledFromOtherShells) {
  const int64_t id = Detach({"--name=long one"});
  const auto logs = cluster_->StartClient({"logs", absl::StrCat(id), "--follow"});
  COHORT_ASSERT_OK(logs->WaitForLine("step ", Soon()).status());
  const json job = Job(id);
  EXPECT_EQ(job["state"], "running");
  EXPECT_EQ(job["name"], "long one");
  EXPECT_GT(job["step"], 0);
  EXPECT_THAT(cluster_->RunClient({"jobs"}).out, AllOf(HasSubstr("long one"), HasSubstr("running")));

  EXPECT_EQ(cluster_->RunClient({"cancel", absl::StrCat(id)}).exit_code, 0);
  EXPECT_EQ(*logs->Wait(Soon()), 0);  // to the end of the job
  EXPECT_THAT(logs->out(), HasSubstr("cancelled by a client"));
  EXPECT_EQ(Job(id)["state"], "cancelled");
  const Finished whole = cluster_->RunClient({"logs", absl::StrCat(id)});
  EXPECT_EQ(whole.exit_code, 0);
  EXPECT_EQ(whole.out, logs->out());
}

TEST_F(JobsTest, UnknownJobsAreNamed) {
  for (const char* verb : {"logs", "cancel"}) {
    const Finished finished = cluster_->RunClient({verb, "4711"});
    EXPECT_EQ(finished.exit_code, 2) << verb;
    EXPECT_THAT(finished.err, HasSubstr("4711")) << verb;
  }
}

TEST_F(JobsTest, ASecondJobWaitsBehindTheFirst) {
  const int64_t id = Detach({"--name=holder"});
  Words impatient = kShort;
  impatient.push_back("--wait=0");
  const Finished refused = cluster_->RunClient(impatient);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr(absl::StrCat("job ", id, " 'holder'")));

  const auto second = cluster_->StartClient(kShort);
  COHORT_ASSERT_OK(second->WaitForLine(absl::StrCat("waits behind job ", id), Soon()).status());
  EXPECT_EQ(cluster_->RunClient({"cancel", absl::StrCat(id)}).exit_code, 0);
  const absl::StatusOr<int> code = second->Wait(Soon());
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(*code, 0) << second->err();
  EXPECT_EQ(json::parse(LastLine(second->out()))["steps"], 20);
}

TEST_F(JobsTest, AJobInLineCanBeCancelled) {
  const int64_t first = Detach();
  const auto second = cluster_->StartClient(kShort);
  COHORT_ASSERT_OK(second->WaitForLine("waits behind", Soon()).status());
  const int64_t waiting = Jobs().back()["job"];
  ASSERT_NE(waiting, first);
  EXPECT_EQ(cluster_->RunClient({"cancel", absl::StrCat(waiting)}).exit_code, 0);
  const absl::StatusOr<int> code = second->Wait(Soon());
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(*code, 1);
  EXPECT_THAT(second->err(), HasSubstr("cancelled"));
  EXPECT_EQ(Job(first)["state"], "running");
  EXPECT_EQ(cluster_->RunClient({"cancel", absl::StrCat(first)}).exit_code, 0);
}

TEST_F(JobsTest, AKilledClientFreesTheClusterWithinItsLease) {
  const auto client = cluster_->StartClient(EndlessTraining());
  COHORT_ASSERT_OK(client->WaitForLine("step ", Soon()).status());
  client->Signal(SIGKILL);
  const absl::Time killed = absl::Now();
  const Finished next = cluster_->RunClient(kShort);
  EXPECT_EQ(next.exit_code, 0) << next.err;
  EXPECT_LT(absl::Now() - killed, absl::Seconds(8));
  const json jobs = Jobs();
  const json& abandoned = jobs[jobs.size() - 2];
  EXPECT_EQ(abandoned["state"], "cancelled");
}

TEST_F(JobsTest, CtrlCCancelsCleanly) {
  const auto client = cluster_->StartClient(EndlessTraining());
  COHORT_ASSERT_OK(client->WaitForLine("step ", Soon()).status());
  client->Signal(SIGINT);
  const absl::StatusOr<int> code = client->Wait(absl::Now() + absl::Seconds(10));
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(*code, 130);
  EXPECT_EQ(Jobs().back()["state"], "cancelled");
  EXPECT_EQ(cluster_->RunClient(kShort).exit_code, 0);
}

TEST_F(JobsTest, StatusShowsTasksAndJobs) {
  const Finished status = cluster_->RunClient({"status", "--json"});
  EXPECT_EQ(status.exit_code, 0) << status.err;
  const json parsed = json::parse(LastLine(status.out));
  EXPECT_EQ(parsed["leader"], LongName("worker:0"));
  ASSERT_EQ(parsed["members"].size(), 2);
  EXPECT_EQ(parsed["members"][1]["address"], cluster_->address("worker:1"));
  EXPECT_EQ(parsed["members"][1]["present"], true);
  // Any task leads to the leader.
  const Finished other = testing::RunClient({"status", "--cluster=" + cluster_->address("worker:1")});
  EXPECT_EQ(other.exit_code, 0) << other.err;
  EXPECT_THAT(other.out, HasSubstr("leader " + LongName("worker:0")));
}

// The step after which a task of a job says that it stopped.
void ExpectPreempted(Process& client, const std::string& task) {
  const absl::StatusOr<int> code = client.Wait(Soon());
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(*code, 143);
  EXPECT_THAT(client.err(), AllOf(HasSubstr(LongName(task)), HasSubstr("all stopped after step")));
}

TEST(EndTest, ATerminatedWorkerStopsTheJobAfterAStepOfAll) {
  DaemonCluster cluster(2, 0, {"--drain=10s"});
  cluster.StartAll();
  const auto client = cluster.StartClient(EndlessTraining());
  COHORT_ASSERT_OK(client->WaitForLine("step ", Soon()).status());
  cluster.daemon("worker:1").Signal(SIGTERM);
  EXPECT_EQ(cluster.WaitExit("worker:1", absl::Now() + absl::Seconds(10)), 143);
  ExpectPreempted(*client, "worker:1");
  EXPECT_TRUE(cluster.daemon("worker:0").running());  // serves the next one
  cluster.Start("worker:1");
  EXPECT_EQ(cluster.RunClient(kShort).exit_code, 0);
}

TEST(EndTest, ATerminatedLeaderStopsTheJobAndThoseInLine) {
  DaemonCluster cluster(2, 0, {"--drain=10s"});
  cluster.StartAll();
  const auto client = cluster.StartClient(EndlessTraining());
  COHORT_ASSERT_OK(client->WaitForLine("step ", Soon()).status());
  const auto second = cluster.StartClient(kShort);
  COHORT_ASSERT_OK(second->WaitForLine("waits behind", Soon()).status());
  cluster.daemon("worker:0").Signal(SIGTERM);
  EXPECT_EQ(cluster.WaitExit("worker:0", absl::Now() + absl::Seconds(10)), 143);
  ExpectPreempted(*client, "worker:0");
  const absl::StatusOr<int> code = second->Wait(Soon());
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(*code, 138) << second->err();
  EXPECT_TRUE(cluster.daemon("worker:1").running());
}

TEST(EndTest, PreemptedDaemonsOfTheJobAllSaySo) {
  DaemonCluster cluster(3, 0, {"--drain=10s", "--lifetime=job"});
  cluster.StartAll();
  const auto client = cluster.StartClient(EndlessTraining());
  COHORT_ASSERT_OK(client->WaitForLine("step ", Soon()).status());
  cluster.daemon("worker:1").Signal(SIGTERM);
  for (const std::string& task : cluster.tasks()) {
    EXPECT_EQ(cluster.WaitExit(task, absl::Now() + absl::Seconds(10)), 143) << task;
  }
  ExpectPreempted(*client, "worker:1");
}

TEST(EndTest, ATerminatedWorkerEndsAParameterServerTraining) {
  DaemonCluster cluster(2, 1, {"--drain=10s"});
  cluster.StartAll();
  const auto client = cluster.StartClient(EndlessTraining("parameter_server"));
  COHORT_ASSERT_OK(client->WaitForLine("step ", Soon()).status());
  cluster.daemon("worker:1").Signal(SIGTERM);
  EXPECT_EQ(cluster.WaitExit("worker:1", absl::Now() + absl::Seconds(10)), 143);
  ExpectPreempted(*client, "worker:1");
}

TEST(EndTest, TerminatedWhileIdleIsNoFailure) {
  DaemonCluster cluster(2, 1);
  cluster.StartAll();
  EXPECT_EQ(cluster.RunClient(kShort).exit_code, 0);
  for (const char* task : {"worker:1", "ps:0", "worker:0"}) {
    cluster.daemon(task).Signal(SIGTERM);
    EXPECT_EQ(cluster.WaitExit(task, absl::Now() + absl::Seconds(5)), 0) << task;
  }
}

class ShutdownTest : public ::testing::TestWithParam<bool> {};

TEST_P(ShutdownTest, EndsAllWellAndFreesThePorts) {
  DaemonCluster cluster(2, 1);
  cluster.StartAll();
  std::unique_ptr<Process> client;
  if (GetParam()) {
    client = cluster.StartClient(EndlessTraining());
    COHORT_ASSERT_OK(client->WaitForLine("step ", Soon()).status());
  }
  const Finished shutdown = testing::RunClient({"shutdown", "--cluster=" + cluster.address("worker:1")});
  EXPECT_EQ(shutdown.exit_code, 0) << shutdown.err;
  const absl::Time deadline = absl::Now() + absl::Seconds(5);
  for (const std::string& task : cluster.tasks()) EXPECT_EQ(cluster.WaitExit(task, deadline), 0) << task;
  if (client != nullptr) {
    const absl::StatusOr<int> code = client->Wait(Soon());
    ASSERT_TRUE(code.ok()) << code.status();
    EXPECT_EQ(*code, 1) << client->err();
    EXPECT_THAT(client->err(), HasSubstr("shut down by a client"));
  }
  cluster.StartAll();  // on the same ports
}

INSTANTIATE_TEST_SUITE_P(Cases, ShutdownTest, ::testing::Bool(),
                         [](const auto& test) { return std::string(test.param ? "Training" : "Idle"); });

TEST(LifetimeTest, DaemonsOfAJobEndWithIt) {
  DaemonCluster cluster(2, 1, {"--lifetime=job"});
  cluster.StartAll();
  EXPECT_EQ(cluster.RunClient(kShort).exit_code, 0);
  for (const std::string& task : cluster.tasks()) EXPECT_EQ(cluster.WaitExit(task, Soon()), 0) << task;
}

TEST(LifetimeTest, DaemonsOfAJobEndWithItsClient) {
  DaemonCluster cluster(2, 2, {"--lifetime=job", "--lease=2s"});
  cluster.StartAll();
  const auto client = cluster.StartClient(EndlessTraining());
  COHORT_ASSERT_OK(client->WaitForLine("step ", Soon()).status());
  client->Signal(SIGKILL);
  const absl::Time killed = absl::Now();
  for (const std::string& task : cluster.tasks()) {
    EXPECT_EQ(cluster.WaitExit(task, killed + absl::Seconds(5)), 1) << task;
    EXPECT_THAT(cluster.daemon(task).err() + cluster.daemon(task).out(), HasSubstr("its client is gone")) << task;
  }
  EXPECT_GE(absl::Now() - killed, absl::Seconds(2));  // it might have come back
}

}  // namespace
}  // namespace cohort::testing
