// Real processes: what the others learn when one is killed in the middle of a collective.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/testing/process.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace cohort::testing {
namespace {

using ::testing::HasSubstr;

TEST(KilledRankTest, TheOthersGetUnavailableNamingIt) {
  for (int round = 0; round < 4; ++round) {
    const TempDir folder;
    std::vector<std::unique_ptr<Process>> ranks;
    for (int r = 0; r < 3; ++r) {
      Command command;
      command.args = {Runfile("tests/runtime/collective/grpc/rank_main"), absl::StrCat(r), "3", folder.path()};
      COHORT_ASSERT_OK_AND_ASSIGN(auto process, Process::Start(command));
      ranks.push_back(std::move(process));
    }
    // Rounds differ in where the kill falls: the other ranks' steps are not in step with this one's output.
    COHORT_ASSERT_OK(ranks[round % 3]->WaitForLine(absl::StrCat("step ", 5 + round), absl::Now() + absl::Seconds(30)));
    ranks[1]->Signal(SIGKILL);
    const absl::Time killed = absl::Now();
    for (const int r : {0, 2}) {
      COHORT_ASSERT_OK_AND_ASSIGN(const int code, ranks[r]->Wait(killed + absl::Seconds(5)));
      EXPECT_EQ(code, 0);
      EXPECT_THAT(ranks[r]->out(), HasSubstr("error: UNAVAILABLE"));
      EXPECT_THAT(ranks[r]->out(), HasSubstr("blame: /job:worker/task:1\n"));
    }
  }
}

}  // namespace
}  // namespace cohort::testing
