// The other resolvers: rules 1.22 to 1.25.
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/base/error_kind.h"
#include "runtime/cluster/simple_cluster_resolver.h"
#include "runtime/cluster/slurm_resolver.h"
#include "runtime/cluster/union_resolver.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::HasCode;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::IsOkAndHolds;
using ::testing::Pair;
using ::testing::SizeIs;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

ClusterSpec Make(std::vector<ClusterSpec::Job> jobs) { return ClusterSpec::Create(std::move(jobs)).value(); }

TEST(ResolversTest, Rule1x22SimpleResolverSaysWhatItWasTold) {
  const ClusterSpec cluster = Make({{"worker", {{0, "w0:1"}, {1, "w1:1"}}}});
  SimpleClusterResolver resolver(
      cluster,
      {.master = "m:1", .task = {"worker", 1, "grpc"}, .environment = "cloud", .num_accelerators = {{"GPU", 2}}});
  EXPECT_EQ(resolver.cluster_spec(), cluster);
  EXPECT_EQ(resolver.task(), (TaskId{"worker", 1}));
  EXPECT_EQ(resolver.environment(), "cloud");
  EXPECT_EQ(resolver.rpc_layer(), "grpc");
  EXPECT_THAT(resolver.master(), IsOkAndHolds("m:1"));
  EXPECT_THAT(resolver.master(TaskId{"worker", 0}), IsOkAndHolds("grpc://w0:1"));
  EXPECT_THAT(resolver.master(TaskId{"worker", 2}), HasCode(kInvalid));
  EXPECT_THAT(resolver.num_accelerators(), ElementsAre(Pair("GPU", 2)));
  const SimpleClusterResolver bare(cluster);
  EXPECT_EQ(bare.task_type(), std::nullopt);
  EXPECT_EQ(bare.task_id(), std::nullopt);
  EXPECT_THAT(bare.master(), IsOkAndHolds(""));
  EXPECT_THAT(bare.num_accelerators(), IsEmpty());
  // Wrong kinds of cluster and master are the compiler's to refuse.
  static_assert(!std::is_constructible_v<SimpleClusterResolver, const char*>);
  static_assert(!std::is_assignable_v<decltype(SimpleClusterResolverOptions::master)&, ClusterSpec>);
}

absl::StatusOr<UnionResolver> Union(std::vector<ClusterSpec> clusters) {
  std::vector<std::unique_ptr<ClusterResolver>> resolvers;
  for (ClusterSpec& cluster : clusters) {
    resolvers.push_back(std::make_unique<SimpleClusterResolver>(std::move(cluster)));
  }
  return UnionResolver::Create(std::move(resolvers));
}

TEST(ResolversTest, Rule1x23UnionOfClusters) {
  const auto dense = Union({Make({{"worker", {{0, "w0"}}}, {"ps", {{0, "p0"}}}}), Make({{"worker", {{0, "w1"}}}})});
  ASSERT_THAT(dense, IsOk());
  EXPECT_EQ(dense->cluster_spec().ToJson(), R"({"ps":["p0"],"worker":["w0","w1"]})");
  const auto sparse = Union({Make({{"worker", {{1, "w1"}}}}), Make({{"worker", {{2, "w2"}}}})});
  ASSERT_THAT(sparse, IsOk());
  EXPECT_EQ(sparse->cluster_spec().ToJson(), R"({"worker":{"1":"w1","2":"w2"}})");
  const auto mixed = Union({Make({{"worker", {{0, "w0"}, {1, "w1"}}}}), Make({{"worker", {{3, "w3"}}}})});
  ASSERT_THAT(mixed, IsOk());
  EXPECT_EQ(mixed->cluster_spec().ToJson(), R"({"worker":{"0":"w0","1":"w1","3":"w3"}})");
  EXPECT_THAT(Union({Make({{"worker", {{1, "w1"}}}}), Make({{"worker", {{1, "x"}}}})}),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("duplicate /job:worker/task:1"), HasSubstr("'w1'"), HasSubstr("'x'"))));
}

