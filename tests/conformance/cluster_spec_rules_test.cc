// What can be asked of a cluster: rules 1.8 and 1.9.
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

TEST(ClusterSpecRulesTest, Rule1x8SparseJobCountsTasksAndKeepsGaps) {
  const ClusterSpec spec = Make({{"worker", {{0, "a"}, {3, "b"}}}});
  EXPECT_THAT(spec.num_tasks("worker"), IsOkAndHolds(2));
  EXPECT_THAT(spec.task_indices("worker"), IsOkAndHolds(ElementsAre(0, 3)));
  EXPECT_THAT(spec.job_tasks("worker"), IsOkAndHolds(ElementsAre("a", std::nullopt, std::nullopt, "b")));
  EXPECT_EQ(spec.ToJson(), R"({"worker":{"0":"a","3":"b"}})");
  EXPECT_THAT(spec.task_address({"worker", 1}), StatusIs(kInvalid, HasSubstr("no task with index 1")));
}

TEST(ClusterSpecRulesTest, Rule1x8DenseMapEqualsList) {
  const ClusterSpec spec = Make({{"worker", {{0, "a"}}}});
  EXPECT_EQ(spec.ToJson(), R"({"worker":["a"]})");
}

TEST(ClusterSpecRulesTest, Rule1x8EmptyJobAndEmptyCluster) {
  EXPECT_EQ(Make({{"worker", {}}}).ToJson(), R"({"worker":{}})");
  EXPECT_TRUE(ClusterSpec().empty());
  EXPECT_EQ(ClusterSpec().ToJson(), "{}");
}

TEST(ClusterSpecRulesTest, Rule1x8UnknownJobIsAnErrorInEveryCall) {
  const ClusterSpec spec = Make({{"worker", {{0, "a"}}}});
  EXPECT_THAT(spec.num_tasks("ps"), StatusIs(kInvalid, AllOf(HasSubstr("'ps'"), HasSubstr("worker"))));
  EXPECT_THAT(spec.task_indices("ps"), HasCode(kInvalid));
  EXPECT_THAT(spec.job_tasks("ps"), HasCode(kInvalid));
  EXPECT_THAT(spec.task_address({"ps", 0}), HasCode(kInvalid));
  EXPECT_EQ(spec.count("ps"), 0);
}

TEST(ClusterSpecRulesTest, Rule1x8IterationKeepsOrderAndTextSorts) {
  const ClusterSpec spec = Make({{"worker", {{1, "b"}, {0, "a"}}}, {"chief", {{0, "c"}}}});
  EXPECT_EQ(spec.jobs()[0].name, "worker");
  EXPECT_EQ(spec.jobs()[1].name, "chief");
  EXPECT_EQ(spec.ToJson(), R"({"chief":["c"],"worker":["a","b"]})");
  EXPECT_THAT(spec.tasks(), ElementsAre(TaskId{"chief", 0}, TaskId{"worker", 0}, TaskId{"worker", 1}));
}

TEST(ClusterSpecRulesTest, Rule1x9OnlyAMapIsACluster) {
  EXPECT_THAT(ParseClusterSpec(R"({"worker":{"0":"h0:1","3":"h3:1"},"ps":["p0:1"]})"),
              IsOkAndHolds(Make({{"ps", {{0, "p0:1"}}}, {"worker", {{0, "h0:1"}, {3, "h3:1"}}}})));
  for (const char* text : {"[]", R"(["h0:1"])", "1", "null", R"("h0:1")", ""}) {
    EXPECT_THAT(ParseClusterSpec(text), HasCode(kInvalid)) << text;
  }
}

}  // namespace
}  // namespace cohort
