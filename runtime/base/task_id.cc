#include "runtime/base/task_id.h"

#include <ostream>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace cohort {

std::string TaskId::ToString() const { return absl::StrCat("/job:", job, "/task:", index); }

std::ostream& operator<<(std::ostream& os, const TaskId& task) { return os << task.ToString(); }

absl::StatusOr<TaskId> ParseTaskId(absl::string_view text) {
  TaskId task;
  const size_t slash = text.rfind("/task:");
  // Comparing with what it would print refuses what numbers may look like elsewhere: "+1", "01".
  if (absl::StartsWith(text, "/job:") && slash != absl::string_view::npos && slash > 5 &&
      absl::SimpleAtoi(text.substr(slash + 6), &task.index) && task.index >= 0) {
    task.job = std::string(text.substr(5, slash - 5));
    if (task.ToString() == text) return task;
  }
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' is no task; expected the form /job:worker/task:1"));
}

}  // namespace cohort
