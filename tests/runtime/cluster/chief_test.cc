#include "runtime/cluster/chief.h"

#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOkAndHolds;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr char kChiefName[] = "/job:chief/replica:0/task:0";
constexpr char kWorkerName[] = "/job:worker/replica:0/task:0";

ClusterSpec Make(const char* json) { return ParseClusterSpec(json).value(); }

// The clusters of the rules: A chief, 2 workers, 2 ps; B 2 workers; C chief, 2 workers, evaluator.
class ChiefTest : public ::testing::Test {
 protected:
  const ClusterSpec a_ = Make(R"({"chief":["c:1"],"worker":["w0:1","w1:1"],"ps":["p0:1","p1:1"]})");
  const ClusterSpec b_ = Make(R"({"worker":["w0:1","w1:1"]})");
  const ClusterSpec b_ps_ = Make(R"({"worker":["w0:1","w1:1"],"ps":["p0:1","p1:1"]})");
  const ClusterSpec c_ = Make(R"({"chief":["c:1"],"worker":["w0:1","w1:1"],"evaluator":["e:1"]})");
  const ClusterSpec two_chiefs_ = ClusterSpec::Create({{"chief", {{0, "c:1"}, {1, "d:1"}}}}).value();
  const ClusterSpec none_;
};

TEST_F(ChiefTest, Rule1Dot13IsChief) {
  EXPECT_THAT(IsChief(a_, {"chief", 0}), IsOkAndHolds(true));
  EXPECT_THAT(IsChief(a_, {"worker", 0}), IsOkAndHolds(false));
  EXPECT_THAT(IsChief(a_, {"ps", 0}), IsOkAndHolds(false));
  EXPECT_THAT(IsChief(b_, {"worker", 0}), IsOkAndHolds(true));
  EXPECT_THAT(IsChief(b_, {"worker", 1}), IsOkAndHolds(false));
  EXPECT_THAT(IsChief(b_, {"chief", 0}), StatusIs(kInvalid, HasSubstr("not found")));
  EXPECT_THAT(IsChief(b_, {"worker", 2}), StatusIs(kInvalid, HasSubstr("exceeds the maximum id")));
  EXPECT_THAT(IsChief(c_, {"evaluator", 0}), IsOkAndHolds(true));
  EXPECT_THAT(IsChief(none_, {}), IsOkAndHolds(true));
}

TEST_F(ChiefTest, Rule1Dot14WorkerCount) {
  EXPECT_THAT(WorkerCount(a_, "chief"), IsOkAndHolds(3));
  EXPECT_THAT(WorkerCount(a_, "worker"), IsOkAndHolds(3));
  EXPECT_THAT(WorkerCount(c_, "evaluator"), IsOkAndHolds(1));
  EXPECT_THAT(WorkerCount(a_, "ps"), StatusIs(kInvalid, HasSubstr("Unexpected task_type 'ps'")));
  EXPECT_THAT(WorkerCount(none_, "worker"), StatusIs(kInvalid, HasSubstr("not found")));
  EXPECT_THAT(WorkerCount(Make(R"({"worker":{"3":"w3:1"}})"), "worker"), IsOkAndHolds(1));
}

TEST_F(ChiefTest, Rule1Dot15IdInCluster) {
  EXPECT_THAT(IdInCluster(a_, {"chief", 0}), IsOkAndHolds(0));
  EXPECT_THAT(IdInCluster(a_, {"worker", 1}), IsOkAndHolds(2));
  EXPECT_THAT(IdInCluster(b_, {"worker", 1}), IsOkAndHolds(1));
  EXPECT_THAT(IdInCluster(c_, {"evaluator", 0}), IsOkAndHolds(0));
  EXPECT_THAT(IdInCluster(a_, {"ps", 0}), StatusIs(kInvalid, HasSubstr("no id for task_type")));
  EXPECT_THAT(IdInCluster(two_chiefs_, {"chief", 0}), StatusIs(kInvalid, HasSubstr("at most one 'chief'")));
}

