// Validation, chief and ids: rules 1.10 to 1.21, and what strategies ask of their cluster.
#include "runtime/cluster/chief.h"
#include "runtime/cluster/requirements.h"
#include "runtime/cluster/standalone.h"
#include "runtime/cluster/tf_config.h"
#include "runtime/cluster/validation.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::IsOkAndHolds;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr char kChiefName[] = "/job:chief/replica:0/task:0";
constexpr char kWorkerName[] = "/job:worker/replica:0/task:0";

ClusterSpec Make(std::vector<ClusterSpec::Job> jobs) { return ClusterSpec::Create(std::move(jobs)).value(); }
ClusterSpec Make(const char* json) { return ParseClusterSpec(json).value(); }
TfConfig Parse(const char* text) { return ParseTfConfig(text).value(); }

// The clusters of the rules: A chief, 2 workers, 2 ps; B 2 workers; C chief, 2 workers, evaluator.
class ClusterRolesTest : public ::testing::Test {
 protected:
  const ClusterSpec a_ = Make(R"({"chief":["c:1"],"worker":["w0:1","w1:1"],"ps":["p0:1","p1:1"]})");
  const ClusterSpec b_ = Make(R"({"worker":["w0:1","w1:1"]})");
  const ClusterSpec b_ps_ = Make(R"({"worker":["w0:1","w1:1"],"ps":["p0:1","p1:1"]})");
  const ClusterSpec c_ = Make(R"({"chief":["c:1"],"worker":["w0:1","w1:1"],"evaluator":["e:1"]})");
  const ClusterSpec two_chiefs_ = ClusterSpec::Create({{"chief", {{0, "c:1"}, {1, "d:1"}}}}).value();
  const ClusterSpec none_;
};

