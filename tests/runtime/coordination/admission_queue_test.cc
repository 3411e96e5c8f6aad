#include "runtime/coordination/admission_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/testing/fake_clock.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::FakeClock;
using ::cohort::testing::IsOk;
using ::cohort::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class AdmissionQueueTest : public ::testing::Test {
 protected:
  absl::Status Enter(int64_t ticket, absl::Duration wait = absl::InfiniteDuration()) {
    return queue_.Enter(ticket, "job " + std::to_string(ticket), clock_.Now() + wait,
                        [this, ticket](absl::Status status) { turns_.emplace_back(ticket, std::move(status)); });
  }

  FakeClock clock_;
  AdmissionQueue queue_{clock_};
  std::vector<std::pair<int64_t, absl::Status>> turns_;
};

TEST_F(AdmissionQueueTest, OneAtATimeInOrderOfArrival) {
  for (int64_t ticket : {1, 2, 3}) COHORT_ASSERT_OK(Enter(ticket));
  EXPECT_THAT(turns_, ElementsAre(Pair(1, IsOk())));
  EXPECT_EQ(queue_.Behind(1), "");
  EXPECT_EQ(queue_.Behind(2), "job 1");
  EXPECT_EQ(queue_.Behind(3), "job 2");
  queue_.Leave(1);
  EXPECT_THAT(turns_, ElementsAre(Pair(1, IsOk()), Pair(2, IsOk())));
  queue_.Leave(2);
  EXPECT_THAT(turns_, ElementsAre(Pair(1, IsOk()), Pair(2, IsOk()), Pair(3, IsOk())));
}

TEST_F(AdmissionQueueTest, WhoLeavesTheLineIsPassedOver) {
  for (int64_t ticket : {1, 2, 3}) COHORT_ASSERT_OK(Enter(ticket));
  queue_.Leave(2);
  EXPECT_EQ(queue_.Behind(3), "job 1");
  queue_.Leave(1);
  EXPECT_THAT(turns_, ElementsAre(Pair(1, IsOk()), Pair(3, IsOk())));
}

TEST_F(AdmissionQueueTest, WithoutWaitingTheHolderIsNamed) {
  COHORT_ASSERT_OK(Enter(1, absl::ZeroDuration()));
  EXPECT_THAT(Enter(2, absl::ZeroDuration()),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("job 2 cannot start"), HasSubstr("job 1 is using"))));
  EXPECT_THAT(turns_, ElementsAre(Pair(1, IsOk())));
}

TEST_F(AdmissionQueueTest, AWaitThatIsOverNamesTheHolder) {
  COHORT_ASSERT_OK(Enter(1, absl::Seconds(1)));
  COHORT_ASSERT_OK(Enter(2, absl::Seconds(3)));
  clock_.Advance(absl::Seconds(3));
  queue_.Tick();
  EXPECT_THAT(turns_, ElementsAre(Pair(1, IsOk()),
                                  Pair(2, StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("job 1")))));
  queue_.Leave(1);
  EXPECT_EQ(turns_.size(), 2u);
}

TEST_F(AdmissionQueueTest, ClosingEndsTheWaitsAndRefusesNewOnes) {
  for (int64_t ticket : {1, 2, 3}) COHORT_ASSERT_OK(Enter(ticket));
  queue_.Close(absl::CancelledError("shutdown"));
  EXPECT_THAT(turns_, ElementsAre(Pair(1, IsOk()), Pair(2, StatusIs(absl::StatusCode::kCancelled, "shutdown")),
                                  Pair(3, StatusIs(absl::StatusCode::kCancelled, "shutdown"))));
  EXPECT_THAT(Enter(4), StatusIs(absl::StatusCode::kCancelled, "shutdown"));
}

TEST_F(AdmissionQueueTest, TicketsAreNeverGivenTwice) {
  EXPECT_EQ(queue_.NewTicket(), 1);
  EXPECT_EQ(queue_.NewTicket(), 2);
}

}  // namespace
}  // namespace cohort