TEST_F(ChiefTest, Rule1Dot16CollectiveLeader) {
  EXPECT_THAT(CollectiveLeader(none_, {}), IsOkAndHolds(""));
  EXPECT_THAT(CollectiveLeader(c_, {"evaluator", 0}), IsOkAndHolds(""));
  EXPECT_THAT(CollectiveLeader(a_, {"worker", 0}), IsOkAndHolds(kChiefName));
  EXPECT_THAT(CollectiveLeader(b_ps_, {"worker", 1}), IsOkAndHolds(kWorkerName));
}

TEST_F(ChiefTest, Rule1Dot17CoordinationLeader) {
  EXPECT_EQ(CoordinationLeader(a_), "/job:ps/replica:0/task:0");
  EXPECT_EQ(CoordinationLeader(c_), kChiefName);
  EXPECT_EQ(CoordinationLeader(b_), kWorkerName);
  EXPECT_EQ(CoordinationLeader(none_), "");
}

TEST_F(ChiefTest, Rule1Dot18EvaluatorWithoutEntryIsAlone) {
  EXPECT_THAT(IsChief(a_, {"evaluator", 0}), IsOkAndHolds(true));
  EXPECT_THAT(WorkerCount(a_, "evaluator"), IsOkAndHolds(1));
  EXPECT_THAT(IdInCluster(a_, {"evaluator", 0}), IsOkAndHolds(0));
  EXPECT_THAT(CollectiveLeader(a_, {"evaluator", 0}), IsOkAndHolds(""));
}

TEST_F(ChiefTest, Rule1Dot19OnlyTheChiefSavesInMultiWorkerStrategies) {
  TfConfig config{.cluster = a_, .self = TaskId{"worker", 0}, .rpc_layer = "", .session_master = "", .warnings = {}};
  for (const char* strategy : {"multi_worker_mirrored", "parameter_server"}) {
    config.self = TaskId{"worker", 0};
    EXPECT_THAT(ShouldCheckpoint(strategy, config), IsOkAndHolds(false)) << strategy;
    config.self = TaskId{"chief", 0};
    EXPECT_THAT(ShouldCheckpoint(strategy, config), IsOkAndHolds(true)) << strategy;
  }
  config.self = TaskId{"worker", 1};
  for (const char* strategy : {"one_device", "mirrored", "central_storage", "default"}) {
    EXPECT_THAT(ShouldCheckpoint(strategy, config), IsOkAndHolds(true)) << strategy;
  }
  EXPECT_THAT(ShouldCheckpoint("multi_worker_mirrored", TfConfig{}), IsOkAndHolds(true));
}

TEST_F(ChiefTest, LeaderIsChiefElseWorkerZero) {
  EXPECT_THAT(LeaderTask(a_), IsOkAndHolds(TaskId{"chief", 0}));
  EXPECT_THAT(LeaderTask(b_ps_), IsOkAndHolds(TaskId{"worker", 0}));
  EXPECT_THAT(LeaderTask(none_), IsOkAndHolds(TaskId{"worker", 0}));
  EXPECT_THAT(LeaderTask(Make(R"({"worker":{"1":"w1:1"},"ps":["p0:1"]})")), StatusIs(kInvalid, HasSubstr("worker 0")));
}

TEST_F(ChiefTest, R02TwoWorkersGroup) {
  EXPECT_THAT(SyncGroup(b_), ElementsAre(TaskId{"worker", 0}, TaskId{"worker", 1}));
  EXPECT_THAT(IsChief(b_, {"worker", 0}), IsOkAndHolds(true));
  EXPECT_THAT(IsChief(b_, {"worker", 1}), IsOkAndHolds(false));
}

TEST_F(ChiefTest, R02ChiefAndTwoWorkersGroup) {
  EXPECT_THAT(SyncGroup(a_), ElementsAre(TaskId{"chief", 0}, TaskId{"worker", 0}, TaskId{"worker", 1}));
  EXPECT_THAT(IdInCluster(a_, {"chief", 0}), IsOkAndHolds(0));
  EXPECT_THAT(IdInCluster(a_, {"worker", 0}), IsOkAndHolds(1));
  EXPECT_THAT(IdInCluster(a_, {"worker", 1}), IsOkAndHolds(2));
}

}  // namespace
}  // namespace cohort
