#include "runtime/base/task_id.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::HasSubstr;
using testing::IsOkAndHolds;
using testing::StatusIs;

TEST(TaskIdTest, PrintsAndParsesOneSpelling) {
  const TaskId task = {"worker", 12};
  EXPECT_EQ(task.ToString(), "/job:worker/task:12");
  std::ostringstream out;
  out << task;
  EXPECT_EQ(out.str(), "/job:worker/task:12");
  EXPECT_THAT(ParseTaskId("/job:worker/task:12"), IsOkAndHolds(task));
}

TEST(TaskIdTest, RefusesEveryOtherSpelling) {
  for (const char* text :
       {"", "worker:1", "/job:worker", "/job:/task:1", "/job:worker/task:", "/job:worker/task:-1",
        "/job:worker/task:+1", "/job:worker/task:01", "/job:worker/task: 1", "/job:worker/task:1 ",
        "/job:worker/task:1x", "/job:worker/task:99999999999", "job:worker/task:1", "/task:1", " /job:worker/task:1"}) {
    EXPECT_THAT(ParseTaskId(text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(text))) << text;
  }
}

TEST(TaskIdTest, OrdersByJobThenIndex) {
  EXPECT_LT((TaskId{"chief", 5}), (TaskId{"worker", 0}));
  EXPECT_LT((TaskId{"worker", 2}), (TaskId{"worker", 10}));
}

}  // namespace
}  // namespace cohort
