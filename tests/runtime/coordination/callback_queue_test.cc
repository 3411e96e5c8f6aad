#include "runtime/coordination/callback_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "runtime/base/thread.h"

namespace cohort {
namespace {

using ::testing::ElementsAre;

TEST(CallbackQueue, RunsInTheOrderOfPosting) {
  CallbackQueue queue;
  std::vector<int> seen;
  for (int i = 1; i <= 3; ++i) queue.Post([&seen, i] { seen.push_back(i); });
  EXPECT_TRUE(seen.empty());
  queue.Run();
  EXPECT_THAT(seen, ElementsAre(1, 2, 3));
  queue.Run();
  EXPECT_THAT(seen, ElementsAre(1, 2, 3));
}

TEST(CallbackQueue, WhatACallbackPostsRunsAfterItNotInside) {
  CallbackQueue queue;
  std::vector<int> seen;
  queue.Post([&] {
    queue.Post([&] { seen.push_back(2); });
    queue.Run();
    seen.push_back(1);
  });
  queue.Run();
  EXPECT_THAT(seen, ElementsAre(1, 2));
}

TEST(CallbackQueue, NeverRunsTwoAtOnceFromFourThreads) {
  CallbackQueue queue;
  std::atomic<int> inside = 0;
  std::atomic<int> overlaps = 0;
  std::atomic<int> count = 0;
  std::vector<Thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back("poster", [&] {
      for (int i = 0; i < 1000; ++i) {
        queue.Post([&] {
          if (++inside != 1) ++overlaps;
          ++count;
          --inside;
        });
        queue.Run();
      }
    });
  }
  for (Thread& thread : threads) thread.Join();
  EXPECT_EQ(overlaps, 0);
  EXPECT_EQ(count, 4000);
}

}  // namespace
}  // namespace cohort
