// The TF_CONFIG strings that Kubeflow's training-operator gives to pods.

#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "runtime/cluster/chief.h"
#include "runtime/cluster/json_value.h"
#include "runtime/cluster/requirements.h"
#include "runtime/cluster/tf_config.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::ElementsAre;
using testing::HasCode;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::IsOkAndHolds;

class KubeflowTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ifstream file("tests/testdata/k8s/tf_config_expected.json");
    ASSERT_TRUE(file.good());
    std::stringstream text;
    text << file.rdbuf();
    COHORT_ASSERT_OK_AND_ASSIGN(jobs_, ParseJson(text.str()));
  }

  TfConfig Pod(const char* job, const char* pod) const {
    const JsonValue* text = jobs_.Find(job)->Find(pod);
    if (text == nullptr) return {};
    const auto config = ParseTfConfig(text->text);
    EXPECT_THAT(config, IsOk()) << pod;
    return config.value_or(TfConfig{});
  }

  JsonValue jobs_;
};

TEST_F(KubeflowTest, EveryPodIsTheTaskOfItsName) {
  int pods = 0;
  for (const auto& [job, texts] : jobs_.members) {
    for (const auto& [pod, text] : texts.members) {
      const auto config = ParseTfConfig(text.text);
      ASSERT_THAT(config, IsOk()) << job << " " << pod;
      ASSERT_TRUE(config->self.has_value()) << pod;
      EXPECT_TRUE(absl::EndsWith(pod, config->self->job + "-" + std::to_string(config->self->index))) << pod;
      const auto address = OwnAddress(*config);
      ASSERT_THAT(address, IsOk()) << pod;
      EXPECT_TRUE(absl::StartsWith(*address, pod + ".")) << *address;
      EXPECT_TRUE(absl::EndsWith(*address, ".svc:2222")) << *address;
      EXPECT_THAT(ValidateForDaemon(*config), IsOk()) << pod;
      ++pods;
    }
  }
  EXPECT_EQ(pods, 23);
}

TEST_F(KubeflowTest, ChiefIsTheChiefReplicaElseWorkerZero) {
  const TfConfig mnist = Pod("dist_mnist", "dist-mnist-for-e2e-test-worker-0");
  EXPECT_THAT(LeaderTask(mnist.cluster), IsOkAndHolds(TaskId{"chief", 0}));
  EXPECT_THAT(IsChief(mnist.cluster, *mnist.self), IsOkAndHolds(false));
  const TfConfig simple = Pod("simple", "tfjob-simple-worker-0");
  EXPECT_THAT(LeaderTask(simple.cluster), IsOkAndHolds(TaskId{"worker", 0}));
  EXPECT_THAT(IsChief(simple.cluster, *simple.self), IsOkAndHolds(true));
}

TEST_F(KubeflowTest, ListedEvaluatorIsNotInTheGroup) {
  const TfConfig full = Pod("invented_chief_ps_worker_evaluator", "full-evaluator-0");
  EXPECT_THAT(SyncGroup(full.cluster), ElementsAre(TaskId{"chief", 0}, TaskId{"worker", 0}, TaskId{"worker", 1}));
  EXPECT_THAT(CollectiveLeader(full.cluster, *full.self), IsOkAndHolds(""));
  EXPECT_THAT(full.warnings, IsEmpty());
}

TEST_F(KubeflowTest, ElasticPsFindsItselfAtPositionZero) {
  const TfConfig ps1 = Pod("invented_enable_dynamic_worker_with_ps", "elastic-ps-1");
  EXPECT_EQ(ps1.cluster.ToJson(), R"({"ps":{"1":"elastic-ps-1.default.svc:2222"}})");
  EXPECT_THAT(ps1.warnings, ElementsAre(HasSubstr("/job:ps/task:1")));
  EXPECT_THAT(LeaderTask(ps1.cluster), HasCode(absl::StatusCode::kInvalidArgument));
  const TfConfig ps0 = Pod("invented_enable_dynamic_worker_with_ps", "elastic-ps-0");
  EXPECT_THAT(ps0.warnings, IsEmpty());
}

TEST_F(KubeflowTest, ElasticWorkerSeesItselfAndAllPs) {
  const TfConfig worker1 = Pod("invented_enable_dynamic_worker_with_ps", "elastic-worker-1");
  EXPECT_EQ(worker1.cluster.count("ps"), 2);
  EXPECT_THAT(worker1.cluster.task_indices("worker"), IsOkAndHolds(ElementsAre(1)));
  const TfConfig alone = Pod("invented_enable_dynamic_worker_without_ps", "elastic-worker-1");
  EXPECT_FALSE(alone.cluster.has_job("ps"));
}

}  // namespace
}  // namespace cohort
