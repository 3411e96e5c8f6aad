// TF_CONFIG's grammar and the resolver that reads it: rules 1.1 to 1.7.
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_kind.h"
#include "runtime/cluster/tf_config.h"
#include "runtime/cluster/tf_config_resolver.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::ElementsAre;
using testing::HasCode;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::IsOkAndHolds;
using ::testing::Pair;
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

TfConfigResolver FromText(absl::string_view text, TfConfigResolverOptions options = {}) {
  return TfConfigResolver::FromText(text, std::move(options)).value();
}

TEST(ClusterJsonTest, Rule1x1VariableIsReadWhenAsked) {
  unsetenv("TF_CONFIG");
  absl::StatusOr<TfConfigResolver> resolver = TfConfigResolver::FromEnv();
  ASSERT_THAT(resolver, IsOk());
  EXPECT_TRUE(resolver->cluster_spec().empty());  // absent is {}
  setenv("TF_CONFIG", WithTask(R"({"type":"worker","index":1})").c_str(), 1);
  EXPECT_TRUE(resolver->cluster_spec().empty());
  EXPECT_THAT(resolver->Refresh(), IsOk());
  EXPECT_EQ(resolver->task(), (TaskId{"worker", 1}));
  setenv("TF_CONFIG", "{", 1);
  EXPECT_THAT(resolver->Refresh(), StatusIs(kInvalid, HasSubstr("TF_CONFIG: not valid JSON")));
  EXPECT_EQ(resolver->task(), (TaskId{"worker", 1}));
  EXPECT_THAT(TfConfigResolver::FromEnv(), HasCode(kInvalid));
  unsetenv("TF_CONFIG");
}

