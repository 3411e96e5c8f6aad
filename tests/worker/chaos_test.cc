#include "worker/chaos.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/time/clock.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::StatusIs;
using ::testing::ExitedWithCode;
using ::testing::HasSubstr;
using ::testing::KilledBySignal;

constexpr TaskId kSelf = {"worker", 1};

TEST(ChaosTest, EveryKindIsParsed) {
  COHORT_ASSERT_OK_AND_ASSIGN(
      const Chaos chaos,
      Chaos::Parse("kill:/job:worker/task:1@step=7,stop:/job:ps/task:0@step=1,delay=250ms:/job:chief/task:0@step=30"));
  ASSERT_EQ(chaos.events().size(), 3u);
  EXPECT_EQ(chaos.events()[0].kind, Chaos::Event::Kind::kKill);
  EXPECT_EQ(chaos.events()[0].task, (TaskId{"worker", 1}));
  EXPECT_EQ(chaos.events()[0].step, 7);
  EXPECT_EQ(chaos.events()[1].kind, Chaos::Event::Kind::kStop);
  EXPECT_EQ(chaos.events()[1].task, (TaskId{"ps", 0}));
  EXPECT_EQ(chaos.events()[2].kind, Chaos::Event::Kind::kDelay);
  EXPECT_EQ(chaos.events()[2].delay, absl::Milliseconds(250));
}

TEST(ChaosTest, DelayWithoutATimeIsOneSecondAndNoTextIsNoTrouble) {
  EXPECT_EQ(Chaos::Parse("delay:/job:worker/task:1@step=7")->events()[0].delay, absl::Seconds(1));
  EXPECT_TRUE(Chaos::Parse("")->events().empty());
}

TEST(ChaosTest, OtherFormsAreRefusedWithAnExample) {
  for (const char* text :
       {"kill", "kill:", "die:/job:worker/task:1@step=7", "kill:/job:worker/task:1", "kill:/job:worker/task:1@7",
        "kill:/job:worker/task:1@step=", "kill:/job:worker/task:1@step=x", "kill:/job:worker/task:1@step=0",
        "kill:/job:worker/task:1@step=-3", "kill:worker:1@step=7", "kill:/job:worker/task:-1@step=7",
        "kill=2s:/job:worker/task:1@step=7", "stop=:/job:worker/task:1@step=7", "delay=:/job:worker/task:1@step=7",
        "delay=2:/job:worker/task:1@step=7", "delay=-2s:/job:worker/task:1@step=7",
        "delay=inf:/job:worker/task:1@step=7", "kill:/job:worker/task:1@step=7,nonsense"}) {
    EXPECT_THAT(Chaos::Parse(text),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("for example kill:/job:worker/task:1@step=7")))
        << text;
  }
}

TEST(ChaosTest, OtherTasksAndOtherStepsAreLeftAlone) {
  const absl::StatusOr<Chaos> chaos = Chaos::Parse("kill:/job:worker/task:1@step=7");
  chaos->BeforeStep(kSelf, 6);
  chaos->BeforeStep(kSelf, 8);
  chaos->BeforeStep({"worker", 0}, 7);
  chaos->BeforeStep({"ps", 1}, 7);
}

TEST(ChaosTest, DelayDelays) {
  const absl::StatusOr<Chaos> chaos = Chaos::Parse("delay=20ms:/job:worker/task:1@step=7");
  const absl::Time start = absl::Now();
  chaos->BeforeStep(kSelf, 7);
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(20));
}

TEST(ChaosDeathTest, KillKills) {
  const absl::StatusOr<Chaos> chaos = Chaos::Parse("kill:/job:worker/task:1@step=7");
  EXPECT_EXIT(chaos->BeforeStep(kSelf, 7), KilledBySignal(SIGKILL), "");
}

TEST(ChaosDeathTest, StopStopsUntilContinued) {
  const absl::StatusOr<Chaos> chaos = Chaos::Parse("stop:/job:worker/task:1@step=7");
  const pid_t child = fork();
  if (child == 0) {
    chaos->BeforeStep(kSelf, 7);
    _exit(3);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  EXPECT_TRUE(WIFSTOPPED(status));
  kill(child, SIGCONT);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(ExitedWithCode(3)(status));
}

}  // namespace
}  // namespace cohort