TEST(ResolversTest, Rule1x23AllElseComesFromTheFirst) {
  std::vector<std::unique_ptr<ClusterResolver>> resolvers;
  resolvers.push_back(std::make_unique<SimpleClusterResolver>(
      Make({{"worker", {{0, "w0"}}}}),
      SimpleClusterResolverOptions{
          .master = "m", .task = {"worker", 0, "grpc"}, .environment = "e", .num_accelerators = {{"GPU", 1}}}));
  resolvers.push_back(std::make_unique<SimpleClusterResolver>(
      Make({{"worker", {{0, "w1"}}}}),
      SimpleClusterResolverOptions{
          .master = "n", .task = {"ps", 3, "http"}, .environment = "f", .num_accelerators = {{"GPU", 8}}}));
  const auto both = UnionResolver::Create(std::move(resolvers));
  ASSERT_THAT(both, IsOk());
  EXPECT_THAT(both->master(), IsOkAndHolds("m"));
  EXPECT_THAT(both->master(TaskId{"worker", 1}), IsOkAndHolds("grpc://w1"));
  EXPECT_EQ(both->task(), (TaskId{"worker", 0}));
  EXPECT_EQ(both->environment(), "e");
  EXPECT_EQ(both->rpc_layer(), "grpc");
  EXPECT_THAT(both->num_accelerators(), ElementsAre(Pair("GPU", 1)));
}

TEST(ResolversTest, Rule1x23NeedsResolvers) {
  EXPECT_THAT(Union({}), HasCode(kInvalid));
  EXPECT_EQ(ErrorKindOf(Union({}).status()), ErrorKind::kPlain);
  std::vector<std::unique_ptr<ClusterResolver>> none(1);
  EXPECT_EQ(ErrorKindOf(UnionResolver::Create(std::move(none)).status()), ErrorKind::kInvalidType);
}

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

TEST(ResolversTest, Rule1x24ExpandHostlist) {
  EXPECT_THAT(ExpandHostlist("n1"), IsOkAndHolds(ElementsAre("n1")));
  EXPECT_THAT(ExpandHostlist("n[1-2],m5,o[3-4,6,7-9]"),
              IsOkAndHolds(ElementsAre("n1", "n2", "m5", "o3", "o4", "o6", "o7", "o8", "o9")));
  EXPECT_THAT(ExpandHostlist("n[0001-0003],m5,o[009-011]"),
              IsOkAndHolds(ElementsAre("n0001", "n0002", "n0003", "m5", "o009", "o010", "o011")));
  EXPECT_THAT(ExpandHostlist("n[8-10]-ib"), IsOkAndHolds(ElementsAre("n8-ib", "n9-ib", "n10-ib")));
  EXPECT_THAT(ExpandHostlist("n[1-100000]"), IsOkAndHolds(SizeIs(100000)));
}

TEST(ResolversTest, Rule1x24ExpandHostlistRefuses) {
  for (const char* list : {"", "n1,", ",n1", "n[1-2", "n1-2]", "n[[1]]", "n[]", "n[a]", "n[2-1]", "n[1-]", "n[1,]",
                           "n[1]m[2]", "n[1-100001]", "n[0-2147483647]", "n[0-99999999999]"}) {
    EXPECT_THAT(ExpandHostlist(list), HasCode(kInvalid)) << list;
  }
}

TEST(ResolversTest, Rule1x24ExpandTasksPerNode) {
  EXPECT_THAT(ExpandTasksPerNode("3"), IsOkAndHolds(ElementsAre(3)));
  EXPECT_THAT(ExpandTasksPerNode("3(x2),2,1"), IsOkAndHolds(ElementsAre(3, 3, 2, 1)));
  EXPECT_THAT(ExpandTasksPerNode("3(x2),2,11(x4)"), IsOkAndHolds(ElementsAre(3, 3, 2, 11, 11, 11, 11)));
  for (const char* text : {"", "3,", "x", "3(x", "3(x2", "3(x)", "3x2", "-1", "3(x999999999)", "99999999"}) {
    EXPECT_THAT(ExpandTasksPerNode(text), HasCode(kInvalid)) << text;
  }
}

