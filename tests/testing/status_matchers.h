#ifndef COHORT_TESTS_TESTING_STATUS_MATCHERS_H_
#define COHORT_TESTS_TESTING_STATUS_MATCHERS_H_

#include <gmock/gmock.h>

#include <ostream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// What tests say about Status and StatusOr:
//   EXPECT_THAT(DoIt(), IsOk());
//   EXPECT_THAT(Parse("3"), IsOkAndHolds(3));
//   EXPECT_THAT(Parse("x"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'x'")));
//   COHORT_ASSERT_OK_AND_ASSIGN(Shape shape, Parse("3"));
namespace cohort::testing {

inline const absl::Status& ToStatus(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& ToStatus(const absl::StatusOr<T>& result) {
  return result.status();
}

MATCHER(IsOk, negation ? "is an error" : "is OK") {
  const absl::Status& status = ToStatus(arg);
  *result_listener << "which is " << status.ToString();
  return status.ok();
}

MATCHER_P(HasCode, code, "has code " + absl::StatusCodeToString(code)) { return ToStatus(arg).code() == code; }

MATCHER_P2(StatusIs, code, message, "") {
  const absl::Status& status = ToStatus(arg);
  *result_listener << "which is " << status.ToString() << "; ";
  return status.code() == code &&
         ::testing::ExplainMatchResult(message, std::string(status.message()), result_listener);
}
inline auto StatusIs(absl::StatusCode code) { return HasCode(code); }

MATCHER_P(IsOkAndHolds, value, "") {
  if (!arg.ok()) {
    *result_listener << "which is " << arg.status().ToString();
    return false;
  }
  return ::testing::ExplainMatchResult(value, *arg, result_listener);
}

}  // namespace cohort::testing

#define COHORT_ASSERT_OK(expr) ASSERT_THAT((expr), ::cohort::testing::IsOk())
#define COHORT_EXPECT_OK(expr) EXPECT_THAT((expr), ::cohort::testing::IsOk())
#define COHORT_ASSERT_OK_AND_ASSIGN(lhs, ...) \
  COHORT_INTERNAL_ASSERT_OK_AND_ASSIGN(COHORT_INTERNAL_TEST_CONCAT(cohort_result_, __LINE__), lhs, __VA_ARGS__)
#define COHORT_INTERNAL_TEST_CONCAT(a, b) COHORT_INTERNAL_TEST_CONCAT_(a, b)
#define COHORT_INTERNAL_TEST_CONCAT_(a, b) a##b
#define COHORT_INTERNAL_ASSERT_OK_AND_ASSIGN(temp, lhs, ...)    \
  auto temp = (__VA_ARGS__);                                    \
  ASSERT_TRUE(temp.ok()) << #__VA_ARGS__ ": " << temp.status(); \
  lhs = *std::move(temp)

#endif  // COHORT_TESTS_TESTING_STATUS_MATCHERS_H_
