// Built-in trainings on clusters of real processes: their result line, their accuracy, their bits.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/integration/cohort.h"

namespace cohort::testing {
namespace {

using nlohmann::json;

Words Line(const Words& first, const Words& rest) {
  Words words = first;
  words.insert(words.end(), rest.begin(), rest.end());
  return words;
}

// The result line of a command that trains.
json Result(const Words& words) {
  const Finished finished = RunClient(words);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  const json result = json::parse(LastLine(finished.out), nullptr, /*allow_exceptions=*/false);
  EXPECT_TRUE(result.is_object()) << finished.out;
  EXPECT_EQ(LineCount(finished.out), 1) << finished.out;
  return result;
}

Words Local(int workers, int parameter_servers) {
  return {"local", absl::StrCat("--workers=", workers), absl::StrCat("--ps=", parameter_servers), "--",
          Runfile("client/cohort")};
}

Words FashionMnist(const std::string& strategy) {
  return {"train",      "--model=mlp", "--dataset=fashion_mnist", "--strategy=" + strategy, "--batch_size=128",
          "--epochs=2", "--json"};
}

void ExpectTrained(const json& result) {
  for (const char* key :
       {"steps", "examples", "loss", "accuracy", "examples_per_second", "weights_crc32c", "state_crc32c"}) {
    EXPECT_TRUE(result.contains(key)) << key;
  }
  EXPECT_EQ(result["examples"], 120000);
  EXPECT_EQ(result["steps"], 2 * 469);
  EXPECT_EQ(result["evaluated"], 10000);
  EXPECT_GT(result["accuracy"], 0.84);
  EXPECT_GT(result["examples_per_second"], 0);
  EXPECT_EQ(result["weights_crc32c"].get<std::string>().size(), 8);
  EXPECT_EQ(result["state_crc32c"].get<std::string>().size(), 8);
}

TEST(TrainingTest, TwoWorkersTrainOnHalfOfTheDataEach) {
  const json result = Result(Line(Local(2, 0), FashionMnist("multi_worker_mirrored")));
  ExpectTrained(result);
  ASSERT_EQ(result["workers"].size(), 2);
  for (int i = 0; i < 2; ++i) {
    const json& worker = result["workers"][i];
    EXPECT_EQ(worker["task"], LongName(absl::StrCat("worker:", i)));
    EXPECT_EQ(worker["weights_crc32c"], result["weights_crc32c"]);
    EXPECT_EQ(worker["examples"], 60000);
    EXPECT_GT(worker["bytes_sent"], 0);
  }
}

TEST(TrainingTest, AParameterServerKeepsTheWeightsOfTwoWorkers) {
  const json result = Result(Line(Local(2, 1), FashionMnist("parameter_server")));
  ExpectTrained(result);
  ASSERT_EQ(result["workers"].size(), 2);
  int64_t examples = 0;
  int64_t steps = 0;
  for (const json& worker : result["workers"]) {
    EXPECT_GT(worker["bytes_sent"], 0);
    examples += worker["examples"].get<int64_t>();
    steps += worker["steps"].get<int64_t>();
  }
  EXPECT_EQ(examples, 120000);
  EXPECT_EQ(steps, 2 * 469);
}

TEST(TrainingTest, OneDeviceNeedsNoCluster) {
  const json result = Result(FashionMnist("one_device"));
  ExpectTrained(result);
  ASSERT_EQ(result["workers"].size(), 1);
  EXPECT_EQ(result["workers"][0]["bytes_sent"], 0);
}

// One cluster for all that follow: a cluster serves one job after the other.
class BitsTest : public ::testing::Test {
 protected:
  static json Train(DaemonCluster& cluster, const Words& more) {
    const Finished finished = cluster.RunClient(Line({"train", "--json", "--batch_size=64", "--evaluate=0"}, more));
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return json::parse(LastLine(finished.out), nullptr, /*allow_exceptions=*/false);
  }
};

TEST_F(BitsTest, EqualSeedsGiveEqualWeights) {
  DaemonCluster cluster(2, 0);
  cluster.StartAll();
  const Words words = {"--strategy=multi_worker_mirrored", "--steps=60", "--seed=7"};
  const json once = Train(cluster, words);
  const json again = Train(cluster, words);
  EXPECT_EQ(again["weights_crc32c"], once["weights_crc32c"]);
  EXPECT_EQ(again["state_crc32c"], once["state_crc32c"]);
  EXPECT_EQ(again["loss"], once["loss"]);
  const json other = Train(cluster, {"--strategy=multi_worker_mirrored", "--steps=60", "--seed=8"});
  EXPECT_NE(other["weights_crc32c"], once["weights_crc32c"]);
}

TEST_F(BitsTest, FourReplicasAreEqualAfterManySteps) {
  DaemonCluster cluster(4, 0);
  cluster.StartAll();
  const json result = Train(cluster, {"--strategy=multi_worker_mirrored", "--steps=200", "--optimizer=momentum"});
  ASSERT_EQ(result["workers"].size(), 4);
  std::set<std::string> bits;
  for (const json& worker : result["workers"]) {
    bits.insert(worker["weights_crc32c"].get<std::string>());
    EXPECT_EQ(worker["steps"], 200);
  }
  EXPECT_EQ(bits, std::set<std::string>{result["weights_crc32c"].get<std::string>()});
}

TEST(ThreadsTest, DoNotChangeBits) {
  const Words words = {"train", "--json", "--batch_size=100", "--steps=40", "--evaluate=0"};
  const json one = Result(Line(words, {"--threads=1"}));
  const json two = Result(Line(words, {"--threads=2"}));
  EXPECT_EQ(two["state_crc32c"], one["state_crc32c"]);
}

}  // namespace
}  // namespace cohort::testing
