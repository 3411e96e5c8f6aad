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

TEST(RequirementsTest, StrategiesOfOneProcessRunAnywhere) {
  for (const char* strategy : {"default", "one_device", "mirrored", "central_storage"}) {
    EXPECT_THAT(ValidateForStrategy(strategy, TfConfig{}), IsOk()) << strategy;
  }
  EXPECT_THAT(ValidateForStrategy("mirored", TfConfig{}), StatusIs(kInvalid, HasSubstr("there are default, ")));
}

}  // namespace
}  // namespace cohort
