#ifndef COHORT_RUNTIME_COLLECTIVE_GROUP_H_
#define COHORT_RUNTIME_COLLECTIVE_GROUP_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "runtime/base/first_cause.h"
#include "runtime/base/task_id.h"

namespace cohort {

// Which group of a cluster: every stream and every communicator belongs to one. A group lives in one epoch of one
// session and is never repaired: after an error, or when the epoch moves, a new one is made.
struct GroupId {
  uint64_t session = 0;
  int64_t epoch = 0;
  int64_t group = 0;  // distinguishes groups of one session and epoch

  std::string ToString() const;  // "session 7, epoch 3, group 0"

  friend bool operator==(const GroupId&, const GroupId&) = default;
  friend auto operator<=>(const GroupId&, const GroupId&) = default;
};

// One rank of a group: the task that holds the replica, as the roster has it.
struct GroupMember {
  TaskId task;
  std::string address;       // host:port; empty in process
  uint64_t incarnation = 0;  // 0: any life of the task

  std::string ToString() const;  // "/job:worker/task:1 at 10.0.0.7:2222"
};

// A group as one of its ranks sees it. All ranks give the same id and members.
struct GroupSpec {
  GroupId id;
  std::vector<GroupMember> members;  // by rank; a task with several replicas stands there several times
  int rank = 0;
};

// InvalidArgument: no members, or a rank outside of them.
absl::Status Validate(const GroupSpec& spec);

// Begins a FirstCause that blames `member`.
FirstCause Blame(const GroupMember& member);

// DeadlineExceeded for a group that did not come together: names the ranks that have not `arrived`.
absl::Status NotComplete(const GroupSpec& spec, const std::vector<bool>& arrived);

}  // namespace cohort

#endif  // COHORT_RUNTIME_COLLECTIVE_GROUP_H_