TEST_F(ClusterRolesTest, Rule1x10InOrder) {
  const ClusterSpec workers = Make({{"worker", {{0, "a:1"}, {1, "b:1"}}}});
  const struct {
    ClusterSpec cluster;
    TaskId task;
    const char* phrase;
  } rows[] = {
      {Make({{"ps_hosts", {{0, "a:1"}}}}), {"nobody", 0}, "Disallowed task type found"},
      {workers, {"nobody", 0}, "Unrecognized task_type"},
      {workers, {"chief", 0}, "not found in cluster_spec"},
      {Make({{"chief", {{0, "a:1"}, {1, "b:1"}}}}), {"chief", 5}, "at most one 'chief' job"},
      {Make({{"evaluator", {{0, "a:1"}, {1, "b:1"}}}}), {"evaluator", 5}, "at most one 'evaluator' job"},
      {workers, {"worker", 2}, "exceeds the maximum id of worker"},
      {workers, {"worker", -1}, "index -1 is below 0: 'worker' has 2 tasks (valid 0..1)"},
      {workers, {"evaluator", -1}, "index -1 is below 0"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(ValidateCluster(row.cluster, row.task), StatusIs(kInvalid, HasSubstr(row.phrase))) << row.phrase;
  }
}

TEST_F(ClusterRolesTest, Rule1x10WhatIsValid) {
  const ClusterSpec all =
      Make({{"chief", {{0, "c:1"}}}, {"worker", {{0, "w:1"}}}, {"ps", {{0, "p:1"}}}, {"evaluator", {{0, "e:1"}}}});
  for (const char* job : {"chief", "worker", "ps", "evaluator"}) {
    EXPECT_THAT(ValidateCluster(all, {job, 0}), IsOk()) << job;
    EXPECT_TRUE(IsAllowedJob(job));
  }
  EXPECT_THAT(ValidateCluster(all), IsOk());
  EXPECT_THAT(ValidateCluster(ClusterSpec()), IsOk());
  EXPECT_THAT(ValidateCluster(Make({{"worker", {{0, "w:1"}}}}), {"evaluator", 0}), IsOk());
}

TEST_F(ClusterRolesTest, Rule1x11SparseIndexIsLookedUpNotCounted) {
  const ClusterSpec sparse = Make({{"worker", {{1, "w:1"}}}});
  EXPECT_THAT(ValidateCluster(sparse, {"worker", 1}), IsOk());
  EXPECT_THAT(ValidateCluster(sparse, {"worker", 0}), StatusIs(kInvalid, HasSubstr("'worker' has 1 task (valid 1)")));
}

TEST_F(ClusterRolesTest, Rule1x12MasterIsNoJobHere) {
  EXPECT_FALSE(IsAllowedJob("master"));
  EXPECT_THAT(ValidateCluster(Make({{"master", {{0, "m:1"}}}})), StatusIs(kInvalid, HasSubstr("Disallowed")));
}

TEST_F(ClusterRolesTest, Rule1x12MasterIsAnOldNameOfChief) {
  const TfConfig config =
      Parse(R"({"cluster":{"master":["m:1"],"worker":["h0:1"]},"task":{"type":"master","index":0}})");
  EXPECT_EQ(config.self, (TaskId{"chief", 0}));
  EXPECT_EQ(config.cluster.ToJson(), R"({"chief":["m:1"],"worker":["h0:1"]})");
  EXPECT_THAT(config.warnings, ElementsAre(HasSubstr("cluster: 'master'"), HasSubstr("task.type: 'master'")));
  EXPECT_THAT(ParseTfConfig(R"({"cluster":{"master":["m:1"],"chief":["c:1"]}})"),
              StatusIs(kInvalid, HasSubstr("both 'chief' and 'master'")));
}

TEST_F(ClusterRolesTest, Rule1x13IsChief) {
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

TEST_F(ClusterRolesTest, Rule1x14WorkerCount) {
  EXPECT_THAT(WorkerCount(a_, "chief"), IsOkAndHolds(3));
  EXPECT_THAT(WorkerCount(a_, "worker"), IsOkAndHolds(3));
  EXPECT_THAT(WorkerCount(c_, "evaluator"), IsOkAndHolds(1));
  EXPECT_THAT(WorkerCount(a_, "ps"), StatusIs(kInvalid, HasSubstr("Unexpected task_type 'ps'")));
  EXPECT_THAT(WorkerCount(none_, "worker"), StatusIs(kInvalid, HasSubstr("not found")));
  EXPECT_THAT(WorkerCount(Make(R"({"worker":{"3":"w3:1"}})"), "worker"), IsOkAndHolds(1));
}

TEST_F(ClusterRolesTest, Rule1x15IdInCluster) {
  EXPECT_THAT(IdInCluster(a_, {"chief", 0}), IsOkAndHolds(0));
  EXPECT_THAT(IdInCluster(a_, {"worker", 1}), IsOkAndHolds(2));
  EXPECT_THAT(IdInCluster(b_, {"worker", 1}), IsOkAndHolds(1));
  EXPECT_THAT(IdInCluster(c_, {"evaluator", 0}), IsOkAndHolds(0));
  EXPECT_THAT(IdInCluster(a_, {"ps", 0}), StatusIs(kInvalid, HasSubstr("no id for task_type")));
  EXPECT_THAT(IdInCluster(two_chiefs_, {"chief", 0}), StatusIs(kInvalid, HasSubstr("at most one 'chief'")));
}

TEST_F(ClusterRolesTest, Rule1x16CollectiveLeader) {
  EXPECT_THAT(CollectiveLeader(none_, {}), IsOkAndHolds(""));
  EXPECT_THAT(CollectiveLeader(c_, {"evaluator", 0}), IsOkAndHolds(""));
  EXPECT_THAT(CollectiveLeader(a_, {"worker", 0}), IsOkAndHolds(kChiefName));
  EXPECT_THAT(CollectiveLeader(b_ps_, {"worker", 1}), IsOkAndHolds(kWorkerName));
}

TEST_F(ClusterRolesTest, Rule1x17CoordinationLeader) {
  EXPECT_EQ(CoordinationLeader(a_), "/job:ps/replica:0/task:0");
  EXPECT_EQ(CoordinationLeader(c_), kChiefName);
  EXPECT_EQ(CoordinationLeader(b_), kWorkerName);
  EXPECT_EQ(CoordinationLeader(none_), "");
}

TEST_F(ClusterRolesTest, Rule1x18EvaluatorWithoutEntryIsAlone) {
  EXPECT_THAT(IsChief(a_, {"evaluator", 0}), IsOkAndHolds(true));
  EXPECT_THAT(WorkerCount(a_, "evaluator"), IsOkAndHolds(1));
  EXPECT_THAT(IdInCluster(a_, {"evaluator", 0}), IsOkAndHolds(0));
  EXPECT_THAT(CollectiveLeader(a_, {"evaluator", 0}), IsOkAndHolds(""));
}

TEST_F(ClusterRolesTest, Rule1x19OnlyTheChiefSavesInMultiWorkerStrategies) {
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

TEST_F(ClusterRolesTest, Rule1x20DaemonNeedsClusterTaskAddressAndLeader) {
  EXPECT_THAT(ValidateForDaemon(TfConfig{}), StatusIs(kInvalid, HasSubstr("'cluster'")));
  EXPECT_THAT(ValidateForDaemon(Parse(R"({"cluster":{"worker":["w0:1"]}})")), StatusIs(kInvalid, HasSubstr("'task'")));
  EXPECT_THAT(ValidateForDaemon(Parse(R"({"cluster":{"worker":["w0:1"]},"task":{"type":"evaluator","index":0}})")),
              StatusIs(kInvalid, HasSubstr("listens at its address")));
  EXPECT_THAT(ValidateForDaemon(Parse(R"({"cluster":{"evaluator":["e:1"]},"task":{"type":"evaluator","index":0}})")),
              StatusIs(kInvalid, HasSubstr("a chief or a worker")));
  for (const char* job : {"chief", "worker", "ps", "evaluator"}) {
    TfConfig config = Parse(R"({"cluster":{"chief":["c:1"],"worker":["w:1"],"ps":["p:1"],"evaluator":["e:1"]}})");
    config.self = TaskId{job, 0};
    EXPECT_THAT(ValidateForDaemon(config), IsOk()) << job;
  }
}

TEST_F(ClusterRolesTest, Rule1x20ServerStart) {
  const auto start =
      ServerStartOf(Parse(R"({"cluster":{"worker":["w0:1"],"evaluator":["e:1"]},"task":{"type":"worker"}})"));
  ASSERT_THAT(start, IsOk());
  EXPECT_EQ(start->task, (TaskId{"worker", 0}));
  EXPECT_EQ(start->protocol, "grpc");
  EXPECT_EQ(start->cluster, Make(R"({"worker":["w0:1"]})"));
  const auto evaluator = ServerStartOf(Parse(
      R"({"cluster":{"worker":["w0:1"],"evaluator":["e:1"]},"task":{"type":"evaluator","index":0},"rpc_layer":"http"})"));
  ASSERT_THAT(evaluator, IsOk());
  EXPECT_EQ(evaluator->cluster, Make(R"({"evaluator":["e:1"]})"));
  EXPECT_EQ(evaluator->protocol, "http");
  EXPECT_THAT(ServerStartOf(TfConfig{}), StatusIs(kInvalid, HasSubstr("'cluster'")));
  EXPECT_THAT(ServerStartOf(Parse(R"({"cluster":{"worker":["w0:1"]}})")), StatusIs(kInvalid, HasSubstr("'task'")));
  EXPECT_THAT(ParseTfConfig(R"({"cluster":{"worker":["w0:1"]},"task":{"index":0}})"),
              StatusIs(kInvalid, HasSubstr("task.type")));
}

TEST_F(ClusterRolesTest, Rule1x21PartsOfIndependentWorkers) {
  const struct {
    const char* job;
    int index;
    ProcessPart between, in;
  } rows[] = {
      {"ps", 1, ProcessPart::kServe, ProcessPart::kServe},
      {"chief", 0, ProcessPart::kTrain, ProcessPart::kTrain},
      {"worker", 0, ProcessPart::kTrain, ProcessPart::kServe},
      {"worker", 1, ProcessPart::kTrain, ProcessPart::kServe},
      {"evaluator", 0, ProcessPart::kEvaluate, ProcessPart::kEvaluate},
  };
  TfConfig config{.cluster = a_, .self = {}, .rpc_layer = "", .session_master = "", .warnings = {}};
  for (const auto& row : rows) {
    config.self = TaskId{row.job, row.index};
    EXPECT_THAT(PartOf(config, GraphMode::kBetween), IsOkAndHolds(row.between)) << *config.self;
    EXPECT_THAT(PartOf(config, GraphMode::kIn), IsOkAndHolds(row.in)) << *config.self;
  }
  config.self = TaskId{"foo", 0};
  EXPECT_THAT(PartOf(config, GraphMode::kIn), StatusIs(kInvalid, HasSubstr("Unexpected task_type")));
  EXPECT_THAT(PartOf(TfConfig{}, GraphMode::kIn), IsOkAndHolds(ProcessPart::kTrainThenEvaluate));
}

TEST_F(ClusterRolesTest, Rule3x23MultiWorkerNeedsATaskThatIsNoPs) {
  constexpr char kStrategy[] = "multi_worker_mirrored";
  EXPECT_THAT(ValidateForStrategy(kStrategy, TfConfig{}), IsOk());
  EXPECT_THAT(ValidateForStrategy(kStrategy, Parse(R"({"cluster":{"worker":["w0:1"]}})")),
              StatusIs(kInvalid, HasSubstr("must also specify task_type and task_id")));
  EXPECT_THAT(ValidateForStrategy(kStrategy, Parse(R"({"cluster":{"worker":["w0:1","w1:1"],"ps":["p0:1"]},
                                                       "task":{"type":"worker","index":0}})")),
              IsOk());
  EXPECT_THAT(ValidateForStrategy(
                  kStrategy, Parse(R"({"cluster":{"worker":["w0:1"],"ps":["p0:1"]},"task":{"type":"ps","index":0}})")),
              StatusIs(kInvalid, HasSubstr("no id for task_type 'ps'")));
  EXPECT_THAT(
      ValidateForStrategy(kStrategy, Parse(R"({"cluster":{"worker":["w0:1"]},"task":{"type":"evaluator","index":0}})")),
      IsOk());
}

TEST_F(ClusterRolesTest, Rule3x34ClusterWithoutTask) {
  const absl::Status status =
      ValidateForStrategy("multi_worker_mirrored", Parse(R"({"cluster":{"worker":["w0:1","w1:1"]}})"));
  EXPECT_THAT(status, StatusIs(kInvalid, HasSubstr("must also specify task_type and task_id")));
}

}  // namespace
}  // namespace cohort
