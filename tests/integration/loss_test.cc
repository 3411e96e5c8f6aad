// Tasks that die, fall silent or are late while they train: who is told what, and what goes on.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/integration/cohort.h"
#include "tests/testing/status_matchers.h"

namespace cohort::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Silence is noticed early.
const Words kQuick = {"--heartbeat=200ms", "--peer_lost=1500ms"};

// An attached client whose training is under way.
std::unique_ptr<Process> StartTraining(const DaemonCluster& cluster,
                                       const std::string& strategy = "multi_worker_mirrored") {
  std::unique_ptr<Process> client = cluster.StartClient(EndlessTraining(strategy));
  COHORT_EXPECT_OK(client->WaitForLine("step ", Soon()).status());
  return client;
}

// The client ends in time and says to be restarted, because of `task`.
void ExpectBlamed(Process& client, const std::string& task, absl::Duration within) {
  const absl::Time start = absl::Now();
  const absl::StatusOr<int> code = client.Wait(start + absl::Seconds(60));
  const absl::Duration took = absl::Now() - start;
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(*code, 138);
  EXPECT_LT(took, within);
  EXPECT_THAT(client.err(), HasSubstr(LongName(task)));
  EXPECT_EQ(LineCount(client.err()), 1) << client.err();
}

void ExpectTrains(const DaemonCluster& cluster, const std::string& strategy = "multi_worker_mirrored") {
  const Finished next = cluster.RunClient({"train", "--model=linear", "--dataset=synthetic", "--steps=20",
                                           "--evaluate=0", "--strategy=" + strategy, "--json"});
  EXPECT_EQ(next.exit_code, 0) << next.err;
  const json result = json::parse(LastLine(next.out), nullptr, /*allow_exceptions=*/false);
  ASSERT_TRUE(result.is_object()) << next.out;
  EXPECT_EQ(result["steps"], 20);
}

int64_t Epoch(const DaemonCluster& cluster) {
  const Finished status = cluster.RunClient({"status", "--json"});
  EXPECT_EQ(status.exit_code, 0) << status.err;
  const json parsed = json::parse(LastLine(status.out), nullptr, /*allow_exceptions=*/false);
  return parsed.is_object() ? parsed["epoch"].get<int64_t>() : -1;
}

TEST(LossTest, AKilledWorkerEndsTheJobAndIsTakenBack) {
  DaemonCluster cluster(2, 0);  // with the times that users have
  cluster.StartAll();
  const int64_t epoch = Epoch(cluster);
  const auto client = StartTraining(cluster);
  cluster.Kill("worker:1");
  ExpectBlamed(*client, "worker:1", absl::Seconds(7));
  EXPECT_THAT(client->err(), Not(HasSubstr(LongName("worker:0") + " at")));
  EXPECT_TRUE(cluster.daemon("worker:0").running());

  cluster.Start("worker:1");
  ExpectTrains(cluster);  // waits for the task that comes back
  EXPECT_GT(Epoch(cluster), epoch);
}

// 50,000 numbers travel in each step, so that most moments are in the middle of a collective.
TEST(LossTest, AtAnyMomentTheOthersDropTheJobAndServeTheNext) {
  DaemonCluster cluster(3, 0);
  cluster.StartAll();
  std::mt19937 random(8);
  for (int round = 0; round < 5; ++round) {
    const std::string victim = absl::StrCat("worker:", 1 + round % 2);
    SCOPED_TRACE(absl::StrCat("round ", round, ", ", victim));
    const auto client =
        cluster.StartClient({"train", "--model=mlp", "--hidden=64", "--dataset=synthetic", "--steps=100000000",
                             "--evaluate=0", "--report_every=1", "--strategy=multi_worker_mirrored"});
    COHORT_ASSERT_OK(client->WaitForLine("step ", Soon()).status());
    absl::SleepFor(absl::Microseconds(random() % 200000));  // waits for nothing: any moment will do
    cluster.Kill(victim);
    ExpectBlamed(*client, victim, absl::Seconds(5));
    cluster.StartAll();  // a job that begins before the leader has seen the new one ends with the old one
    ExpectTrains(cluster);
  }
}

TEST(LossTest, ASurvivorWithTheJobsLifetimeAsksForARestart) {
  DaemonCluster cluster(3, 0, {"--lifetime=job"});
  cluster.StartAll();
  const auto client = StartTraining(cluster);
  cluster.Kill("worker:1");
  ExpectBlamed(*client, "worker:1", absl::Seconds(7));
  EXPECT_EQ(cluster.WaitExit("worker:0", absl::Now() + absl::Seconds(7)), 138);
  EXPECT_EQ(cluster.WaitExit("worker:2", absl::Now() + absl::Seconds(7)), 138);
}

