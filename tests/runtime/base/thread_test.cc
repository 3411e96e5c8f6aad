#include "runtime/base/thread.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <string>
#include <utility>

namespace cohort {
namespace {

TEST(ThreadTest, RunsUnderItsNameCutTo15Characters) {
  char name[16] = {};
  Thread thread("a-name-that-is-too-long", [&name] { pthread_getname_np(pthread_self(), name, sizeof(name)); });
  thread.Join();
  EXPECT_EQ(std::string(name), "a-name-that-is-");
}

TEST(ThreadTest, JoiningTwiceOrWithoutAThreadDoesNothing) {
  Thread none;
  none.Join();
  Thread thread("t", [] {});
  EXPECT_TRUE(thread.joinable());
  thread.Join();
  EXPECT_FALSE(thread.joinable());
  thread.Join();
}

TEST(ThreadTest, MovesWithItsThread) {
  bool ran = false;
  Thread thread;
  thread = Thread("t", [&ran] { ran = true; });
  Thread moved = std::move(thread);
  moved.Join();
  EXPECT_TRUE(ran);
}

TEST(ThreadDeathTest, DestroyedUnjoinedIsABugThatIsNamed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH({ Thread thread("forgotten", [] {}); }, "thread 'forgotten' destroyed before it was joined");
}

}  // namespace
}  // namespace cohort
