#ifndef COHORT_RUNTIME_COORDINATION_BARRIER_H_
#define COHORT_RUNTIME_COORDINATION_BARRIER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"
#include "runtime/base/task_id.h"
#include "runtime/coordination/callback_queue.h"
#include "runtime/coordination/member.h"

namespace cohort {

// Which barrier: the seq-th use of `name` in a session at an epoch. Each task counts its own uses from 1.
struct BarrierKey {
  int64_t session = 0;  // 0: the cluster's own
  int64_t epoch = 0;
  std::string name;
  int64_t seq = 1;

  friend auto operator<=>(const BarrierKey&, const BarrierKey&) = default;
};

// One task's coming to a barrier.
struct BarrierArrival {
  BarrierKey key;
  TaskId task;
  std::vector<TaskId> tasks;                 // all who meet, in any order; the same on every task
  std::map<std::string, std::string> agree;  // field -> value; must be equal on all tasks
  absl::Time deadline;                       // the earliest deadline of those who arrived ends the barrier for all
};

// Named meeting points of tasks, with agreement on values. All tasks of one barrier get one and the same status; a task
// that arrives after the end gets it too, so that a repeated call is harmless. Safe from any thread; callbacks run
// without locks and must not block.
class BarrierTable {
 public:
  // `addresses` complete the messages. `loss_of` says how a task was lost, if it is; called under this table's lock.
  BarrierTable(std::map<TaskId, std::string> addresses, std::function<std::optional<MemberLoss>(const TaskId&)> loss_of,
               const Clock& clock);

  // Calls `done` once, when all tasks have arrived or the barrier has failed:
  //   DeadlineExceeded: names who is missing; FirstCause has who arrived and who did not.
  //   Unavailable: a task of the barrier is lost; at once.
  //   FailedPrecondition: `agree` or `tasks` differ; names the field, both values and both tasks.
  //   InvalidArgument: `task` is not one of `tasks`. Aborted: the same task arrived again; the later call waits on.
  void Arrive(BarrierArrival arrival, std::function<void(absl::Status)> done);

  // Fails every open barrier of earlier epochs that the lost task belongs to.
  void MemberLost(const MemberLoss& loss);

  // Ends all open barriers of a session with `reason`, which is not ok.
  void EndSession(int64_t session, const absl::Status& reason);

  // Ends barriers whose deadline has passed.
  void Tick();

 private:
  struct Barrier {
    std::vector<TaskId> tasks;  // ascending
    std::map<TaskId, std::function<void(absl::Status)>> arrived;
    TaskId first;  // whose values the others are compared with
    std::map<std::string, std::string> agree;
    absl::Time deadline;
  };
  using Barriers = std::map<BarrierKey, Barrier>;

  void ArriveLocked(BarrierArrival arrival, std::function<void(absl::Status)> done) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Answers everybody who arrived, remembers the answer for those who come later; returns the next barrier.
  Barriers::iterator End(Barriers::iterator it, const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status LateStatus(const BarrierKey& key, const Barrier& barrier) const;
  absl::Status LostStatus(const BarrierKey& key, const Barrier& barrier, const MemberLoss& loss) const;

  const std::map<TaskId, std::string> addresses_;
  const std::function<std::optional<MemberLoss>(const TaskId&)> loss_of_;
  const Clock& clock_;
  CallbackQueue callbacks_;
  Mutex mu_;
  Barriers open_ ABSL_GUARDED_BY(mu_);
  std::map<BarrierKey, absl::Status> ended_ ABSL_GUARDED_BY(mu_);  // the last kMaxEnded
  std::deque<BarrierKey> ended_order_ ABSL_GUARDED_BY(mu_);
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_COORDINATION_BARRIER_H_
