#include "runtime/cluster/tf_config.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::HasCode;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::IsOkAndHolds;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr char kTwoWorkers[] = R"({"worker":["127.0.0.1:7101","127.0.0.1:7102"]})";

// A TF_CONFIG of two workers whose "task" is `task`.
std::string WithTask(absl::string_view task) {
  return absl::StrCat("{\"cluster\":", kTwoWorkers, ",\"task\":", task, "}");
}

TfConfig Parse(absl::string_view text) {
  absl::StatusOr<TfConfig> config = ParseTfConfig(text);
  EXPECT_THAT(config, IsOk()) << text;
  return config.value_or(TfConfig{});
}

TEST(TfConfigTest, Rule1Dot2ReadsEveryFieldAndIgnoresUnknownKeys) {
  const TfConfig config = Parse(R"({"cluster":{"worker":["h0:1","h1:1"],"ps":{"0":"p0:1","2":"p2:1"},"chief":["c:1"]},
      "task":{"type":"worker","index":1,"cloud":true}, "rpc_layer":"grpc", "session_master":"m:1",
      "environment":"cloud", "something":{"else":[1,2.5,null,false]}})");
  EXPECT_EQ(config.cluster.ToJson(), R"({"chief":["c:1"],"ps":{"0":"p0:1","2":"p2:1"},"worker":["h0:1","h1:1"]})");
  EXPECT_EQ(config.cluster.jobs()[0].name, "worker");
  EXPECT_EQ(config.self, (TaskId{"worker", 1}));
  EXPECT_EQ(config.rpc_layer, "grpc");
  EXPECT_EQ(config.session_master, "m:1");
  EXPECT_THAT(config.warnings, IsEmpty());
  EXPECT_THAT(OwnAddress(config), IsOkAndHolds("h1:1"));
}

TEST(TfConfigTest, Rule1Dot3NoClusterIsLocal) {
  for (const char* text : {"{}", R"({"cluster":{}})", R"({"cluster":{},"task":{}})", R"({"rpc_layer":"grpc"})"}) {
    const TfConfig config = Parse(text);
    EXPECT_TRUE(config.local()) << text;
    EXPECT_FALSE(config.self.has_value()) << text;
    EXPECT_THAT(OwnTask(config), IsOkAndHolds(TaskId{"worker", 0}));
    EXPECT_THAT(OwnAddress(config), HasCode(kInvalid));
  }
}

TEST(TfConfigTest, Rule1Dot3TaskTypeMayBeANumber) {
  EXPECT_THAT(ParseTfConfig(WithTask(R"({"type":123456,"index":0})")), StatusIs(kInvalid, HasSubstr("'123456'")));
}

