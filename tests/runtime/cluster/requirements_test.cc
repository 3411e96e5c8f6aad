#include "runtime/cluster/requirements.h"

#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TfConfig Parse(const char* text) { return ParseTfConfig(text).value(); }

TEST(RequirementsTest, R02ParameterServerNeedsPsAndWorker) {
  EXPECT_THAT(ValidateForStrategy("parameter_server", Parse(R"({"cluster":{"worker":["w0:1"]}})")),
              StatusIs(kInvalid, HasSubstr("at least one ps")));
  EXPECT_THAT(ValidateForStrategy("parameter_server", Parse(R"({"cluster":{"ps":["p0:1"],"chief":["c:1"]}})")),
              StatusIs(kInvalid, HasSubstr("at least one worker")));
  EXPECT_THAT(ValidateForStrategy("parameter_server", TfConfig{}), StatusIs(kInvalid, HasSubstr("at least one ps")));
  EXPECT_THAT(ValidateForStrategy("parameter_server", Parse(R"({"cluster":{"ps":["p0:1"],"worker":["w0:1"]}})")),
              IsOk());
}

TEST(RequirementsTest, Rule3Dot23MultiWorkerNeedsATaskThatIsNoPs) {
  constexpr char kStrategy[] = "multi_worker_mirrored";
  EXPECT_THAT(ValidateForStrategy(kStrategy, TfConfig{}), IsOk());
  EXPECT_THAT(ValidateForStrategy(kStrategy, Parse(R"({"cluster":{"worker":["w0:1"]}})")),
              StatusIs(kInvalid, HasSubstr("must also specify task_type and task_id")));
  EXPECT_THAT(ValidateForStrategy(kStrategy, Parse(R"({"cluster":{"worker":["w0:1","w1:1"],"ps":["p0:1"]},
                                                       "task":{"type":"worker","index":0}})")),
              IsOk());
  EXPECT_THAT(ValidateForStrategy(
                  kStrategy, Parse(R"({"cluster":{"worker":["w0:1"],"ps":["p0:1"]},"task":{"type":"ps","index":0}})")),
              StatusIs(kInvalid, HasSubstr("no id for task_type 'ps'")));
  EXPECT_THAT(
      ValidateForStrategy(kStrategy, Parse(R"({"cluster":{"worker":["w0:1"]},"task":{"type":"evaluator","index":0}})")),
      IsOk());
}

TEST(RequirementsTest, StrategiesOfOneProcessRunAnywhere) {
  for (const char* strategy : {"default", "one_device", "mirrored", "central_storage"}) {
    EXPECT_THAT(ValidateForStrategy(strategy, TfConfig{}), IsOk()) << strategy;
  }
  EXPECT_THAT(ValidateForStrategy("mirored", TfConfig{}), StatusIs(kInvalid, HasSubstr("there are default, ")));
}

TEST(RequirementsTest, Rule1Dot20DaemonNeedsClusterTaskAddressAndLeader) {
  EXPECT_THAT(ValidateForDaemon(TfConfig{}), StatusIs(kInvalid, HasSubstr("'cluster'")));
  EXPECT_THAT(ValidateForDaemon(Parse(R"({"cluster":{"worker":["w0:1"]}})")), StatusIs(kInvalid, HasSubstr("'task'")));
  EXPECT_THAT(ValidateForDaemon(Parse(R"({"cluster":{"worker":["w0:1"]},"task":{"type":"evaluator","index":0}})")),
              StatusIs(kInvalid, HasSubstr("listens at its address")));
  EXPECT_THAT(ValidateForDaemon(Parse(R"({"cluster":{"evaluator":["e:1"]},"task":{"type":"evaluator","index":0}})")),
              StatusIs(kInvalid, HasSubstr("a chief or a worker")));
  for (const char* job : {"chief", "worker", "ps", "evaluator"}) {
    TfConfig config = Parse(R"({"cluster":{"chief":["c:1"],"worker":["w:1"],"ps":["p:1"],"evaluator":["e:1"]}})");
    config.self = TaskId{job, 0};
    EXPECT_THAT(ValidateForDaemon(config), IsOk()) << job;
  }
}

}  // namespace
}  // namespace cohort
