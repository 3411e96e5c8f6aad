#ifndef COHORT_WORKER_ROSTER_TASKS_H_
#define COHORT_WORKER_ROSTER_TASKS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/coordination/member.h"
#include "runtime/driver/worker_link.h"
#include "runtime/graph/program.h"

namespace cohort {

// The tasks of one job of the cluster, by index.
std::vector<TaskAddress> TasksOf(const Roster& roster, absl::string_view job);

// Those that compute: the chief first, then workers by index.
std::vector<TaskAddress> ComputingTasksOf(const Roster& roster);

// Those that a session of `strategy` computes and keeps variables on: it waits for them, and the loss of one ends it.
// Errors of WorkersFor.
absl::StatusOr<std::vector<TaskId>> TasksUsed(StrategyKind strategy, const Roster& roster);

}  // namespace cohort

#endif  // COHORT_WORKER_ROSTER_TASKS_H_
