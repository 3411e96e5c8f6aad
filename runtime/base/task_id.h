#ifndef COHORT_RUNTIME_BASE_TASK_ID_H_
#define COHORT_RUNTIME_BASE_TASK_ID_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cohort {

// One task of the cluster, as TF_CONFIG names it. Survives restarts; a single life of a task is an incarnation.
struct TaskId {
  std::string job;  // "chief", "worker", "ps" or "evaluator"
  int index = 0;    // from 0, in the job

  // "/job:worker/task:1", the one spelling that messages use.
  std::string ToString() const;

  friend bool operator==(const TaskId&, const TaskId&) = default;
  friend auto operator<=>(const TaskId&, const TaskId&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const TaskId& t) {
    return H::combine(std::move(h), t.job, t.index);
  }
};

std::ostream& operator<<(std::ostream& os, const TaskId& task);

// Parses what ToString prints. InvalidArgument otherwise.
absl::StatusOr<TaskId> ParseTaskId(absl::string_view text);

}  // namespace cohort

#endif  // COHORT_RUNTIME_BASE_TASK_ID_H_
