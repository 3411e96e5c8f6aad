#include "runtime/base/exit_code.h"

#include <gtest/gtest.h>

namespace cohort {
namespace {

struct Row {
  absl::StatusCode code;
  int start;
  int job;
};

class ExitCodeTest : public ::testing::TestWithParam<Row> {};

TEST_P(ExitCodeTest, FollowsTheTable) {
  const absl::Status status(GetParam().code, "why");
  EXPECT_EQ(ExitCodeOf(status), GetParam().start);
  EXPECT_EQ(JobExitCodeOf(status), GetParam().job);
}

INSTANTIATE_TEST_SUITE_P(
    AllCodes, ExitCodeTest,
    ::testing::Values(Row{absl::StatusCode::kOk, 0, 0}, Row{absl::StatusCode::kInvalidArgument, 2, 1},
                      Row{absl::StatusCode::kNotFound, 2, 1}, Row{absl::StatusCode::kAlreadyExists, 2, 1},
                      Row{absl::StatusCode::kFailedPrecondition, 2, 1}, Row{absl::StatusCode::kOutOfRange, 2, 1},
                      Row{absl::StatusCode::kPermissionDenied, 2, 1}, Row{absl::StatusCode::kUnauthenticated, 2, 1},
                      Row{absl::StatusCode::kUnimplemented, 2, 1}, Row{absl::StatusCode::kUnavailable, 138, 138},
                      Row{absl::StatusCode::kDeadlineExceeded, 138, 138}, Row{absl::StatusCode::kAborted, 138, 138},
                      Row{absl::StatusCode::kCancelled, 130, 1}, Row{absl::StatusCode::kInternal, 1, 1},
                      Row{absl::StatusCode::kUnknown, 1, 1}, Row{absl::StatusCode::kResourceExhausted, 1, 1},
                      Row{absl::StatusCode::kDataLoss, 1, 1}),
    [](const auto& row) {
      std::string name = absl::StatusCodeToString(row.param.code);
      std::erase(name, '_');
      return name;
    });

}  // namespace
}  // namespace cohort
