// The reference trajectories of tests/testdata/golden over processes: the loss of every step, on clusters of several
// shapes.

#include "tests/testing/golden.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/integration/cohort.h"
#include "tests/testing/status_matchers.h"

namespace cohort::testing {
namespace {

struct ClusterShape {
  const char* name;
  int workers;
  int parameter_servers;
};

class GoldenTest : public ::testing::TestWithParam<ClusterShape> {
 protected:
  // The losses that a training of the cluster writes, by step.
  std::vector<double> Train(const DaemonCluster& cluster, const Golden& golden) {
    const std::string path = absl::StrCat(::testing::TempDir(), "/losses.jsonl");
    const Finished finished = cluster.RunClient(
        {"train", "--initializer=golden", "--shuffle=none", "--evaluate=0", "--model=" + golden.model,
         "--optimizer=" + golden.optimizer, absl::StrCat("--learning_rate=", golden.learning_rate),
         absl::StrCat("--batch_size=", golden.global_batch), absl::StrCat("--steps=", golden.steps),
         absl::StrCat("--examples=", golden.examples), "--losses=" + path,
         GetParam().parameter_servers > 0 ? "--strategy=parameter_server" : "--strategy=multi_worker_mirrored"});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    std::vector<double> losses;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
      const nlohmann::json step = nlohmann::json::parse(line);
      EXPECT_EQ(step["step"], losses.size() + 1);
      losses.push_back(step["loss"]);
    }
    return losses;
  }
};

TEST_P(GoldenTest, EveryStepIsWithinItsBound) {
  DaemonCluster cluster(GetParam().workers, GetParam().parameter_servers);
  cluster.StartAll();
  for (const std::string& name : GoldenNames()) {
    SCOPED_TRACE(name);
    const Golden golden = ReadGolden(name);
    COHORT_EXPECT_OK(CheckLosses(golden, Train(cluster, golden)));
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, GoldenTest,
                         ::testing::Values(ClusterShape{"TwoWorkers", 2, 0}, ClusterShape{"FourWorkers", 4, 0},
                                           ClusterShape{"OnePsAndOneWorker", 1, 1}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace cohort::testing
