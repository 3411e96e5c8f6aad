#include "runtime/cluster/describe.h"

#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

LocalNetwork NoNetwork() {
  return {.resolve = [](const std::string&) -> absl::StatusOr<std::vector<std::string>> {
            return absl::UnavailableError("name not resolved");
          },
          .interface_addresses = {}};
}

ProcessDescription Of(const char* text) {
  const auto description = Describe(ParseTfConfig(text).value(), {}, NoNetwork());
  EXPECT_THAT(description, IsOk()) << text;
  return description.value_or(ProcessDescription{});
}

TEST(DescribeTest, WorkerOfACluster) {
  const ProcessDescription d =
      Of(R"({"cluster":{"chief":["127.0.0.1:7100"],"worker":["127.0.0.1:7101","127.0.0.1:7102"],
                                      "ps":["127.0.0.1:7103"]},"task":{"type":"worker","index":1}})");
  EXPECT_EQ(ToText(d),
            "task      /job:worker/task:1 at 127.0.0.1:7102\n"
            "chief     no\n"
            "leader    /job:chief/task:0 at 127.0.0.1:7100\n"
            "cluster   1 chief, 1 ps, 2 worker\n"
            "group     rank 2 of 3\n"
            "listen    127.0.0.1:7102 (own address 127.0.0.1 is loopback)\n");
  EXPECT_THAT(
      ToJson(d),
      ::testing::StartsWith(
          R"({"local":false,"task":"/job:worker/task:1","address":"127.0.0.1:7102","chief":false,)"
          R"("leader":"/job:chief/task:0","leader_address":"127.0.0.1:7100",)"
          R"("tasks":{"chief":1,"ps":1,"worker":2},"group_size":3,"group_rank":2,)"
          R"("listen":{"address":"127.0.0.1:7102","loopback":true,"reason":"own address 127.0.0.1 is loopback"},)"
          R"("cluster_fingerprint":")"));
}

TEST(DescribeTest, LocalProcess) {
  const ProcessDescription d = Of("{}");
  EXPECT_EQ(ToText(d),
            "task      /job:worker/task:0, local: no cluster, no port\n"
            "chief     yes\n"
            "leader    /job:worker/task:0\n"
            "group     rank 0 of 1\n");
  EXPECT_EQ(ToJson(d),
            R"({"local":true,"task":"/job:worker/task:0","address":null,"chief":true,"leader":"/job:worker/task:0",)"
            R"("leader_address":null,"tasks":{},"group_size":1,"group_rank":0,"listen":null,)"
            R"("cluster_fingerprint":"0000000000000000","warnings":[]})");
}

TEST(DescribeTest, PsEvaluatorAndClientAreOutsideTheGroup) {
  constexpr char kCluster[] = R"({"cluster":{"worker":["127.0.0.1:1","127.0.0.1:2"],"ps":["127.0.0.1:3"]})";
  const ProcessDescription ps = Of((std::string(kCluster) + R"(,"task":{"type":"ps","index":0}})").c_str());
  EXPECT_FALSE(ps.group_rank.has_value());
  EXPECT_FALSE(ps.chief);
  EXPECT_EQ(ps.group_size, 2);
  EXPECT_EQ(ps.listen->ToString(), "127.0.0.1:3");
  const ProcessDescription evaluator =
      Of((std::string(kCluster) + R"(,"task":{"type":"evaluator","index":0}})").c_str());
  EXPECT_TRUE(evaluator.chief);
  EXPECT_EQ(evaluator.group_size, 1);
  EXPECT_FALSE(evaluator.listen.has_value());
  const ProcessDescription client = Of((std::string(kCluster) + "}").c_str());
  EXPECT_FALSE(client.task.has_value());
  EXPECT_THAT(ToText(client), HasSubstr("task      none: a client of this cluster\n"));
  EXPECT_THAT(ToText(client), HasSubstr("leader    /job:worker/task:0 at 127.0.0.1:1\n"));
}

TEST(DescribeTest, PartialViewSaysSoAndWarningsAreShown) {
  const ProcessDescription d = Of(R"({"cluster":{"worker":{},"ps":["127.0.0.1:3"]},"task":{"type":"ps","index":1}})");
  EXPECT_THAT(ToText(d), HasSubstr("leader    not listed here\n"));
  EXPECT_THAT(ToText(d), HasSubstr("warning   cluster.ps: "));
  EXPECT_THAT(ToJson(d), HasSubstr(R"("leader":null)"));
}

TEST(DescribeTest, PortBeyondLoopbackIsRefusedWithTheFix) {
  const TfConfig config =
      ParseTfConfig(R"({"cluster":{"worker":["h0:2222"]},"task":{"type":"worker","index":0}})").value();
  EXPECT_THAT(
      Describe(config, {}, NoNetwork()),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("/job:worker/task:0: would listen on 0.0.0.0:2222")));
  EXPECT_THAT(Describe(config, {.bind_address = "", .insecure = true}, NoNetwork()), IsOk());
}

}  // namespace
}  // namespace cohort