TEST(TfConfigTest, Rule1Dot5WhatIsAnErrorAndWhere) {
  const struct {
    const char *text, *phrase;
  } rows[] = {
      {"", "unset it for a local run"},
      {" \n\t", "unset it for a local run"},
      {"{", "not valid JSON at byte 2"},
      {"not json", "not valid JSON at byte 2"},
      {"[]", "must be an object, not a list"},
      {"3", "must be an object, not a number"},
      {R"({"cluster":[]})", "cluster: must be an object of jobs, not a list"},
      {R"({"cluster":null})", "cluster: must be an object"},
      {R"({"cluster":{"worker":"h0:1"}})", "cluster.worker: must be a list"},
      {R"({"cluster":{"worker":3}})", "cluster.worker: must be a list"},
      {R"({"cluster":{"worker":["h0:1",5]}})", "cluster.worker[1]: must be an address"},
      {R"({"cluster":{"worker":{"0":["h0:1"]}}})", "cluster.worker.0: must be an address"},
      {R"({"cluster":{"worker":{"x":"h0:1"}}})", "cluster.worker.x: must be a whole number"},
      {R"({"cluster":{"worker":{"":"h0:1"}}})", "must be a whole number"},
      {R"({"cluster":{"worker":{"-1":"h0:1"}}})", "from 0 to 999999"},
      {R"({"cluster":{"worker":{"2000000000":"h0:1"}}})", "from 0 to 999999"},
      {R"({"cluster":{"worker":{"1":"h0:1","01":"h1:1"}}})", "index 1 appears twice"},
      {R"({"cluster":{"worker":[]}})", "cluster.worker: the job has no tasks"},
      {R"({"cluster":{"chief":["a:1","b:1"]}})", "at most one 'chief' job"},
      {R"({"cluster":{"evaluator":["a:1","b:1"]}})", "at most one 'evaluator' job"},
      {R"({"rpc_layer":5})", "rpc_layer: must be a string"},
      {R"({"session_master":{}})", "session_master: must be a string"},
      {R"({"task":[]})", "task: must be an object"},
      {R"({"task":{"index":0}})", "task.type: is missing"},
      {R"({"task":{"type":true,"index":0}})", "task.type: must be a string"},
      {R"({"task":{"type":"","index":0}})", "Unrecognized task_type"},
      {R"({"task":{"type":"worker"}})", "'cluster' is missing"},
      {R"({"cluster":{},"task":{"type":"worker"}})", "'cluster' is missing or empty"},
      {R"({"cluster":{"worker":["h0:1"]},"sparseCluster":{"worker":{"0":"h0:1"}}})", "keep one"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(ParseTfConfig(row.text), StatusIs(kInvalid, HasSubstr(row.phrase))) << row.text;
  }
}

TEST(TfConfigTest, Rule1Dot5ClusterWithoutTaskIsAClientsView) {
  const TfConfig config = Parse(absl::StrCat("{\"cluster\":", kTwoWorkers, "}"));
  EXPECT_FALSE(config.self.has_value());
  EXPECT_THAT(OwnTask(config), StatusIs(kInvalid, HasSubstr("no 'task'")));
}

TEST(TfConfigTest, Rule1Dot5EvaluatorNeedsNoEntry) {
  const TfConfig config = Parse(WithTask(R"({"type":"evaluator","index":0})"));
  EXPECT_EQ(config.self, (TaskId{"evaluator", 0}));
  EXPECT_THAT(OwnAddress(config), HasCode(kInvalid));
  EXPECT_EQ(Parse(R"({"task":{"type":"evaluator","index":0}})").self, (TaskId{"evaluator", 0}));
  EXPECT_THAT(ParseTfConfig(WithTask(R"({"type":"evaluator","index":-1})")), HasCode(kInvalid));
}

TEST(TfConfigTest, Rule1Dot6Master) {
  constexpr char kCluster[] =
      R"("cluster":{"ps":["ps0:2222","ps1:2222"],"worker":["worker0:2222","worker1:2222","worker2:2222"]})";
  const std::string base = absl::StrCat("{", kCluster, R"(,"task":{"type":"ps","index":)");
  EXPECT_THAT(MasterAddress(Parse("{}")), IsOkAndHolds(""));
  EXPECT_THAT(MasterAddress(Parse(base + "0}}")), IsOkAndHolds("ps0:2222"));
  EXPECT_THAT(MasterAddress(Parse(base + R"(0},"rpc_layer":"grpc"})")), IsOkAndHolds("grpc://ps0:2222"));
  EXPECT_THAT(MasterAddress(Parse(base + "0}}"), TaskId{"worker", 1}), IsOkAndHolds("worker1:2222"));
  EXPECT_THAT(MasterAddress(Parse(R"({"cluster":{"worker":["worker0:2222"]}})")), IsOkAndHolds(""));
  EXPECT_THAT(MasterAddress(Parse(base + "1}}"), TaskId{"ps", 0}), IsOkAndHolds("ps0:2222"));
  TfConfig changed = Parse(base + "0}}");
  changed.self = TaskId{"worker", 1};
  changed.rpc_layer = "test";
  EXPECT_THAT(MasterAddress(changed), IsOkAndHolds("test://worker1:2222"));
  EXPECT_THAT(MasterAddress(Parse(base + R"(0},"session_master":"s:1"})")), IsOkAndHolds("s:1"));
  EXPECT_THAT(MasterAddress(Parse(absl::StrCat("{", kCluster, "}"))), HasCode(kInvalid));
  EXPECT_THAT(MasterAddress(Parse(base + "0}}"), TaskId{"worker", 3}), HasCode(kInvalid));
}

TEST(TfConfigTest, Rule1Dot12MasterIsAnOldNameOfChief) {
  const TfConfig config =
      Parse(R"({"cluster":{"master":["m:1"],"worker":["h0:1"]},"task":{"type":"master","index":0}})");
  EXPECT_EQ(config.self, (TaskId{"chief", 0}));
  EXPECT_EQ(config.cluster.ToJson(), R"({"chief":["m:1"],"worker":["h0:1"]})");
  EXPECT_THAT(config.warnings, ElementsAre(HasSubstr("cluster: 'master'"), HasSubstr("task.type: 'master'")));
  EXPECT_THAT(ParseTfConfig(R"({"cluster":{"master":["m:1"],"chief":["c:1"]}})"),
              StatusIs(kInvalid, HasSubstr("both 'chief' and 'master'")));
}

TEST(TfConfigTest, R01UnknownJobNamesItAndTheAllowedOnes) {
  EXPECT_THAT(
      ParseTfConfig(R"({"cluster":{"chief":["127.0.0.1:7100"],"ps_hosts":["127.0.0.1:7101"],
                        "worker":["127.0.0.1:7102"]},"task":{"type":"worker","index":0}})"),
      StatusIs(kInvalid, AllOf(HasSubstr("'ps_hosts'"), HasSubstr("allowed jobs are chief, worker, ps, evaluator"))));
}

