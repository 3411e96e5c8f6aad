#ifndef COHORT_WORKER_ROSTER_TASKS_H_
#define COHORT_WORKER_ROSTER_TASKS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/coordination/member.h"
#include "runtime/driver/worker_link.h"

namespace cohort {

// The tasks of one job of the cluster, by index.
std::vector<TaskAddress> TasksOf(const Roster& roster, absl::string_view job);

// Those that compute: the chief first, then workers by index.
std::vector<TaskAddress> ComputingTasksOf(const Roster& roster);

}  // namespace cohort

#endif  // COHORT_WORKER_ROSTER_TASKS_H_
