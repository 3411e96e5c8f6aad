#include "worker/roster_tasks.h"

#include <algorithm>
#include <utility>

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

}  // namespace cohort
