#include "runtime/cluster/slurm.h"

#include <cstdlib>

#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::IsOk;
using ::testing::Pair;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

Environment Step(const char* rank, const char* tasks, const char* hosts, const char* per_node) {
  return {{"SLURM_PROCID", rank},
          {"SLURM_STEP_NUM_TASKS", tasks},
          {"SLURM_STEP_NODELIST", hosts},
          {"SLURM_STEP_TASKS_PER_NODE", per_node}};
}

Environment FiveTasks(const char* rank) { return Step(rank, "5", "t02n13,t02n41,t02n43", "2(x2),1"); }

TEST(SlurmTest, NumbersInHostNamesSortAsNumbers) {
  const auto task = SlurmTfConfig(Step("0", "3", "n[10,9],m10", "1(x3)"));
  ASSERT_THAT(task, IsOk());
  EXPECT_EQ(task->config.cluster.ToJson(), R"({"worker":["m10:8888","n9:8888","n10:8888"]})");
}

TEST(SlurmTest, TaskCountsFollowTheirHostsWhenSorted) {
  const auto task = SlurmTfConfig(Step("0", "3", "n2,n1", "2,1"));
  ASSERT_THAT(task, IsOk());
  EXPECT_EQ(task->config.cluster.ToJson(), R"({"worker":["n1:8888","n2:8888","n2:8889"]})");
}

TEST(SlurmTest, MpirunsRankComesFirst) {
  Environment environment = FiveTasks("0");
  environment["OMPI_COMM_WORLD_RANK"] = "3";
  EXPECT_EQ(SlurmTfConfig(environment)->config.self, (TaskId{"worker", 3}));
}

TEST(SlurmTest, RankOnAnotherHostThanAssignedIsAnError) {
  Environment environment = FiveTasks("1");
  environment["SLURMD_NODENAME"] = "t02n13";
  EXPECT_THAT(SlurmTfConfig(environment), IsOk());
  environment["SLURMD_NODENAME"] = "t02n41";
  EXPECT_THAT(SlurmTfConfig(environment),
              StatusIs(kInvalid, AllOf(HasSubstr("t02n13"), HasSubstr("--distribution=block"))));
}

TEST(SlurmTest, ReadsTheProcessEnvironment) {
  setenv("SLURM_PROCID", "a=b", 1);
  EXPECT_THAT(SlurmEnvironment(), ::testing::Contains(Pair("SLURM_PROCID", "a=b")));
  unsetenv("SLURM_PROCID");
}

}  // namespace
}  // namespace cohort
