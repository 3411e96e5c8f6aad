#include "runtime/driver/fan_out.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "runtime/base/thread_pool.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::IsOkAndHolds;
using ::cohort::testing::StatusIs;
using ::testing::Optional;

using Calls = FanOut<int>;

absl::Time Soon() { return absl::Now() + absl::Seconds(10); }

TEST(FanOutTest, AnswersStandAtTheirCalls) {
  const auto calls = std::make_shared<Calls>(3);
  Calls::Slot(calls, 2)(30);
  Calls::Slot(calls, 0)(10);
  EXPECT_FALSE(calls->WaitForAll(absl::Now()));
  EXPECT_FALSE(calls->WaitForAllOrError(absl::Now()));
  Calls::Slot(calls, 1)(20);
  EXPECT_TRUE(calls->WaitForAll(absl::InfinitePast()));
  EXPECT_TRUE(calls->WaitForAllOrError(absl::InfinitePast()));
  for (int i = 0; i < 3; ++i) EXPECT_THAT(calls->answers()[i], Optional(IsOkAndHolds(10 * (i + 1))));
  COHORT_EXPECT_OK(calls->first_error());
}

TEST(FanOutTest, NoCallsAreAllAnswered) {
  Calls calls(0);
  EXPECT_TRUE(calls.WaitForAll(absl::InfinitePast()));
  EXPECT_TRUE(calls.WaitForAllOrError(absl::InfinitePast()));
}

TEST(FanOutTest, AnErrorEndsTheWaitForGoodAnswersOnly) {
  const auto calls = std::make_shared<Calls>(3);
  Calls::Slot(calls, 1)(absl::UnavailableError("first"));
  Calls::Slot(calls, 0)(absl::InternalError("second"));
  EXPECT_FALSE(calls->WaitForAllOrError(absl::InfiniteFuture()));
  EXPECT_FALSE(calls->WaitForAll(absl::Now()));
  EXPECT_THAT(calls->first_error(), StatusIs(absl::StatusCode::kUnavailable, "first"));
  EXPECT_FALSE(calls->answers()[2].has_value());
  Calls::Slot(calls, 2)(1);
  EXPECT_TRUE(calls->WaitForAll(absl::InfinitePast()));
  EXPECT_FALSE(calls->WaitForAllOrError(absl::InfinitePast()));
}

TEST(FanOutTest, ASecondAnswerOfOneCallIsIgnored) {
  const auto calls = std::make_shared<Calls>(1);
  const auto slot = Calls::Slot(calls, 0);
  slot(1);
  slot(absl::InternalError("twice"));
  EXPECT_THAT(calls->answers()[0], Optional(IsOkAndHolds(1)));
  COHORT_EXPECT_OK(calls->first_error());
}

TEST(FanOutTest, InterruptWakesLikeAnErrorAndTheFirstCounts) {
  const auto calls = std::make_shared<Calls>(2);
  ThreadPool pool("interrupt", 1);
  pool.Post([calls] { calls->Interrupt(absl::UnavailableError("lost")); });
  EXPECT_FALSE(calls->WaitForAllOrError(absl::InfiniteFuture()));
  calls->Interrupt(absl::CancelledError("later"));
  Calls::Slot(calls, 0)(absl::CancelledError("told to end"));
  EXPECT_THAT(calls->first_error(), StatusIs(absl::StatusCode::kUnavailable, "lost"));
}

TEST(FanOutTest, AnswersFromManyThreadsAreAllKept) {
  const auto calls = std::make_shared<Calls>(100);
  ThreadPool pool("answers", 4);
  for (int i = 0; i < 100; ++i) pool.Post([slot = Calls::Slot(calls, i), i] { slot(i); });
  ASSERT_TRUE(calls->WaitForAllOrError(Soon()));
  for (int i = 0; i < 100; ++i) EXPECT_THAT(calls->answers()[i], Optional(IsOkAndHolds(i)));
}

TEST(FanOutTest, AnAnswerAfterEverybodyLeftFindsItsPlace) {
  auto calls = std::make_shared<Calls>(1);
  const auto slot = Calls::Slot(calls, 0);
  const std::weak_ptr<Calls> alive = calls;
  calls.reset();
  EXPECT_FALSE(alive.expired());
  slot(1);
}

}  // namespace
}  // namespace cohort
