#include "runtime/cluster/cluster_spec.h"

#include "runtime/cluster/tf_config.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::HasCode;
using ::testing::HasSubstr;
using testing::IsOkAndHolds;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

ClusterSpec Make(std::vector<ClusterSpec::Job> jobs) { return ClusterSpec::Create(std::move(jobs)).value(); }

TEST(ClusterSpecTest, Rule1Dot8SparseJobCountsTasksAndKeepsGaps) {
  const ClusterSpec spec = Make({{"worker", {{0, "a"}, {3, "b"}}}});
  EXPECT_THAT(spec.num_tasks("worker"), IsOkAndHolds(2));
  EXPECT_THAT(spec.task_indices("worker"), IsOkAndHolds(ElementsAre(0, 3)));
  EXPECT_THAT(spec.job_tasks("worker"), IsOkAndHolds(ElementsAre("a", std::nullopt, std::nullopt, "b")));
  EXPECT_EQ(spec.ToJson(), R"({"worker":{"0":"a","3":"b"}})");
  EXPECT_THAT(spec.task_address({"worker", 1}), StatusIs(kInvalid, HasSubstr("no task with index 1")));
}

TEST(ClusterSpecTest, Rule1Dot8DenseMapEqualsList) {
  const ClusterSpec spec = Make({{"worker", {{0, "a"}}}});
  EXPECT_EQ(spec.ToJson(), R"({"worker":["a"]})");
}

TEST(ClusterSpecTest, Rule1Dot8EmptyJobAndEmptyCluster) {
  EXPECT_EQ(Make({{"worker", {}}}).ToJson(), R"({"worker":{}})");
  EXPECT_TRUE(ClusterSpec().empty());
  EXPECT_EQ(ClusterSpec().ToJson(), "{}");
}

TEST(ClusterSpecTest, Rule1Dot8UnknownJobIsAnErrorInEveryCall) {
  const ClusterSpec spec = Make({{"worker", {{0, "a"}}}});
  EXPECT_THAT(spec.num_tasks("ps"), StatusIs(kInvalid, AllOf(HasSubstr("'ps'"), HasSubstr("worker"))));
  EXPECT_THAT(spec.task_indices("ps"), HasCode(kInvalid));
  EXPECT_THAT(spec.job_tasks("ps"), HasCode(kInvalid));
  EXPECT_THAT(spec.task_address({"ps", 0}), HasCode(kInvalid));
  EXPECT_EQ(spec.count("ps"), 0);
}

TEST(ClusterSpecTest, Rule1Dot8IterationKeepsOrderAndTextSorts) {
  const ClusterSpec spec = Make({{"worker", {{1, "b"}, {0, "a"}}}, {"chief", {{0, "c"}}}});
  EXPECT_EQ(spec.jobs()[0].name, "worker");
  EXPECT_EQ(spec.jobs()[1].name, "chief");
  EXPECT_EQ(spec.ToJson(), R"({"chief":["c"],"worker":["a","b"]})");
  EXPECT_THAT(spec.tasks(), ElementsAre(TaskId{"chief", 0}, TaskId{"worker", 0}, TaskId{"worker", 1}));
}

TEST(ClusterSpecTest, EqualityAndFingerprintIgnoreTheOrderOfJobs) {
  const ClusterSpec a = Make({{"worker", {{0, "a"}}}, {"ps", {{0, "b"}}}});
  const ClusterSpec b = Make({{"ps", {{0, "b"}}}, {"worker", {{0, "a"}}}});
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.Fingerprint(), b.Fingerprint());
  EXPECT_NE(a.Fingerprint(), a.Without("ps").Fingerprint());
  EXPECT_EQ(a.Without("ps"), Make({{"worker", {{0, "a"}}}}));
  EXPECT_EQ(ClusterSpec().Fingerprint(), 0x08f44b07b5901a25u);  // FNV-1a of "{}"
}

TEST(ClusterSpecTest, CreateRefusesBadNamesAndIndices) {
  EXPECT_THAT(ClusterSpec::Create({{"a", {}}, {"a", {}}}), StatusIs(kInvalid, HasSubstr("twice")));
  for (const char* name : {"", "1a", "a b", "a/b"}) {
    EXPECT_THAT(ClusterSpec::Create({{name, {}}}), StatusIs(kInvalid, HasSubstr("begins with a letter"))) << name;
  }
  EXPECT_THAT(ClusterSpec::Create({{"a", {{-1, "x"}}}}), HasCode(kInvalid));
  EXPECT_THAT(ClusterSpec::Create({{"a", {{1'000'000, "x"}}}}), HasCode(kInvalid));
}

TEST(ClusterSpecTest, Rule1Dot9OnlyAMapIsACluster) {
  EXPECT_THAT(ParseClusterSpec(R"({"worker":{"0":"h0:1","3":"h3:1"},"ps":["p0:1"]})"),
              IsOkAndHolds(Make({{"ps", {{0, "p0:1"}}}, {"worker", {{0, "h0:1"}, {3, "h3:1"}}}})));
  for (const char* text : {"[]", R"(["h0:1"])", "1", "null", R"("h0:1")", ""}) {
    EXPECT_THAT(ParseClusterSpec(text), HasCode(kInvalid)) << text;
  }
}

TEST(ClusterSpecTest, CanonicalTextParsesBack) {
  const ClusterSpec spec = Make({{"worker", {{1, "h1:1"}, {7, "[::1]:1"}}}, {"chief", {{0, "c:1"}}}});
  EXPECT_THAT(ParseClusterSpec(spec.ToJson()), IsOkAndHolds(spec));
}

TEST(ClusterSpecTest, R03SharedAddressNamesBothTasks) {
  EXPECT_THAT(CheckAddresses(Make({{"ps", {{0, "h:1"}}}, {"worker", {{0, "g:1"}, {1, "H:1"}}}})),
              StatusIs(kInvalid, AllOf(HasSubstr("/job:ps/task:0"), HasSubstr("/job:worker/task:1"))));
  EXPECT_THAT(CheckAddresses(Make({{"worker", {{0, "h:1"}, {1, "h:2"}, {2, "g:1"}}}})), testing::IsOk());
}

}  // namespace
}  // namespace cohort
