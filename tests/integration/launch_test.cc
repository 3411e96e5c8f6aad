// One line for every task, as Kubernetes, Slurm and mpirun start it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/integration/cohort.h"
#include "tests/testing/status_matchers.h"

namespace cohort::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

using Shells = std::map<std::string, std::unique_ptr<Process>>;

// The same line in one shell for each task.
Shells Launch(const DaemonCluster& cluster, const Words& line) {
  Shells shells;
  for (const std::string& task : cluster.tasks()) {
    shells[task] = StartClient(line, {{"TF_CONFIG", cluster.TfConfig(task)}});
  }
  return shells;
}

int WaitExit(const Shells& shells, const std::string& task) {
  const absl::StatusOr<int> code = shells.at(task)->Wait(Soon());
  EXPECT_TRUE(code.ok()) << task << ": " << code.status();
  return code.value_or(-1);
}

TEST(LaunchTest, AllTrainAndAllEndWell) {
  for (const std::string strategy : {"parameter_server", "multi_worker_mirrored"}) {
    SCOPED_TRACE(strategy);
    DaemonCluster cluster(2, 1);
    const Shells shells = Launch(cluster, {"launch", "--", "train", "--model=mlp", "--steps=40", "--evaluate=0",
                                           "--strategy=" + strategy, "--json"});
    for (const std::string& task : cluster.tasks()) {
      EXPECT_EQ(WaitExit(shells, task), 0) << task << ": " << shells.at(task)->err();
    }
    const json result = json::parse(LastLine(shells.at("worker:0")->out()), nullptr, /*allow_exceptions=*/false);
    ASSERT_TRUE(result.is_object()) << shells.at("worker:0")->out();
    EXPECT_EQ(result["steps"], 40);
    EXPECT_EQ(result["workers"].size(), 2);
  }
}

TEST(LaunchTest, AFailedJobEndsAllWithItsCode) {
  DaemonCluster cluster(3, 0);
  Words line = {"launch", "--daemon_flags=--chaos=kill:/job:worker/task:1@step=7", "--"};
  const Words train = EndlessTraining();
  line.insert(line.end(), train.begin(), train.end());
  const Shells shells = Launch(cluster, line);
  EXPECT_EQ(WaitExit(shells, "worker:1"), 137);
  EXPECT_EQ(WaitExit(shells, "worker:0"), 138);
  EXPECT_EQ(WaitExit(shells, "worker:2"), 138);
}

TEST(LaunchTest, ACancelledJobEndsAllWithItsCode) {
  DaemonCluster cluster(2, 1);
  Words line = {"launch", "--"};
  const Words train = EndlessTraining("parameter_server");
  line.insert(line.end(), train.begin(), train.end());
  const Shells shells = Launch(cluster, line);
  COHORT_ASSERT_OK(shells.at("worker:0")->WaitForLine("step ", Soon()).status());
  EXPECT_EQ(cluster.RunClient({"cancel", "1"}).exit_code, 0);
  for (const std::string& task : cluster.tasks()) EXPECT_EQ(WaitExit(shells, task), 1) << task;
}

TEST(LaunchTest, AWrongLineEndsEverywhere) {
  DaemonCluster cluster(2, 0);
  for (const Words& line : {Words{"launch", "--", "train", "--modle=mlp"}, Words{"launch", "--", "status"},
                            Words{"launch"}, Words{"launch", "--", "train", "--model=resnet9000"},
                            Words{"launch", "--", "train", "--model=linear", "--detach"},
                            Words{"launch", "--", "train", "--model=linear", "--strategy=parameter_server"}}) {
    const Shells shells = Launch(cluster, line);
    for (const std::string& task : cluster.tasks()) {
      EXPECT_EQ(WaitExit(shells, task), 2) << line.back() << " " << task;
      EXPECT_NE(shells.at(task)->err(), "");
    }
  }
}

TEST(LaunchTest, AMissingOrWrongProgramEndsEverywhereAtOnce) {
  DaemonCluster cluster(2, 1);
  const std::string wrong = ::testing::TempDir() + "/wrong.cohort";
  std::ofstream(wrong) << "no program";
  for (const std::string& file : {std::string("/nonexistent.cohort"), wrong}) {
    const absl::Time start = absl::Now();
    const Shells shells = Launch(cluster, {"launch", "--", "run", file});
    for (const std::string& task : cluster.tasks()) {
      EXPECT_EQ(WaitExit(shells, task), 2) << file << " " << task;
      EXPECT_THAT(shells.at(task)->err(), HasSubstr(file)) << task;
    }
    EXPECT_LT(absl::Now() - start, absl::Seconds(5));
  }
}

TEST(LaunchTest, ASavedProgramIsRunByAll) {
  DaemonCluster cluster(2, 0);
  const std::string file = ::testing::TempDir() + "/saved.cohort";
  const Finished saved = RunClient({"train", "--model=linear", "--dataset=synthetic", "--steps=5", "--evaluate=0",
                                    "--strategy=multi_worker_mirrored", "--export=" + file});
  ASSERT_EQ(saved.exit_code, 0) << saved.err;
  const Shells shells = Launch(cluster, {"launch", "--", "run", file});
  for (const std::string& task : cluster.tasks()) EXPECT_EQ(WaitExit(shells, task), 0) << shells.at(task)->err();
}

TEST(LaunchTest, ATaskWhoseLeaderNeverCameAsksForARestart) {
  DaemonCluster cluster(2, 0);
  const auto shell =
      StartClient({"launch", "--daemon_flags=--start_timeout=2s", "--", "train", "--model=linear", "--steps=5"},
                  {{"TF_CONFIG", cluster.TfConfig("worker:1")}});
  EXPECT_EQ(*shell->Wait(Soon()), 138);
  EXPECT_THAT(shell->err() + shell->out(), HasSubstr(LongName("worker:0")));
}

TEST(LaunchTest, WithoutAClusterItSaysWhatToDo) {
  const Finished finished = RunClient({"launch", "--", "train"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("TF_CONFIG"));
}

TEST(LaunchTest, TerminatedTasksEndAsPreempted) {
  DaemonCluster cluster(2, 0);
  Words line = {"launch", "--"};
  const Words train = EndlessTraining();
  line.insert(line.end(), train.begin(), train.end());
  const Shells shells = Launch(cluster, line);
  COHORT_ASSERT_OK(shells.at("worker:0")->WaitForLine("step ", Soon()).status());
  shells.at("worker:1")->Signal(SIGTERM);
  EXPECT_EQ(WaitExit(shells, "worker:1"), 143);
  EXPECT_EQ(WaitExit(shells, "worker:0"), 143) << shells.at("worker:0")->err();
}

}  // namespace
}  // namespace cohort::testing