TEST(TfConfigTest, R01IndexOutOfRangeNamesJobIndexAndCount) {
  for (const char* index : {"2", "-1", "\"2\"", "\"-1\"", "2147483647"}) {
    const std::string digits(absl::string_view(index).front() == '"' ? std::string(index + 1, 1) : index);
    EXPECT_THAT(
        ParseTfConfig(WithTask(absl::StrCat(R"({"type":"worker","index":)", index, "}"))),
        StatusIs(kInvalid, AllOf(HasSubstr("'worker' has 2 tasks"), HasSubstr("valid 0..1"), HasSubstr(digits))))
        << index;
  }
}

TEST(TfConfigTest, R01IndexMayBeText) {
  EXPECT_EQ(Parse(WithTask(R"({"type":"worker","index":"1"})")).self, (TaskId{"worker", 1}));
  EXPECT_EQ(Parse(WithTask(R"({"type":"worker","index":1})")).self, (TaskId{"worker", 1}));
}

TEST(TfConfigTest, R01IndexThatIsNoWholeNumberIsNamed) {
  for (const char* index : {R"("one")", "1.5", "true", "null", "[]", "{}", R"("")", R"("1.0")", R"(" 1")", "1e3",
                            "99999999999", "18446744073709551615", "-9223372036854775808", R"("-")"}) {
    EXPECT_THAT(ParseTfConfig(WithTask(absl::StrCat(R"({"type":"worker","index":)", index, "}"))),
                StatusIs(kInvalid, HasSubstr("task.index")))
        << index;
  }
}

TEST(TfConfigTest, R01MissingBraceGivesTheByte) {
  const std::string text = WithTask(R"({"type":"worker","index":0})");
  EXPECT_THAT(ParseTfConfig(text.substr(0, text.size() - 1)),
              StatusIs(kInvalid, HasSubstr(absl::StrCat("at byte ", text.size()))));
}

TEST(TfConfigTest, R01VariableNotSetIsOneLocalWorker) {
  unsetenv("TF_CONFIG");
  const absl::StatusOr<TfConfig> config = TfConfigFromEnv();
  ASSERT_THAT(config, IsOk());
  EXPECT_TRUE(config->local());
  EXPECT_THAT(OwnTask(*config), IsOkAndHolds(TaskId{"worker", 0}));
}

TEST(TfConfigTest, EnvironmentVariableIsReadAndNamedInErrors) {
  setenv("TF_CONFIG", WithTask(R"({"type":"worker","index":1})").c_str(), 1);
  EXPECT_EQ(TfConfigFromEnv()->self, (TaskId{"worker", 1}));
  setenv("TF_CONFIG", "", 1);
  EXPECT_THAT(TfConfigFromEnv(), StatusIs(kInvalid, HasSubstr("TF_CONFIG: ")));
  unsetenv("TF_CONFIG");
}