TEST(ResolversTest, Rule1x25JobsInNameOrderOverHostsInNameOrder) {
  const auto task = SlurmTfConfig(FiveTasks("0"), PsAndWorkers(0, std::nullopt));
  ASSERT_THAT(task, IsOk());
  EXPECT_EQ(task->config.cluster.ToJson(),
            R"({"ps":["t02n13:8888"],"worker":["t02n13:8889","t02n41:8888","t02n41:8889","t02n43:8888"]})");
  EXPECT_EQ(task->config.self, (TaskId{"ps", 0}));
  EXPECT_EQ(task->cuda_visible_devices, "");
}

TEST(ResolversTest, Rule1x25GpusOfTheTask) {
  const auto two = SlurmTfConfig(FiveTasks("1"), PsAndWorkers(4, 2));
  ASSERT_THAT(two, IsOk());
  EXPECT_EQ(two->config.self, (TaskId{"worker", 0}));
  EXPECT_EQ(two->cuda_visible_devices, "2,3");
  EXPECT_EQ(SlurmTfConfig(FiveTasks("1"), PsAndWorkers(4, std::nullopt))->cuda_visible_devices, "2,3");
  EXPECT_EQ(SlurmTfConfig(FiveTasks("1"), PsAndWorkers(2, 1))->cuda_visible_devices, "1");
  EXPECT_THAT(SlurmTfConfig(FiveTasks("1"), PsAndWorkers(2, 2)), StatusIs(kInvalid, HasSubstr("more GPUs per node")));
}

TEST(ResolversTest, Rule1x25DefaultIsAllWorkers) {
  const auto task = SlurmTfConfig(Step("2", "3", "n[1-3]", "1(x3)"));
  ASSERT_THAT(task, IsOk());
  EXPECT_EQ(task->config.cluster.ToJson(), R"({"worker":["n1:8888","n2:8888","n3:8888"]})");
  EXPECT_EQ(task->config.self, (TaskId{"worker", 2}));
}

TEST(ResolversTest, Rule1x25MissingVariableIsNamed) {
  for (const char* name :
       {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NODELIST", "SLURM_STEP_TASKS_PER_NODE"}) {
    Environment environment = FiveTasks("0");
    EXPECT_TRUE(InSlurmStep(environment));
    environment.erase(name);
    EXPECT_FALSE(InSlurmStep(environment)) << name;
    EXPECT_THAT(SlurmTfConfig(environment), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(name)));
    EXPECT_EQ(ErrorKindOf(SlurmTfConfig(environment).status()), ErrorKind::kWrongContext);
  }
}

TEST(ResolversTest, Rule1x25AskedAndAssignedTasksMustAgree) {
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

TEST(ResolversTest, Rule1x25ResolverOfTheStep) {
  const auto resolver = SlurmResolver::Create(FiveTasks("1"), PsAndWorkers(4, 2));
  ASSERT_THAT(resolver, IsOk());
  EXPECT_EQ(resolver->task(), (TaskId{"worker", 0}));
  EXPECT_EQ(resolver->rpc_layer(), "grpc");
  EXPECT_THAT(resolver->master(), IsOkAndHolds("grpc://t02n13:8889"));
  EXPECT_THAT(resolver->master(TaskId{"ps", 0}), IsOkAndHolds("grpc://t02n13:8888"));
  EXPECT_THAT(resolver->num_accelerators(), ElementsAre(Pair("GPU", 2)));
  EXPECT_EQ(resolver->cuda_visible_devices(), "2,3");
  EXPECT_THAT(SlurmResolver::Create(FiveTasks("1"))->num_accelerators(), IsEmpty());
  EXPECT_EQ(ErrorKindOf(SlurmResolver::Create({}).status()), ErrorKind::kWrongContext);
}

}  // namespace
}  // namespace cohort
