#include "runtime/cluster/slurm.h"

#include <cstdlib>

#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::HasCode;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::IsOkAndHolds;
using ::testing::Pair;
using ::testing::SizeIs;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

Environment Step(const char* rank, const char* tasks, const char* hosts, const char* per_node) {
  return {{"SLURM_PROCID", rank},
          {"SLURM_STEP_NUM_TASKS", tasks},
          {"SLURM_STEP_NODELIST", hosts},
          {"SLURM_STEP_TASKS_PER_NODE", per_node}};
}

Environment FiveTasks(const char* rank) { return Step(rank, "5", "t02n13,t02n41,t02n43", "2(x2),1"); }

SlurmOptions PsAndWorkers(int gpus_per_node, std::optional<int> gpus_per_task) {
  return {.jobs = {{"ps", 1}, {"worker", 4}}, .gpus_per_node = gpus_per_node, .gpus_per_task = gpus_per_task};
}

TEST(SlurmTest, Rule1Dot24ExpandHostlist) {
  EXPECT_THAT(ExpandHostlist("n1"), IsOkAndHolds(ElementsAre("n1")));
  EXPECT_THAT(ExpandHostlist("n[1-2],m5,o[3-4,6,7-9]"),
              IsOkAndHolds(ElementsAre("n1", "n2", "m5", "o3", "o4", "o6", "o7", "o8", "o9")));
  EXPECT_THAT(ExpandHostlist("n[0001-0003],m5,o[009-011]"),
              IsOkAndHolds(ElementsAre("n0001", "n0002", "n0003", "m5", "o009", "o010", "o011")));
  EXPECT_THAT(ExpandHostlist("n[8-10]-ib"), IsOkAndHolds(ElementsAre("n8-ib", "n9-ib", "n10-ib")));
  EXPECT_THAT(ExpandHostlist("n[1-100000]"), IsOkAndHolds(SizeIs(100000)));
}

TEST(SlurmTest, Rule1Dot24ExpandHostlistRefuses) {
  for (const char* list : {"", "n1,", ",n1", "n[1-2", "n1-2]", "n[[1]]", "n[]", "n[a]", "n[2-1]", "n[1-]", "n[1,]",
                           "n[1]m[2]", "n[1-100001]", "n[0-2147483647]", "n[0-99999999999]"}) {
    EXPECT_THAT(ExpandHostlist(list), HasCode(kInvalid)) << list;
  }
}

TEST(SlurmTest, Rule1Dot24ExpandTasksPerNode) {
  EXPECT_THAT(ExpandTasksPerNode("3"), IsOkAndHolds(ElementsAre(3)));
  EXPECT_THAT(ExpandTasksPerNode("3(x2),2,1"), IsOkAndHolds(ElementsAre(3, 3, 2, 1)));
  EXPECT_THAT(ExpandTasksPerNode("3(x2),2,11(x4)"), IsOkAndHolds(ElementsAre(3, 3, 2, 11, 11, 11, 11)));
  for (const char* text : {"", "3,", "x", "3(x", "3(x2", "3(x)", "3x2", "-1", "3(x999999999)", "99999999"}) {
    EXPECT_THAT(ExpandTasksPerNode(text), HasCode(kInvalid)) << text;
  }
}

TEST(SlurmTest, Rule1Dot25JobsInNameOrderOverHostsInNameOrder) {
  const auto task = SlurmTfConfig(FiveTasks("0"), PsAndWorkers(0, std::nullopt));
  ASSERT_THAT(task, IsOk());
  EXPECT_EQ(task->config.cluster.ToJson(),
            R"({"ps":["t02n13:8888"],"worker":["t02n13:8889","t02n41:8888","t02n41:8889","t02n43:8888"]})");
  EXPECT_EQ(task->config.self, (TaskId{"ps", 0}));
  EXPECT_EQ(task->cuda_visible_devices, "");
}

TEST(SlurmTest, Rule1Dot25GpusOfTheTask) {
  const auto two = SlurmTfConfig(FiveTasks("1"), PsAndWorkers(4, 2));
  ASSERT_THAT(two, IsOk());
  EXPECT_EQ(two->config.self, (TaskId{"worker", 0}));
  EXPECT_EQ(two->cuda_visible_devices, "2,3");
  EXPECT_EQ(SlurmTfConfig(FiveTasks("1"), PsAndWorkers(4, std::nullopt))->cuda_visible_devices, "2,3");
  EXPECT_EQ(SlurmTfConfig(FiveTasks("1"), PsAndWorkers(2, 1))->cuda_visible_devices, "1");
  EXPECT_THAT(SlurmTfConfig(FiveTasks("1"), PsAndWorkers(2, 2)), StatusIs(kInvalid, HasSubstr("more GPUs per node")));
}

TEST(SlurmTest, Rule1Dot25DefaultIsAllWorkers) {
  const auto task = SlurmTfConfig(Step("2", "3", "n[1-3]", "1(x3)"));
  ASSERT_THAT(task, IsOk());
  EXPECT_EQ(task->config.cluster.ToJson(), R"({"worker":["n1:8888","n2:8888","n3:8888"]})");
  EXPECT_EQ(task->config.self, (TaskId{"worker", 2}));
}

TEST(SlurmTest, Rule1Dot25MissingVariableIsNamed) {
  for (const char* name :
       {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NODELIST", "SLURM_STEP_TASKS_PER_NODE"}) {
    Environment environment = FiveTasks("0");
    EXPECT_TRUE(InSlurmStep(environment));
    environment.erase(name);
    EXPECT_FALSE(InSlurmStep(environment)) << name;
    EXPECT_THAT(SlurmTfConfig(environment), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(name)));
  }
}

TEST(SlurmTest, Rule1Dot25AskedAndAssignedTasksMustAgree) {
  EXPECT_THAT(SlurmTfConfig(FiveTasks("0"), {.jobs = {{"worker", 6}}, .gpus_per_task = {}}),
              StatusIs(kInvalid, HasSubstr("Requested 6 tasks but 5 were assigned")));
  EXPECT_THAT(SlurmTfConfig(FiveTasks("5")), StatusIs(kInvalid, HasSubstr("rank 5")));
  EXPECT_THAT(SlurmTfConfig(Step("0", "4", "n[1-2]", "2,1")), StatusIs(kInvalid, HasSubstr("tells of 3 tasks")));
  EXPECT_THAT(SlurmTfConfig(Step("0", "4", "n[1-3]", "2(x2)")), StatusIs(kInvalid, HasSubstr("has 3 hosts")));
  EXPECT_THAT(SlurmTfConfig(Step("x", "4", "n[1-2]", "2(x2)")), StatusIs(kInvalid, HasSubstr("SLURM_PROCID='x'")));
  EXPECT_THAT(SlurmTfConfig(FiveTasks("0"), {.jobs = {{"chief", 2}, {"worker", 3}}, .gpus_per_task = {}}),
              StatusIs(kInvalid, HasSubstr("at most one 'chief'")));
  EXPECT_THAT(SlurmTfConfig(FiveTasks("0"), {.jobs = {}, .port_base = 65535, .gpus_per_task = {}}),
              StatusIs(kInvalid, HasSubstr("65536")));
}

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
