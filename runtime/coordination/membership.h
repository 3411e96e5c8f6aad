#ifndef COHORT_RUNTIME_COORDINATION_MEMBERSHIP_H_
#define COHORT_RUNTIME_COORDINATION_MEMBERSHIP_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"
#include "runtime/base/task_id.h"
#include "runtime/coordination/callback_queue.h"
#include "runtime/coordination/member.h"

namespace cohort {

struct ExpectedMember {
  TaskId task;
  std::string address;
  bool required = true;  // false: may join, but nobody waits for it (an evaluator)
};

struct MembershipOptions {
  std::vector<ExpectedMember> expected;  // every task of the cluster, the leader's own included
  absl::Duration heartbeat = absl::Seconds(1);
  absl::Duration peer_lost = absl::Seconds(5);         // silence after which a member is lost
  absl::Duration disconnect_grace = absl::Seconds(3);  // the same after its connection broke
};

struct JoinResult {
  Roster roster;
  // One sentence each: what differs from the leader without being refused (CPU features, library versions).
  std::vector<std::string> warnings;
};

// One change of the roster; within it losses come before joins.
struct RosterChange {
  Roster roster;
  std::vector<MemberLoss> losses;
  std::vector<TaskId> joined;
};

// The leader's list of members: who joined, who is alive, who was lost, and the epoch, which rises by one whenever a
// task joins, comes back or is lost. Safe from any thread. Time passes only in Tick: call it several times per
// heartbeat.
//
// A member's life:   missing -> alive <-> disconnected -> lost -> alive (a new incarnation, or the same one again)
//
// Callbacks run in order, one at a time, without locks, in the thread of whichever call caused them; they must not
// block. Destroy only after the last call has returned.
class Membership {
 public:
  using Watcher = std::function<void(const RosterChange&)>;

  // `self` is the leader's own task: it joins at once and is never lost. `clock` outlives this.
  Membership(MembershipOptions options, MemberInfo self, const Clock& clock);

  // Takes a process in, or again. The epoch becomes 1 + the larger of the leader's and the member's; joining twice with
  // one incarnation changes nothing. A new incarnation of a task whose old one is silent or disconnected replaces it:
  // the old one is reported lost.
  //   FailedPrecondition: cluster, protocol version or number of devices differ from the leader's; names the field,
  //     both values and both tasks. Until the cluster was complete once, everybody in WhenComplete is told the same.
  //   AlreadyExists: another process holds this task and is alive; names both. Worth a retry for `peer_lost`: the other
  //     one may just have died.
  //   Aborted: this incarnation was replaced by a newer one.
  //   InvalidArgument: the task is not in the cluster.
  absl::StatusOr<JoinResult> Join(MemberInfo info);

  // "I am alive"; answers the current epoch (another than the last: read the roster).
  //   Aborted: stale incarnation (names task and both), declared lost, or never joined: join again.
  absl::StatusOr<int64_t> Heartbeat(const TaskId& task, uint64_t incarnation);

  // The checks of Heartbeat for any other request; does not count as a sign of life.
  absl::Status CheckCaller(const TaskId& task, uint64_t incarnation) const;

  // The member's connection broke: it is lost unless it is heard of again within the grace. Stale news are ignored.
  void MarkDisconnected(const TaskId& task, uint64_t incarnation);

  // The member is gone for certain (it said goodbye, or nobody listens at its address any more); `why` completes
  // "... is lost: ". Stale news are ignored.
  void MarkLost(const TaskId& task, uint64_t incarnation, absl::string_view why);

  // Declares lost who was silent for too long, and ends waits whose deadline has passed.
  void Tick();

  // Calls `watcher` after every change from now on, until Unwatch(the returned id). A call that has begun may end after
  // Unwatch returns, so let the callback own what it touches.
  int64_t Watch(Watcher watcher);
  void Unwatch(int64_t id);

  // Calls `done` once: with the roster as soon as every required task is alive, or with
  //   DeadlineExceeded: names the missing tasks (only those), with their last connect errors.
  //   FailedPrecondition: a process with another configuration tried to join (see Join).
  void WhenComplete(absl::Time deadline, std::function<void(absl::StatusOr<Roster>)> done);
  // Likewise, as soon as every one of `tasks` is alive, whatever the others are.
  void WhenAlive(std::vector<TaskId> tasks, absl::Time deadline, std::function<void(absl::StatusOr<Roster>)> done);

  Roster GetRoster() const;
  int64_t epoch() const;
  std::vector<TaskId> Missing() const;  // required tasks that are not alive

  // How `task` was lost, if it is now.
  std::optional<MemberLoss> LossOf(const TaskId& task) const;

  // The last error met when dialling a task that is missing ("name not resolved"); shown where the task is named.
  void NoteConnectError(const TaskId& task, absl::string_view error);

  // "waiting for 1 of 3 tasks: /job:worker/task:2 at h2:2222 (name not resolved)"; empty once all are there.
  std::string StartupReport() const;

 private:
  struct Member {
    ExpectedMember expected;
    MemberInfo info;
    MemberState state = MemberState::kMissing;
    absl::Time last_heard = absl::InfinitePast();
    absl::Time disconnected = absl::InfiniteFuture();
    std::vector<uint64_t> replaced;  // earlier incarnations that may not come back
    std::string connect_error;
    MemberLoss loss;
  };
  struct Waiter {
    std::vector<TaskId> tasks;
    absl::Time deadline;
    std::function<void(absl::StatusOr<Roster>)> done;
  };

  absl::StatusOr<JoinResult> JoinLocked(MemberInfo info) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Refuse(const MemberInfo& info, const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status CheckIdentity(const Member& member, const MemberInfo& info, absl::Time now) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Admit(Member& member, MemberInfo info, absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  MemberLoss Lose(Member& member, absl::string_view why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status CheckCallerLocked(const TaskId& task, uint64_t incarnation) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Notify(std::vector<MemberLoss> losses, std::vector<TaskId> joined) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void AnswerWaiters() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Of `tasks`, those that are not alive; an error and a text about them.
  std::vector<TaskId> MissingOf(const std::vector<TaskId>& tasks) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status MissingStatus(const std::vector<TaskId>& tasks) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::string MissingText(const std::vector<TaskId>& tasks) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::vector<TaskId> Required() const;
  Roster RosterLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Member* Find(const TaskId& task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  const Member* Find(const TaskId& task) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const MembershipOptions options_;
  const MemberInfo self_;
  const Clock& clock_;
  CallbackQueue callbacks_;
  mutable Mutex mu_;
  int64_t epoch_ ABSL_GUARDED_BY(mu_) = 0;
  bool was_complete_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<Member> members_ ABSL_GUARDED_BY(mu_);             // in the order of options_.expected
  std::map<TaskId, absl::Status> refused_ ABSL_GUARDED_BY(mu_);  // whose last Join had another configuration
  std::vector<Waiter> waiters_ ABSL_GUARDED_BY(mu_);
  std::map<int64_t, Watcher> watchers_ ABSL_GUARDED_BY(mu_);
  int64_t next_watch_ ABSL_GUARDED_BY(mu_) = 1;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_COORDINATION_MEMBERSHIP_H_
