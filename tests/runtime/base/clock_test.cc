#include "runtime/base/clock.h"

#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "tests/testing/fake_clock.h"

namespace cohort {
namespace {

TEST(ClockTest, TheRealOneIsTheSystems) {
  const absl::Time before = absl::Now();
  const absl::Time now = Clock::Real().Now();
  EXPECT_GE(now, before);
  EXPECT_LE(now, absl::Now());
}

TEST(FakeClockTest, MovesOnlyWhenTold) {
  testing::FakeClock clock;
  const absl::Time start = clock.Now();
  EXPECT_EQ(clock.Now(), start);
  clock.Advance(absl::Seconds(5));
  EXPECT_EQ(clock.Now() - start, absl::Seconds(5));
}

}  // namespace
}  // namespace cohort