TEST(LossTest, AKilledParameterServerIsNamed) {
  DaemonCluster cluster(2, 1);
  cluster.StartAll();
  const auto client = StartTraining(cluster, "parameter_server");
  cluster.Kill("ps:0");
  ExpectBlamed(*client, "ps:0", absl::Seconds(7));
  cluster.Start("ps:0");
  ExpectTrains(cluster, "parameter_server");
}

TEST(LossTest, AKilledWorkerEndsAParameterServerTraining) {
  DaemonCluster cluster(2, 1);
  cluster.StartAll();
  const auto client = StartTraining(cluster, "parameter_server");
  cluster.Kill("worker:1");
  ExpectBlamed(*client, "worker:1", absl::Seconds(7));
}

TEST(LossTest, ASilentWorkerIsNamed) {
  DaemonCluster cluster(2, 0, kQuick);
  cluster.StartAll();
  const auto client = StartTraining(cluster);
  cluster.daemon("worker:1").Signal(SIGSTOP);
  ExpectBlamed(*client, "worker:1", absl::Seconds(4));
  cluster.daemon("worker:1").Signal(SIGCONT);  // back with its old incarnation, and none of its old work
  ExpectTrains(cluster);
}

TEST(LossTest, AKilledLeaderIsNamedAndServedAgain) {
  DaemonCluster cluster(2, 0, kQuick);
  cluster.StartAll();
  const auto client = StartTraining(cluster);
  cluster.Kill("worker:0");
  ExpectBlamed(*client, "worker:0", absl::Seconds(7));
  COHORT_EXPECT_OK(cluster.daemon("worker:1").WaitForLine("the leader", Soon()).status());
  cluster.Start("worker:0");
  COHORT_ASSERT_OK(cluster.daemon("worker:0").WaitForLine("ready: ", Soon()).status());
  ExpectTrains(cluster);
}

TEST(LossTest, ALeaderThatIsLostEndsDaemonsOfTheJob) {
  Words flags = kQuick;
  flags.push_back("--lifetime=job");
  DaemonCluster cluster(2, 0, flags);
  cluster.StartAll();
  const auto client = StartTraining(cluster);
  cluster.Kill("worker:0");
  EXPECT_EQ(cluster.WaitExit("worker:1", absl::Now() + absl::Seconds(7)), 138);
  EXPECT_THAT(cluster.daemon("worker:1").err() + cluster.daemon("worker:1").out(), HasSubstr(LongName("worker:0")));
}

TEST(ChaosTest, KillsBeforeAStep) {
  DaemonCluster cluster(2, 0, {"--chaos=kill:/job:worker/task:1@step=7"});
  cluster.StartAll();
  const auto client = cluster.StartClient(EndlessTraining());
  EXPECT_EQ(cluster.WaitExit("worker:1", Soon()), 137);
  ExpectBlamed(*client, "worker:1", absl::Seconds(7));
}

TEST(ChaosTest, StopsBeforeAStep) {
  Words flags = kQuick;
  flags.push_back("--chaos=stop:/job:worker/task:1@step=7");
  DaemonCluster cluster(2, 0, flags);
  cluster.StartAll();
  const auto client = cluster.StartClient(EndlessTraining());
  COHORT_ASSERT_OK(cluster.daemon("worker:1").WaitForLine("before step 7", Soon()).status());
  ExpectBlamed(*client, "worker:1", absl::Seconds(4));
}

TEST(ChaosTest, ALateWorkerIsNamedWithTheCollectiveItMissed) {
  DaemonCluster cluster(4, 0, {"--collective_timeout=1s", "--chaos=delay=20s:/job:worker/task:2@step=7"});
  cluster.StartAll();
  const auto client = cluster.StartClient(EndlessTraining());
  COHORT_ASSERT_OK(cluster.daemon("worker:2").WaitForLine("before step 7", Soon()).status());
  const absl::StatusOr<int> code = client->Wait(absl::Now() + absl::Seconds(6));
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(*code, 138);
  EXPECT_THAT(client->err(), AllOf(HasSubstr("step 7"), HasSubstr("missing"), HasSubstr(LongName("worker:2"))));
}

TEST(ChaosTest, AWrongFormIsRefused) {
  DaemonCluster cluster(1, 0);
  cluster.Start("worker:0", {"--chaos=explode:/job:worker/task:1@step=7"});
  EXPECT_EQ(cluster.WaitExit("worker:0", absl::Now() + absl::Seconds(10)), 2);
}

}  // namespace
}  // namespace cohort::testing
