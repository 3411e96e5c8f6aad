#include "runtime/cluster/cluster_spec.h"

#include "runtime/cluster/tf_config.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::AllOf;
using testing::HasCode;
using ::testing::HasSubstr;
using testing::IsOkAndHolds;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

ClusterSpec Make(std::vector<ClusterSpec::Job> jobs) { return ClusterSpec::Create(std::move(jobs)).value(); }

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
