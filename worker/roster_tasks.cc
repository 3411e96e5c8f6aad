#include "worker/roster_tasks.h"

#include <algorithm>
#include <utility>

#include "runtime/base/status_macros.h"
#include "runtime/driver/placement.h"

namespace cohort {

std::vector<TaskAddress> TasksOf(const Roster& roster, absl::string_view job) {
  std::vector<TaskAddress> tasks;
  for (const RosterMember& member : roster.members) {
    if (member.task.job == job) tasks.push_back({member.task, member.address, member.incarnation});
  }
  std::sort(tasks.begin(), tasks.end(), [](const auto& a, const auto& b) { return a.task.index < b.task.index; });
  return tasks;
}

std::vector<TaskAddress> ComputingTasksOf(const Roster& roster) {
  std::vector<TaskAddress> tasks = TasksOf(roster, "chief");
  for (TaskAddress& worker : TasksOf(roster, "worker")) tasks.push_back(std::move(worker));
  return tasks;
}

absl::StatusOr<std::vector<TaskId>> TasksUsed(StrategyKind strategy, const Roster& roster) {
  const std::vector<TaskAddress> servers = TasksOf(roster, "ps");
  COHORT_ASSIGN_OR_RETURN(std::vector<TaskAddress> used, WorkersFor(strategy, ComputingTasksOf(roster), servers));
  if (strategy == StrategyKind::kParameterServer) used.insert(used.end(), servers.begin(), servers.end());
  std::vector<TaskId> tasks;
  for (const TaskAddress& task : used) tasks.push_back(task.task);
  return tasks;
}

}  // namespace cohort
