#include "runtime/base/signals.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "absl/time/clock.h"
#include "runtime/base/mutex.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

TEST(SignalWaiterTest, HandsEachShutdownSignalOver) {
  BlockShutdownSignals();
  Mutex mu;
  std::vector<int> seen;
  COHORT_ASSERT_OK_AND_ASSIGN(const auto waiter, SignalWaiter::Start([&](int signal) {
                                MutexLock lock(&mu);
                                seen.push_back(signal);
                              }));
  for (const int signal : {SIGTERM, SIGINT, SIGTERM}) {
    MutexLock lock(&mu);
    const size_t want = seen.size() + 1;
    kill(getpid(), signal);
    const auto arrived = [&seen, want] { return seen.size() == want; };
    ASSERT_TRUE(mu.AwaitWithDeadline(arrived, absl::Now() + absl::Seconds(20)));
    EXPECT_EQ(seen.back(), signal);
  }
}

TEST(SignalWaiterTest, EndsWithoutASignal) {
  BlockShutdownSignals();
  COHORT_ASSERT_OK(SignalWaiter::Start([](int) { FAIL(); }));
}

TEST(BlockShutdownSignalsTest, ABrokenPipeIsAnErrorNotADeath) {
  BlockShutdownSignals();
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  close(fds[0]);
  EXPECT_EQ(write(fds[1], "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  close(fds[1]);
}

TEST(UnblockShutdownSignalsTest, AChildDiesOfSigtermAgain) {
  BlockShutdownSignals();
  const pid_t child = fork();
  if (child == 0) {
    UnblockShutdownSignals();
    raise(SIGTERM);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

}  // namespace
}  // namespace cohort