TEST(TfConfigTest, R02SparseClusterThatDoesNotListTheTask) {
  EXPECT_THAT(
      ParseTfConfig(R"({"sparseCluster":{"worker":{"0":"127.0.0.1:7102"}},"task":{"type":"chief","index":0}})"),
      StatusIs(kInvalid, AllOf(HasSubstr("'cluster' is missing"), HasSubstr("a task is named, /job:chief/task:0"))));
}

TEST(TfConfigTest, SparseClusterStandsForClusterOtherwise) {
  const TfConfig config =
      Parse(R"({"sparseCluster":{"worker":{"3":"h3:2222"},"ps":["p0:2222"]},"task":{"type":"worker","index":3}})");
  EXPECT_EQ(config.cluster.ToJson(), R"({"ps":["p0:2222"],"worker":{"3":"h3:2222"}})");
  EXPECT_EQ(config.self, (TaskId{"worker", 3}));
}

TEST(TfConfigTest, R02TaskOfAJobThatTheClusterLacks) {
  EXPECT_THAT(ParseTfConfig(WithTask(R"({"type":"chief","index":0})")),
              StatusIs(kInvalid, AllOf(HasSubstr("not found in cluster_spec"), HasSubstr("no chief in the cluster"))));
}

TEST(TfConfigTest, R03UnusableAddressNamesJobIndexAndText) {
  for (const char* address : {"", "127.0.0.1", "localhost:0000", "127.0.0.1:70000", "bob@10.0.0.1:8080"}) {
    EXPECT_THAT(ParseTfConfig(absl::StrCat(R"({"cluster":{"worker":["127.0.0.1:7101",")", address, "\"]}}")),
                StatusIs(kInvalid, AllOf(HasSubstr("/job:worker/task:1"), HasSubstr(absl::StrCat("'", address, "'")))))
        << address;
  }
}

TEST(TfConfigTest, R03SharedAddressNamesBothTasks) {
  EXPECT_THAT(ParseTfConfig(R"({"cluster":{"worker":["127.0.0.1:7101","127.0.0.1:7101"]}})"),
              StatusIs(kInvalid, AllOf(HasSubstr("/job:worker/task:0"), HasSubstr("/job:worker/task:1"))));
  EXPECT_THAT(ParseTfConfig(R"({"cluster":{"ps":["127.0.0.1:7101"],"worker":["localhost:7101"]}})"),
              StatusIs(kInvalid, AllOf(HasSubstr("/job:ps/task:0"), HasSubstr("/job:worker/task:0"))));
}

TEST(TfConfigTest, MissingIndexIsZeroAndWarnsIfThereAreMore) {
  const TfConfig config = Parse(WithTask(R"({"type":"worker"})"));
  EXPECT_EQ(config.self, (TaskId{"worker", 0}));
  EXPECT_THAT(config.warnings, ElementsAre(HasSubstr("task.index: is missing")));
  EXPECT_THAT(Parse(R"({"cluster":{"worker":["h0:1"]},"task":{"type":"worker"}})").warnings, IsEmpty());
}

TEST(TfConfigTest, OldAndForeignKeysGiveANote) {
  EXPECT_THAT(Parse(R"({"job":{},"model_dir":"gs://x","rpc_layer":"grpc+verbs"})").warnings,
              ElementsAre(HasSubstr("job: "), HasSubstr("model_dir: "), HasSubstr("'grpc+verbs'")));
}

TEST(TfConfigTest, SparseJobListsItsValidIndices) {
  EXPECT_THAT(ParseTfConfig(R"({"cluster":{"worker":{"1":"h1:1","3":"h3:1"}},"task":{"type":"worker","index":0}})"),
              StatusIs(kInvalid, HasSubstr("(valid 1, 3)")));
}

TEST(TfConfigTest, TextGivesTheConfigAgain) {
  const std::string text = R"({"cluster":{"ps":["p0:1"],"worker":{"3":"h3:1"}},"task":{"type":"worker","index":3},)"
                           R"("rpc_layer":"grpc","session_master":"m:1"})";
  EXPECT_EQ(ToText(Parse(text)), text);
  EXPECT_EQ(ToText(TfConfig{}), "{}");
}

}  // namespace
}  // namespace cohort
