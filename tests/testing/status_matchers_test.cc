#include "tests/testing/status_matchers.h"

#include <gtest/gtest.h>

namespace cohort::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(StatusMatchersTest, StatusAndStatusOr) {
  const absl::Status error = absl::NotFoundError("no 'w'");
  EXPECT_THAT(absl::OkStatus(), IsOk());
  EXPECT_THAT(error, Not(IsOk()));
  EXPECT_THAT(error, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(error, StatusIs(absl::StatusCode::kNotFound, HasSubstr("'w'")));
  EXPECT_THAT(error, Not(StatusIs(absl::StatusCode::kNotFound, HasSubstr("'x'"))));
  EXPECT_THAT(error, Not(StatusIs(absl::StatusCode::kInternal, HasSubstr("'w'"))));
  EXPECT_THAT(absl::StatusOr<int>(error), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(absl::StatusOr<int>(3), IsOkAndHolds(3));
  EXPECT_THAT(absl::StatusOr<int>(3), Not(IsOkAndHolds(4)));
  EXPECT_THAT(absl::StatusOr<int>(error), Not(IsOkAndHolds(3)));
}

TEST(StatusMatchersTest, AssignTakesWhatIsHeld) {
  COHORT_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<int> held,
                              absl::StatusOr<std::unique_ptr<int>>(std::make_unique<int>(7)));
  EXPECT_EQ(*held, 7);
}

}  // namespace
}  // namespace cohort::testing
