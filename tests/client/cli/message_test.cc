#include "client/cli/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cohort {
namespace {

std::string Printed(int (*print)(), int exit_code) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(print(), exit_code);
  return ::testing::internal::GetCapturedStderr();
}

TEST(MessageTest, OneSentenceAndTheExitCodeOfItsKind) {
  EXPECT_EQ(Printed([] { return Fail(absl::InvalidArgumentError("no model 'x'")); }, 2), "cohort: no model 'x'\n");
  EXPECT_EQ(Printed([] { return Fail(absl::UnavailableError("nobody at h:1")); }, 138), "cohort: nobody at h:1\n");
}

TEST(MessageTest, AJobsEndNamesTheJobAndItsFaultsAreItsOwn) {
  EXPECT_EQ(Printed([] { return FailJob(3, absl::InvalidArgumentError("bad label")); }, 1),
            "cohort: job 3: bad label\n");
  EXPECT_EQ(Printed([] { return FailJob(3, absl::CancelledError("cancelled")); }, 1), "cohort: job 3: cancelled\n");
  EXPECT_EQ(Printed([] { return FailJob(3, absl::UnavailableError("lost")); }, 138), "cohort: job 3: lost\n");
}

TEST(MessageTest, PercentSignsAreText) {
  EXPECT_EQ(Printed([] { return Fail(absl::InternalError("100% %s")); }, 1), "cohort: 100% %s\n");
}

}  // namespace
}  // namespace cohort
