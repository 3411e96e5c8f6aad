#include "runtime/cluster/tf_config.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
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
