#include "runtime/cluster/chief.h"

#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOkAndHolds;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

ClusterSpec Make(const char* json) { return ParseClusterSpec(json).value(); }

// The clusters of the rules: A chief, 2 workers, 2 ps; B 2 workers.
class ChiefTest : public ::testing::Test {
 protected:
  const ClusterSpec a_ = Make(R"({"chief":["c:1"],"worker":["w0:1","w1:1"],"ps":["p0:1","p1:1"]})");
  const ClusterSpec b_ = Make(R"({"worker":["w0:1","w1:1"]})");
  const ClusterSpec b_ps_ = Make(R"({"worker":["w0:1","w1:1"],"ps":["p0:1","p1:1"]})");
  const ClusterSpec none_;
};

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
