#include "runtime/cluster/validation.h"

#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

ClusterSpec Make(std::vector<ClusterSpec::Job> jobs) { return ClusterSpec::Create(std::move(jobs)).value(); }

TEST(ValidationTest, Rule1Dot10InOrder) {
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

TEST(ValidationTest, Rule1Dot10WhatIsValid) {
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

TEST(ValidationTest, Rule1Dot11SparseIndexIsLookedUpNotCounted) {
  const ClusterSpec sparse = Make({{"worker", {{1, "w:1"}}}});
  EXPECT_THAT(ValidateCluster(sparse, {"worker", 1}), IsOk());
  EXPECT_THAT(ValidateCluster(sparse, {"worker", 0}), StatusIs(kInvalid, HasSubstr("'worker' has 1 task (valid 1)")));
}

TEST(ValidationTest, Rule1Dot12MasterIsNoJobHere) {
  EXPECT_FALSE(IsAllowedJob("master"));
  EXPECT_THAT(ValidateCluster(Make({{"master", {{0, "m:1"}}}})), StatusIs(kInvalid, HasSubstr("Disallowed")));
}

}  // namespace
}  // namespace cohort
