#include "runtime/graph/window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::StatusIs;
using ::testing::HasSubstr;

struct Case {
  int64_t input, size, stride;
  const char* padding;
  int64_t output, before, after;
};

// Values of TensorFlow's documentation of SAME and VALID, and its edges.
TEST(WindowTest, OutputAndPadding) {
  for (const Case& c :
       {Case{28, 5, 1, "SAME", 28, 2, 2}, Case{13, 6, 5, "VALID", 2, 0, 0}, Case{13, 6, 5, "SAME", 3, 1, 2},
        Case{28, 2, 2, "SAME", 14, 0, 0}, Case{5, 2, 2, "SAME", 3, 0, 1}, Case{5, 2, 2, "VALID", 2, 0, 0},
        Case{2, 3, 1, "VALID", 0, 0, 0}, Case{4, 1, 3, "SAME", 2, 0, 0}, Case{0, 3, 1, "VALID", 0, 0, 0},
        Case{2, 5, 4, "VALID", 0, 0, 0}, Case{-1, 3, 2, "SAME", -1, 0, 0}}) {
    COHORT_ASSERT_OK_AND_ASSIGN(const Window window, WindowOver(c.input, c.size, c.stride, c.padding));
    EXPECT_EQ(window.output, c.output) << c.input << " " << c.size << " " << c.stride << c.padding;
    EXPECT_EQ(window.pad_before, c.before);
    EXPECT_EQ(window.pad_after, c.after);
  }
}

TEST(WindowTest, RefusesNonsense) {
  EXPECT_THAT(WindowOver(5, 0, 1, "SAME"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("size 0")));
  EXPECT_THAT(WindowOver(5, 1, 0, "SAME"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("stride 0")));
  EXPECT_THAT(WindowOver(5, 1, INT64_MAX, "SAME"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("2^31")));
  EXPECT_THAT(WindowOver(5, INT64_MAX, 1, "SAME"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("2^31")));
  EXPECT_THAT(WindowOver(5, 1, 1, "FULL"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'FULL'")));
}

}  // namespace
}  // namespace cohort
