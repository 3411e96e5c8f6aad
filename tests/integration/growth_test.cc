// What daemons hold after much work is what they held after little.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/integration/cohort.h"
#include "tests/testing/status_matchers.h"

namespace cohort::testing {
namespace {

using nlohmann::json;

using Held = std::map<std::string, Resources>;  // by task

Held HeldBy(DaemonCluster& cluster) {
  Held held;
  for (const std::string& task : cluster.tasks()) held[task] = ResourcesOf(cluster.daemon(task).pid());
  return held;
}

// gRPC starts threads when it is busy, up to a number of its own; descriptors come and go with connections. What is
// left behind for each job or step would be far more.
void ExpectNoMoreThreadsOrDescriptors(const Held& early, const Held& late) {
  for (const auto& [task, before] : early) {
    EXPECT_LE(late.at(task).threads, before.threads + 8) << task;
    EXPECT_LE(late.at(task).descriptors, before.descriptors + 4) << task;
  }
}

// Waits until every worker has taken that many steps.
void WaitForStep(const DaemonCluster& cluster, int64_t step) {
  const absl::Time deadline = Soon();
  while (absl::Now() < deadline) {
    const Finished status = cluster.RunClient({"status", "--json"});
    ASSERT_EQ(status.exit_code, 0) << status.err;
    const json parsed = json::parse(LastLine(status.out), nullptr, /*allow_exceptions=*/false);
    ASSERT_TRUE(parsed.is_object()) << status.out;
    int workers = 0;
    bool reached = true;
    for (const json& member : parsed.at("members")) {
      if (member.at("task").get<std::string>().starts_with("/job:ps")) continue;
      ++workers;
      reached &= member.at("last_step").get<int64_t>() >= step;
    }
    ASSERT_EQ(workers, 2) << status.out;
    if (reached) return;
  }
  FAIL() << "step " << step << " is not reached";
}

class GrowthTest : public ::testing::TestWithParam<std::string> {};

TEST_P(GrowthTest, StepsLeaveNothingBehind) {
  DaemonCluster cluster(2, 1);
  cluster.StartAll();
  const auto client = cluster.StartClient(EndlessTraining(GetParam()));
  WaitForStep(cluster, 2000);
  const Held early = HeldBy(cluster);
  WaitForStep(cluster, 20000);
  const Held late = HeldBy(cluster);
  ASSERT_TRUE(client->running()) << client->err();
  ExpectNoMoreThreadsOrDescriptors(early, late);
  for (const auto& [task, before] : early) {
    EXPECT_LT(late.at(task).resident_bytes, before.resident_bytes + 5'000'000) << task;
  }
}

TEST_P(GrowthTest, JobsLeaveNothingBehind) {
  DaemonCluster cluster(2, 1);
  cluster.StartAll();
  const auto train = [&](int jobs) {
    for (int i = 0; i < jobs; ++i) {
      const Finished job = cluster.RunClient(
          {"train", "--model=linear", "--dataset=synthetic", "--steps=4", "--evaluate=0", "--strategy=" + GetParam()});
      ASSERT_EQ(job.exit_code, 0) << job.err;
    }
  };
  train(5);
  const Held early = HeldBy(cluster);
  train(30);
  ExpectNoMoreThreadsOrDescriptors(early, HeldBy(cluster));
}

INSTANTIATE_TEST_SUITE_P(Strategies, GrowthTest, ::testing::Values("multi_worker_mirrored", "parameter_server"),
                         [](const auto& test) { return test.param == "parameter_server" ? "Servers" : "Workers"; });

}  // namespace
}  // namespace cohort::testing
