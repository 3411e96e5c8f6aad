#include "runtime/base/status_macros.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/cord.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using testing::IsOk;
using testing::IsOkAndHolds;
using testing::StatusIs;

absl::Status Refused() {
  absl::Status status = absl::UnavailableError("refused");
  status.SetPayload("url", absl::Cord("payload"));
  return status;
}

TEST(AnnotateTest, ContextStandsBeforeTheMessageAndCodeAndPayloadStay) {
  const absl::Status status = Annotate(Refused(), "reading 'a'");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable, "reading 'a': refused"));
  EXPECT_EQ(status.GetPayload("url"), absl::Cord("payload"));
}

TEST(AnnotateTest, OkAndEmptyContextChangeNothing) {
  EXPECT_THAT(Annotate(absl::OkStatus(), "x"), IsOk());
  EXPECT_EQ(Annotate(Refused(), ""), Refused());
}

absl::Status Check(const absl::Status& status, bool* passed) {
  COHORT_RETURN_IF_ERROR(status) << "task " << 3 << ", '" << std::string("w") << "'";
  *passed = true;
  return absl::OkStatus();
}

TEST(ReturnIfErrorTest, AddsWhatIsStreamed) {
  bool passed = false;
  EXPECT_THAT(Check(Refused(), &passed), StatusIs(absl::StatusCode::kUnavailable, "task 3, 'w': refused"));
  EXPECT_FALSE(passed);
  EXPECT_THAT(Check(absl::OkStatus(), &passed), IsOk());
  EXPECT_TRUE(passed);
}

int evaluations = 0;
absl::StatusOr<int> Counted(const absl::StatusOr<int>& result) {
  ++evaluations;
  return result;
}

absl::StatusOr<std::string> Convert(const absl::StatusOr<int>& result) {
  if (evaluations < 0) COHORT_RETURN_IF_ERROR(absl::InternalError("not reached"));  // needs no braces
  COHORT_ASSIGN_OR_RETURN(const int value, Counted(result));
  return std::to_string(value);
}

TEST(AssignOrReturnTest, EvaluatesOnceAndConverts) {
  evaluations = 0;
  EXPECT_THAT(Convert(7), IsOkAndHolds("7"));
  EXPECT_EQ(evaluations, 1);
  EXPECT_THAT(Convert(Refused()), StatusIs(absl::StatusCode::kUnavailable, "refused"));
}

absl::StatusOr<int> WithContext(absl::StatusOr<std::unique_ptr<int>> result) {
  std::unique_ptr<int> held;
  COHORT_ASSIGN_OR_RETURN(held, std::move(result),
                          _ << "in '"
                            << "f"
                            << "'");
  return *held + 2;
}

TEST(AssignOrReturnTest, MovesAndTakesContextAsThirdArgument) {
  EXPECT_THAT(WithContext(std::make_unique<int>(5)), IsOkAndHolds(7));
  EXPECT_THAT(WithContext(Refused()), StatusIs(absl::StatusCode::kUnavailable, "in 'f': refused"));
}

}  // namespace
}  // namespace cohort
