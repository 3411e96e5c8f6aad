#ifndef COHORT_RUNTIME_BASE_FIRST_CAUSE_H_
#define COHORT_RUNTIME_BASE_FIRST_CAUSE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/base/task_id.h"

namespace cohort {

// The task that failed first, carried by every Unavailable, DeadlineExceeded, Aborted and Cancelled that crosses a task
// boundary. Whoever sees the failure first fills it in; nobody on the way replaces it.
struct FirstCause {
  TaskId task;               // who failed; an empty job if nobody is to blame (a user cancelled)
  std::string address;       // host:port of `task`
  uint64_t incarnation = 0;  // 0: unknown
  int64_t seq = 0;           // number of the collective or barrier, 0 if none
  std::string name;          // of the collective, barrier or call
  std::vector<TaskId> arrived;
  std::vector<TaskId> missing;

  friend bool operator==(const FirstCause&, const FirstCause&) = default;
};

// Attaches `cause` unless `status` is ok or already has one: the first cause wins.
void SetFirstCause(absl::Status& status, const FirstCause& cause);

// nullopt if the status carries none.
std::optional<FirstCause> GetFirstCause(const absl::Status& status);

// FirstCause::name of a job that stopped because a task was told to end (SIGTERM) while it ran.
inline constexpr char kPreempted[] = "preempted";

// The payload's type, for those that carry statuses over a wire.
inline constexpr char kFirstCauseUrl[] = "cohort/first_cause";

}  // namespace cohort

#endif  // COHORT_RUNTIME_BASE_FIRST_CAUSE_H_
