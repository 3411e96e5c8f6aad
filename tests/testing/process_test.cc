#include "tests/testing/process.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>

#include "absl/time/clock.h"
#include "tests/testing/status_matchers.h"

namespace cohort::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Command Shell(const std::string& script) { return {.args = {"sh", "-c", script}}; }
absl::Time Soon() { return absl::Now() + absl::Seconds(20); }

TEST(ProcessTest, CapturesBothOutputsAndTheExitCode) {
  COHORT_ASSERT_OK_AND_ASSIGN(const Finished run, RunToEnd(Shell("echo one; echo two >&2; exit 7"), absl::Seconds(20)));
  EXPECT_EQ(run.exit_code, 7);
  EXPECT_EQ(run.out, "one\n");
  EXPECT_EQ(run.err, "two\n");
}

TEST(ProcessTest, OutputLargerThanAPipeDoesNotBlock) {
  COHORT_ASSERT_OK_AND_ASSIGN(
      const Finished run, RunToEnd(Shell("head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero"), absl::Seconds(20)));
  EXPECT_EQ(run.out.size(), 300000u);
  EXPECT_EQ(run.err.size(), 300000u);
}

TEST(ProcessTest, EnvironmentIsAddedAndTakenAway) {
  setenv("COHORT_TEST_GONE", "there", 1);
  Command command = Shell("echo $COHORT_TEST_NEW,$COHORT_TEST_GONE");
  command.env = {{"COHORT_TEST_NEW", "new"}};
  command.unset = {"COHORT_TEST_GONE"};
  COHORT_ASSERT_OK_AND_ASSIGN(const Finished run, RunToEnd(command, absl::Seconds(20)));
  EXPECT_EQ(run.out, "new,\n");
}

TEST(ProcessTest, WaitForLineGivesTheWholeLineWhileTheProcessRuns) {
  COHORT_ASSERT_OK_AND_ASSIGN(const auto process, Process::Start(Shell("echo first; echo it is ready now; sleep 60")));
  EXPECT_THAT(process->WaitForLine("ready", Soon()), IsOkAndHolds("it is ready now"));
  EXPECT_TRUE(process->running());
}

TEST(ProcessTest, WaitForLineTellsWhenTheProcessEndedWithoutIt) {
  COHORT_ASSERT_OK_AND_ASSIGN(const auto process, Process::Start(Shell("echo cause >&2; exit 2")));
  EXPECT_THAT(process->WaitForLine("ready", Soon()),
              StatusIs(absl::StatusCode::kFailedPrecondition, AllOf(HasSubstr("ended with 2"), HasSubstr("cause\n"))));
}

TEST(ProcessTest, WaitsEndAtTheirDeadline) {
  COHORT_ASSERT_OK_AND_ASSIGN(const auto process, Process::Start(Shell("sleep 60")));
  const absl::Time deadline = absl::Now() + absl::Milliseconds(20);
  EXPECT_THAT(process->WaitForLine("ready", deadline), StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(process->Wait(deadline), StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST(ProcessTest, ASignalShowsInTheExitCode) {
  COHORT_ASSERT_OK_AND_ASSIGN(const auto process, Process::Start(Shell("echo up; sleep 60; :")));
  COHORT_ASSERT_OK(process->WaitForLine("up", Soon()));
  process->Signal(SIGTERM);
  EXPECT_THAT(process->Wait(Soon()), IsOkAndHolds(128 + SIGTERM));
  process->Signal(SIGTERM);  // to nobody
}

TEST(ProcessTest, WhatTheProcessLeftRunningIsKilledAndReaped) {
  pid_t left = 0;
  {
    COHORT_ASSERT_OK_AND_ASSIGN(const auto process, Process::Start(Shell("sleep 60 & echo $!")));
    EXPECT_THAT(process->Wait(Soon()), IsOkAndHolds(0));
    left = std::atoi(process->out().c_str());
    ASSERT_GT(left, 1);
    EXPECT_EQ(kill(left, 0), 0);
  }
  EXPECT_EQ(kill(left, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(ProcessTest, AMissingProgramIsNamed) {
  EXPECT_THAT(Process::Start({.args = {"/no/such/program"}}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/no/such/program")));
}

}  // namespace
}  // namespace cohort::testing
