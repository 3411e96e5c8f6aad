// The reference trajectories of tests/testdata/golden over processes: the loss of every step, on clusters of several
// shapes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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

using nlohmann::json;

constexpr const char* kGoldens[] = {"linear_sgd_b128",    "linear_adam_b128",  "mlp_sgd_b128",     "mlp_sgd_b100",
                                    "mlp_sgd_b128_n1000", "mlp_momentum_b128", "mlp_adagrad_b128", "mlp_adam_b128",
                                    "cnn_sgd_b128",       "cnn_adam_b128"};

struct ClusterShape {
  const char* name;
  int workers;
  int parameter_servers;
};

class GoldenTest : public ::testing::TestWithParam<ClusterShape> {
 protected:
  // The losses that a training of the cluster writes, by step.
  std::vector<double> Train(const DaemonCluster& cluster, const json& golden) {
    const std::string path = absl::StrCat(::testing::TempDir(), "/losses.jsonl");
    const auto flag = [&](const char* name, const char* key) {
      const json& value = golden[key];
      return absl::StrCat("--", name, "=", value.is_string() ? value.get<std::string>() : value.dump());
    };
    const Finished finished = cluster.RunClient(
        {"train", "--initializer=golden", "--shuffle=none", "--evaluate=0", flag("model", "model"),
         flag("optimizer", "optimizer"), flag("learning_rate", "learning_rate"), flag("batch_size", "global_batch"),
         flag("steps", "steps"), flag("examples", "examples"), "--losses=" + path,
         GetParam().parameter_servers > 0 ? "--strategy=parameter_server" : "--strategy=multi_worker_mirrored"});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    std::vector<double> losses;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
      const json step = json::parse(line);
      EXPECT_EQ(step["step"], losses.size() + 1);
      losses.push_back(step["loss"]);
    }
    return losses;
  }
};

TEST_P(GoldenTest, EveryStepIsWithinItsBound) {
  DaemonCluster cluster(GetParam().workers, GetParam().parameter_servers);
  cluster.StartAll();
  for (const char* name : kGoldens) {
    SCOPED_TRACE(name);
    std::ifstream in(absl::StrCat("tests/testdata/golden/", name, ".json"));
    const json golden = json::parse(in);
    const std::vector<double> losses = Train(cluster, golden);
    ASSERT_EQ(losses.size(), golden["losses"].size());
    double worst = 0;
    for (size_t i = 0; i < losses.size(); ++i) {
      const double expected = golden["losses"][i];
      worst = std::max(worst, std::abs(losses[i] - expected) / std::max(std::abs(expected), 1e-3));
    }
    EXPECT_LE(worst, golden["bound"].get<double>());
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, GoldenTest,
                         ::testing::Values(ClusterShape{"TwoWorkers", 2, 0}, ClusterShape{"FourWorkers", 4, 0},
                                           ClusterShape{"OnePsAndOneWorker", 1, 1}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace cohort::testing
