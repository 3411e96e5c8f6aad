#include "runtime/base/thread_pool.h"

#include <gtest/gtest.h>

#include <vector>

#include "absl/time/clock.h"

namespace cohort {
namespace {

TEST(ThreadPoolTest, OneThreadRunsWorkInOrder) {
  std::vector<int> order;
  {
    ThreadPool pool("pool", 1);
    for (int i = 0; i < 100; ++i) pool.Post([&order, i] { order.push_back(i); });
  }
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[i], i);
}

TEST(ThreadPoolTest, TheDestructorRunsWhatRunningWorkPosted) {
  int depth = 0;
  std::function<void()> next;
  {
    ThreadPool pool("pool", 1);
    next = [&] {
      if (++depth < 10) pool.Post(next);
    };
    pool.Post(next);
  }
  EXPECT_EQ(depth, 10);
}

TEST(ThreadPoolTest, ThreadsWorkAtTheSameTime) {
  constexpr int kThreads = 3;
  Mutex mu;
  int arrived = 0;
  int met = 0;
  {
    ThreadPool pool("pool", kThreads);
    for (int i = 0; i < kThreads; ++i) {
      pool.Post([&] {
        MutexLock lock(&mu);
        ++arrived;
        const auto all = [&arrived] { return arrived == kThreads; };
        met += mu.AwaitWithDeadline(all, absl::Now() + absl::Seconds(20)) ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(met, kThreads);
}

}  // namespace
}  // namespace cohort
