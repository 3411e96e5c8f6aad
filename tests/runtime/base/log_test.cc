#include "runtime/base/log.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOk;
using ::testing::Pair;
using testing::StatusIs;

class LogTest : public ::testing::Test {
 protected:
  LogTest() {
    SetLogSink([this](LogLevel level, const std::string& line) { lines_.emplace_back(level, line); });
  }
  ~LogTest() override {
    SetLogSink(nullptr);
    SetLogLevel(LogLevel::kInfo);
    InitLogging("-");
  }
  std::vector<std::pair<LogLevel, std::string>> lines_;
};

TEST_F(LogTest, TheSinkGetsLinesFromInfoUpWithTaskAndComponent) {
  InitLogging("/job:ps/task:0");
  LogDebug("ps", "per step");
  LogInfo("ps", "ready");
  LogWarn("ps", "survived");
  LogError("ps", "failed");
  EXPECT_THAT(lines_, ElementsAre(Pair(LogLevel::kInfo, "/job:ps/task:0 ps: ready"),
                                  Pair(LogLevel::kWarn, "/job:ps/task:0 ps: survived"),
                                  Pair(LogLevel::kError, "/job:ps/task:0 ps: failed")));
}

TEST_F(LogTest, BracesAreNotAFormat) {
  LogInfo("c", "{} {0} {bad");
  EXPECT_THAT(lines_, ElementsAre(Pair(LogLevel::kInfo, "- c: {} {0} {bad")));
}

TEST_F(LogTest, ALineOnStandardErrorHasTimeLevelTaskAndComponent) {
  ::testing::internal::CaptureStderr();
  InitLogging("/job:worker/task:1");
  LogWarn("worker", "late");
  LogDebug("worker", "not shown");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::MatchesRegex("[0-9-]+T[0-9:]+\\.[0-9][0-9][0-9] warning /job:worker/task:1 worker: late\n"));
}

TEST_F(LogTest, LevelsByName) {
  for (const char* name : {"trace", "debug", "info", "warn", "error"}) EXPECT_THAT(SetLogLevel(name), IsOk());
  EXPECT_THAT(SetLogLevel("loud"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'loud'")));
}

}  // namespace
}  // namespace cohort
