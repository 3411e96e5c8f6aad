// Section 12: the tests that show a wrong implementation first, as far as clusters, devices and placement go.
#include <vector>

#include "runtime/cluster/chief.h"
#include "runtime/cluster/device_merge.h"
#include "runtime/cluster/device_name.h"
#include "runtime/cluster/tf_config.h"
#include "runtime/distribute/replica_ids.h"
#include "runtime/distribute/round_robin.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::IsOkAndHolds;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST(FirstThirtyTest, Rule12x1TwoWorkersAndAPs) {
  const auto config =
      ParseTfConfig(R"({"cluster":{"worker":["w0:1","w1:1"],"ps":["p0:1"]},"task":{"type":"worker","index":"1"}})");
  ASSERT_THAT(config, IsOk());
  const TaskId self{"worker", 1};
  EXPECT_EQ(config->self, self);
  const StrategyShape one_device_each{.kind = StrategyKind::kMultiWorkerMirrored,
                                      .num_workers = WorkerCount(config->cluster, "worker").value(),
                                      .replicas_per_worker = 1};
  EXPECT_EQ(one_device_each.num_replicas(), 2);
  EXPECT_THAT(IsChief(config->cluster, self), IsOkAndHolds(false));
  EXPECT_THAT(IdInCluster(config->cluster, self), IsOkAndHolds(1));
  EXPECT_THAT(CollectiveLeader(config->cluster, self), IsOkAndHolds("/job:worker/replica:0/task:0"));
}

TEST(FirstThirtyTest, Rule12x2ChiefAndTwoWorkers) {
  const ClusterSpec cluster = ParseClusterSpec(R"({"chief":["c:1"],"worker":["w0:1","w1:1"]})").value();
  EXPECT_THAT(WorkerCount(cluster, "worker"), IsOkAndHolds(3));
  EXPECT_THAT(IdInCluster(cluster, {"worker", 1}), IsOkAndHolds(2));
  const StrategyShape two_devices_each{
      .kind = StrategyKind::kMultiWorkerMirrored, .num_workers = 3, .replicas_per_worker = 2};
  EXPECT_EQ(GlobalReplicaId(two_devices_each, *IdInCluster(cluster, {"worker", 1}), 0), 4);
  EXPECT_THAT(CollectiveLeader(cluster, {"worker", 1}), IsOkAndHolds("/job:chief/replica:0/task:0"));
  EXPECT_THAT(IsChief(cluster, {"chief", 0}), IsOkAndHolds(true));
  EXPECT_THAT(IsChief(cluster, {"worker", 0}), IsOkAndHolds(false));
}

TEST(FirstThirtyTest, Rule12x3FourWrongClusters) {
  const ClusterSpec cluster = ParseClusterSpec(R"({"worker":["w0:1","w1:1"],"ps":["p0:1"]})").value();
  const ClusterSpec chiefs = ClusterSpec::Create({{"chief", {{0, "c:1"}, {1, "d:1"}}}}).value();
  const ClusterSpec foo = ClusterSpec::Create({{"foo", {{0, "f:1"}}}}).value();
  EXPECT_THAT(IdInCluster(cluster, {"worker", 2}), StatusIs(kInvalid, HasSubstr("exceeds the maximum id")));
  EXPECT_THAT(IdInCluster(cluster, {"ps", 0}), StatusIs(kInvalid, HasSubstr("no id for task_type")));
  EXPECT_THAT(IdInCluster(chiefs, {"chief", 0}), StatusIs(kInvalid, HasSubstr("at most one 'chief' job")));
  EXPECT_THAT(IsChief(foo, {"worker", 0}), StatusIs(kInvalid, HasSubstr("Disallowed task type found")));
}

TEST(FirstThirtyTest, Rule12x4SparseJob) {
  const ClusterSpec cluster = ParseClusterSpec(R"({"worker":{"3":"h:1","0":"g:1"}})").value();
  EXPECT_THAT(cluster.num_tasks("worker"), IsOkAndHolds(2));
  EXPECT_THAT(cluster.task_indices("worker"), IsOkAndHolds(ElementsAre(0, 3)));
  EXPECT_THAT(cluster.job_tasks("worker"), IsOkAndHolds(ElementsAre("g:1", std::nullopt, std::nullopt, "h:1")));
}

TEST(FirstThirtyTest, Rule12x5Canonicalize) {
  for (const char* device : {"/gpu:0", "GPU:0", "/device:gpu:0"}) {
    EXPECT_THAT(CanonicalDevice(device), IsOkAndHolds("/job:localhost/replica:0/task:0/device:GPU:0")) << device;
  }
  EXPECT_THAT(CanonicalDevice("/job:worker/task:1", "/gpu:0"),
              IsOkAndHolds("/job:worker/replica:0/task:1/device:GPU:0"));
}

TEST(FirstThirtyTest, Rule12x6Merges) {
  const auto name = [](const char* text) { return ParseDeviceName(text).value(); };
  EXPECT_THAT(StrictMerge(name("/job:foo"), name("/job:bar")), StatusIs(kInvalid, HasSubstr("incompatible jobs")));
  EXPECT_EQ(OverrideMerge(name("/task:1/device:CPU:0"), name("/job:boo/device:GPU:0")).ToString(),
            "/job:boo/task:1/device:GPU:0");
}

// Partitioners and sharded look-ups come with sharded variables.
TEST(FirstThirtyTest, Rule12x29RoundRobinOverThreePs) {
  RoundRobin placement(3);
  std::vector<int64_t> servers;
  for (int k = 0; k < 4; ++k) servers.push_back(placement.Next());
  EXPECT_THAT(servers, ElementsAre(0, 1, 2, 0));
}

}  // namespace
}  // namespace cohort
