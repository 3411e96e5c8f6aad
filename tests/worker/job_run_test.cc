#include "worker/job_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "runtime/base/thread.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::StatusIs;
using ::testing::HasSubstr;

const absl::Time kStart = absl::FromUnixSeconds(1893456000);
constexpr absl::Duration kLease = absl::Seconds(10);

JobEvent Event(int64_t step, JobEvent::Kind kind = JobEvent::Kind::kReport) {
  JobEvent event;
  event.kind = kind;
  event.info.step = step;
  return event;
}

absl::Time Soon() { return absl::Now() + absl::Seconds(10); }

TEST(JobRunTest, FollowersReadAllEventsEachAtItsOwnPace) {
  JobRun run(3, /*detached=*/false, kStart);
  EXPECT_EQ(run.id(), 3);
  run.Append(Event(1));
  run.Append(Event(2));
  EXPECT_EQ(run.Next(0, Soon())->info.step, 1);
  EXPECT_EQ(run.Next(1, Soon())->info.step, 2);
  EXPECT_EQ(run.Next(0, Soon())->info.step, 1);
  EXPECT_EQ(run.event_count(), 2u);
  EXPECT_FALSE(run.Next(2, absl::Now()).has_value());
}

TEST(JobRunTest, TheEndIsTheLastEventAndComesOnce) {
  JobRun run(1, false, kStart);
  run.Append(Event(1));
  EXPECT_FALSE(run.ended().has_value());
  run.End(Event(2, JobEvent::Kind::kEnd), absl::OkStatus());
  run.End(Event(3, JobEvent::Kind::kEnd), absl::InternalError("too late"));
  EXPECT_EQ(run.event_count(), 2u);
  EXPECT_EQ(run.Next(1, Soon())->kind, JobEvent::Kind::kEnd);
  EXPECT_FALSE(run.Next(2, absl::InfiniteFuture()).has_value());  // at once: there will be none
  EXPECT_EQ(run.ended(), absl::OkStatus());
}

TEST(JobRunTest, WhoWaitsForAnEventWakesWithIt) {
  JobRun run(1, false, kStart);
  Thread writer("writer", [&] {
    run.Append(Event(1));
    run.End(Event(2, JobEvent::Kind::kEnd), absl::OkStatus());
  });
  EXPECT_EQ(run.Next(0, Soon())->info.step, 1);
  EXPECT_EQ(run.Next(1, Soon())->info.step, 2);
  EXPECT_FALSE(run.Next(2, Soon()).has_value());
  writer.Join();
}

TEST(JobRunTest, AttachedJobsAreAbandonedOnceNobodyFollowedForTheLease) {
  JobRun run(1, false, kStart);
  EXPECT_FALSE(run.Abandoned(kStart + kLease, kLease));
  EXPECT_TRUE(run.Abandoned(kStart + kLease + absl::Seconds(1), kLease));
  run.AddFollower();
  run.AddFollower();
  EXPECT_FALSE(run.Abandoned(kStart + absl::Hours(1), kLease));
  run.RemoveFollower(kStart + absl::Hours(1));
  EXPECT_FALSE(run.Abandoned(kStart + absl::Hours(2), kLease));
  run.RemoveFollower(kStart + absl::Hours(2));
  EXPECT_FALSE(run.Abandoned(kStart + absl::Hours(2) + kLease, kLease));
  EXPECT_TRUE(run.Abandoned(kStart + absl::Hours(3), kLease));
}

TEST(JobRunTest, DetachedStoppingAndEndedJobsAreNotAbandoned) {
  const absl::Time late = kStart + absl::Hours(1);
  EXPECT_FALSE(JobRun(1, /*detached=*/true, kStart).Abandoned(late, kLease));
  JobRun stopping(2, false, kStart);
  stopping.Stop(kStart);
  EXPECT_FALSE(stopping.Abandoned(late, kLease));
  JobRun ended(3, false, kStart);
  ended.End(Event(1, JobEvent::Kind::kEnd), absl::OkStatus());
  EXPECT_FALSE(ended.Abandoned(late, kLease));
}

TEST(JobRunTest, StoppingCountsFromTheFirstRequestUntilTheEnd) {
  JobRun run(1, true, kStart);
  EXPECT_FALSE(run.StoppingSince(absl::InfiniteFuture()));
  run.Stop(kStart);
  run.Stop(kStart + absl::Hours(1));
  EXPECT_FALSE(run.StoppingSince(kStart));
  EXPECT_TRUE(run.StoppingSince(kStart + absl::Seconds(1)));
  run.End(Event(1, JobEvent::Kind::kEnd), absl::OkStatus());
  EXPECT_FALSE(run.StoppingSince(kStart + absl::Seconds(1)));
}

TEST(JobRunTest, WhatComesBeforeTheTrainingIsPassedOnToIt) {
  // Without tasks a training fails for that reason, unless it was told to end before.
  JobRun run(1, true, kStart);
  COHORT_EXPECT_OK(run.interrupted());
  run.Stop(kStart);
  EXPECT_THAT(run.interrupted(), StatusIs(absl::StatusCode::kCancelled, HasSubstr("before its training began")));
  run.Abort(absl::UnavailableError("/job:worker/task:1 is lost"));
  run.Abort(absl::CancelledError("second"));
  EXPECT_THAT(run.interrupted(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("is lost")));
}

}  // namespace
}  // namespace cohort
