#include "runtime/base/mutex.h"

#include <gtest/gtest.h>

#include <vector>

#include "absl/time/clock.h"
#include "runtime/base/thread.h"

namespace cohort {
namespace {

struct Counter {
  Mutex mu;
  int value ABSL_GUARDED_BY(mu) = 0;
};

TEST(MutexTest, ThreadsExcludeEachOther) {
  Counter counter;
  std::vector<Thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back("adder", [&counter] {
      for (int i = 0; i < 1000; ++i) {
        MutexLock lock(&counter.mu);
        ++counter.value;
      }
    });
  }
  for (Thread& thread : threads) thread.Join();
  MutexLock lock(&counter.mu);
  EXPECT_EQ(counter.value, 4000);
}

TEST(MutexTest, TryLockFailsWhileHeld) {
  Counter counter;
  MutexLock lock(&counter.mu);
  Thread other("other", [&counter] {
    const bool locked = counter.mu.TryLock();
    EXPECT_FALSE(locked);
    if (locked) counter.mu.Unlock();
  });
  other.Join();
}

TEST(MutexTest, AwaitReturnsOnceTheConditionHolds) {
  Counter counter;
  Thread setter("setter", [&counter] {
    MutexLock lock(&counter.mu);
    counter.value = 1;
  });
  bool held = false;
  {
    MutexLock lock(&counter.mu);
    const auto set = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(counter.mu) { return counter.value == 1; };
    held = counter.mu.AwaitWithDeadline(set, absl::Now() + absl::Seconds(20));
    EXPECT_EQ(counter.value, 1);
  }
  setter.Join();
  EXPECT_TRUE(held);
}

TEST(MutexTest, AwaitGivesUpAtTheDeadlineAndHoldsTheLock) {
  Counter counter;
  const absl::Time deadline = absl::Now() + absl::Milliseconds(10);
  MutexLock lock(&counter.mu);
  const auto never = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(counter.mu) { return counter.value == 1; };
  EXPECT_FALSE(counter.mu.AwaitWithDeadline(never, deadline));
  EXPECT_GE(absl::Now(), deadline);
  counter.mu.AssertHeld();
}

}  // namespace
}  // namespace cohort