TEST(ClusterJsonTest, Rule1x2ReadsEveryFieldAndIgnoresUnknownKeys) {
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

TEST(ClusterJsonTest, Rule1x3NoClusterIsLocal) {
  for (const char* text : {"{}", R"({"cluster":{}})", R"({"cluster":{},"task":{}})", R"({"rpc_layer":"grpc"})"}) {
    const TfConfig config = Parse(text);
    EXPECT_TRUE(config.local()) << text;
    EXPECT_FALSE(config.self.has_value()) << text;
    EXPECT_THAT(OwnTask(config), IsOkAndHolds(TaskId{"worker", 0}));
    EXPECT_THAT(OwnAddress(config), HasCode(kInvalid));
  }
}

TEST(ClusterJsonTest, Rule1x3TaskTypeMayBeANumber) {
  EXPECT_THAT(ParseTfConfig(WithTask(R"({"type":123456,"index":0})")), StatusIs(kInvalid, HasSubstr("'123456'")));
}

TEST(ClusterJsonTest, Rule1x3TaskIndexMayBeText) {
  for (const char* index : {"1", R"("1")"}) {
    EXPECT_EQ(Parse(WithTask(absl::StrCat(R"({"type":"worker","index":)", index, "}"))).self, (TaskId{"worker", 1}));
  }
  EXPECT_THAT(ParseTfConfig(WithTask(R"({"type":"worker","index":"x"})")), StatusIs(kInvalid, HasSubstr("task.index")));
}

TEST(ClusterJsonTest, Rule1x3OtherFields) {
  const TfConfigResolver plain = FromText("{}");
  EXPECT_EQ(plain.rpc_layer(), "");
  EXPECT_EQ(plain.task_type(), std::nullopt);
  EXPECT_EQ(plain.task_id(), std::nullopt);
  const TfConfigResolver full = FromText(R"({"rpc_layer":"grpc","session_master":"m:1","environment":"google"})");
  EXPECT_EQ(full.rpc_layer(), "grpc");
  EXPECT_THAT(full.master(), IsOkAndHolds("m:1"));
  EXPECT_THAT(full.master(TaskId{"worker", 7}), IsOkAndHolds("m:1"));
  EXPECT_EQ(full.environment(), "");  // only the constructor tells it
  EXPECT_EQ(FromText("{}", {.task = {}, .environment = "google", .devices = {}}).environment(), "google");
}

TEST(ClusterJsonTest, Rule1x4ConstructorWinsOverTextAndSettersOverBoth) {
  const std::string text =
      absl::StrCat("{\"cluster\":", kTwoWorkers, R"(,"task":{"type":"worker","index":0},"rpc_layer":"grpc"})");
  TfConfigResolver resolver = FromText(text, {.task = {"chief", 1, "http"}, .environment = "cloud", .devices = {}});
  EXPECT_EQ(resolver.task_type(), "chief");
  EXPECT_EQ(resolver.task_id(), 1);
  EXPECT_EQ(resolver.rpc_layer(), "http");
  EXPECT_EQ(resolver.environment(), "cloud");
  resolver.set_task_type("worker");
  resolver.set_task_id(0);
  resolver.set_rpc_layer("");
  EXPECT_EQ(resolver.task(), (TaskId{"worker", 0}));
  EXPECT_EQ(resolver.rpc_layer(), "");
  EXPECT_THAT(resolver.master(), IsOkAndHolds("127.0.0.1:7101"));
}

TEST(ClusterJsonTest, Rule1x5WhatIsAnErrorAndWhere) {
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

// An object of the wrong kind, as against a wrong value.
TEST(ClusterJsonTest, Rule1x5WrongKindsAreInvalidType) {
  for (const char* text :
       {R"({"cluster":{"worker":"h0:1"}})", R"({"cluster":{"worker":3}})", R"({"cluster":{"worker":["h0:1",5]}})",
        R"({"cluster":{"worker":{"0":["h0:1"]}}})", R"({"cluster":[]})", R"({"task":[]})", "[]"}) {
    EXPECT_EQ(ErrorKindOf(ParseTfConfig(text).status()), ErrorKind::kInvalidType) << text;
  }
  for (const char* text : {"", "{", R"({"cluster":{"worker":{"x":"h0:1"}}})", R"({"cluster":{"worker":[]}})"}) {
    EXPECT_EQ(ErrorKindOf(ParseTfConfig(text).status()), ErrorKind::kPlain) << text;
  }
}

TEST(ClusterJsonTest, Rule1x5TaskOutsideTheCluster) {
  EXPECT_THAT(ParseTfConfig(WithTask(R"({"type":"chief","index":0})")),
              StatusIs(kInvalid, HasSubstr("not found in cluster_spec")));
  EXPECT_THAT(ParseTfConfig(WithTask(R"({"type":"worker","index":2})")),
              StatusIs(kInvalid, HasSubstr("exceeds the maximum id")));
  EXPECT_THAT(ParseTfConfig(R"({"cluster":{"boss":["h0:1"]}})"), StatusIs(kInvalid, HasSubstr("Disallowed task type")));
}

TEST(ClusterJsonTest, Rule1x5ClusterWithoutTaskIsAClientsView) {
  const TfConfig config = Parse(absl::StrCat("{\"cluster\":", kTwoWorkers, "}"));
  EXPECT_FALSE(config.self.has_value());
  EXPECT_THAT(OwnTask(config), StatusIs(kInvalid, HasSubstr("no 'task'")));
}

TEST(ClusterJsonTest, Rule1x5EvaluatorNeedsNoEntry) {
  const TfConfig config = Parse(WithTask(R"({"type":"evaluator","index":0})"));
  EXPECT_EQ(config.self, (TaskId{"evaluator", 0}));
  EXPECT_THAT(OwnAddress(config), HasCode(kInvalid));
  EXPECT_EQ(Parse(R"({"task":{"type":"evaluator","index":0}})").self, (TaskId{"evaluator", 0}));
  EXPECT_THAT(ParseTfConfig(WithTask(R"({"type":"evaluator","index":-1})")), HasCode(kInvalid));
}

TEST(ClusterJsonTest, Rule1x6Master) {
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

TEST(ClusterJsonTest, Rule1x6MasterOrder) {
  constexpr char kCluster[] =
      R"("cluster":{"ps":["ps0:2222","ps1:2222"],"worker":["worker0:2222","worker1:2222","worker2:2222"]})";
  const auto with_task = [&](const char* rest) { return absl::StrCat("{", kCluster, ",\"task\":", rest, "}"); };
  const std::string ps0 = with_task(R"({"type":"ps","index":0})");
  EXPECT_THAT(FromText("{}").master(), IsOkAndHolds(""));
  EXPECT_THAT(FromText(ps0).master(), IsOkAndHolds("ps0:2222"));
  EXPECT_THAT(FromText(with_task(R"({"type":"ps","index":0},"rpc_layer":"grpc")")).master(),
              IsOkAndHolds("grpc://ps0:2222"));
  EXPECT_THAT(FromText(ps0).master(TaskId{"worker", 1}), IsOkAndHolds("worker1:2222"));
  EXPECT_THAT(FromText(R"({"cluster":{"worker":["worker0:2222"]}})").master(), IsOkAndHolds(""));
  EXPECT_THAT(FromText(with_task(R"({"type":"ps","index":1})"),
                       {.task = {"ps", 0, std::nullopt}, .environment = "", .devices = {}})
                  .master(),
              IsOkAndHolds("ps0:2222"));
  TfConfigResolver changed = FromText(ps0);
  changed.set_task_type("worker");
  changed.set_task_id(1);
  changed.set_rpc_layer("test");
  EXPECT_THAT(changed.master(), IsOkAndHolds("test://worker1:2222"));
  EXPECT_THAT(FromText(with_task(R"({"type":"ps","index":0},"session_master":"s:1")")).master(), IsOkAndHolds("s:1"));
}

TEST(ClusterJsonTest, Rule1x7CountsTheAcceleratorsOfATask) {
  std::vector<DeviceName> devices;
  for (const char* text :
       {"/job:worker/task:1/device:CPU:0", "/job:worker/task:1/device:TPU:0", "/job:worker/task:1/device:TPU:1",
        "/job:worker/task:1/device:GPU:0", "/job:worker/task:1/device:GPU:1", "/job:worker/task:3/device:GPU:0",
        "/job:ps/task:1/device:GPU:0"}) {
    devices.push_back(*ParseDeviceName(text));
  }
  EXPECT_THAT(CountAccelerators(devices, {"worker", 1}), ElementsAre(Pair("GPU", 2), Pair("TPU", 2)));
  EXPECT_THAT(CountAccelerators(devices, {"worker", 3}), ElementsAre(Pair("GPU", 1)));
  EXPECT_THAT(CountAccelerators(devices, {"worker", 0}), ElementsAre());
}

TEST(ClusterJsonTest, Rule1x7ResolverCountsForItsOwnTaskOrAnother) {
  std::vector<DeviceName> devices;
  for (const char* text :
       {"/job:worker/task:1/device:TPU:0", "/job:worker/task:1/device:TPU:1", "/job:worker/task:1/device:GPU:0",
        "/job:worker/task:1/device:GPU:1", "/job:worker/task:3/device:GPU:0"}) {
    devices.push_back(*ParseDeviceName(text));
  }
  const TfConfigResolver resolver =
      FromText(WithTask(R"({"type":"worker","index":1})"), {.task = {}, .environment = "", .devices = devices});
  EXPECT_THAT(resolver.num_accelerators(), ElementsAre(Pair("GPU", 2), Pair("TPU", 2)));
  EXPECT_THAT(resolver.num_accelerators(TaskId{"worker", 3}), ElementsAre(Pair("GPU", 1)));
  EXPECT_THAT(FromText("{}", {.task = {}, .environment = "", .devices = devices}).num_accelerators(), IsEmpty());
}

}  // namespace
}  // namespace cohort
