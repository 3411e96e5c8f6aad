#include "runtime/base/task_id.h"

#include <ostream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace cohort {

std::string TaskId::ToString() const { return absl::StrCat("/job:", job, "/task:", index); }

std::ostream& operator<<(std::ostream& os, const TaskId& task) { return os << task.ToString(); }

absl::StatusOr<TaskId> ParseTaskId(absl::string_view text) {
  absl::string_view rest = text;
  TaskId task;
  const size_t slash = text.rfind("/task:");
  if (!absl::ConsumePrefix(&rest, "/job:") || slash == absl::string_view::npos || slash < 6 ||
      !absl::SimpleAtoi(text.substr(slash + 6), &task.index) || task.index < 0) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is no task; expected the form /job:worker/task:1"));
  }
  task.job = std::string(text.substr(5, slash - 5));
  return task;
}

}  // namespace cohort
