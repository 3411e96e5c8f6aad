#ifndef COHORT_RUNTIME_REMOTE_MEMBER_H_
#define COHORT_RUNTIME_REMOTE_MEMBER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/base/mutex.h"
#include "runtime/coordination/member.h"
#include "runtime/daemon/daemon_options.h"
#include "runtime/daemon/daemon_state.h"
#include "runtime/daemon/identity.h"
#include "runtime/remote/coordination_client.h"

namespace cohort {

// What a daemon says of itself when it joins.
MemberInfo MakeMemberInfo(const Identity& identity);

// What a daemon does about news of its cluster, beside what Member does for every daemon. Called one at a time.
struct MemberHooks {
  std::function<MemberReport()> report;                     // must not block
  std::function<void(const Roster&)> on_roster;             // a new one
  std::function<void(const MemberLoss&)> on_loss;           // of any task
  std::function<void(const absl::Status&)> on_leader_lost;  // whatever was done for it is over
};

// A daemon that does not lead, as part of its cluster: stays joined, and turns what it hears into the daemon's state
// (formed, to stop). Safe from any thread.
class Member {
 public:
  // `state` outlives this.
  Member(const Identity& identity, const DaemonOptions& options, DaemonState& state, MemberHooks hooks);

  // Why the cluster has not formed so far: the leader was never reached, or who is missing.
  absl::Status NotFormed() const;
  // As CoordinationClient::Leave.
  void Leave(const std::string& reason, absl::Time deadline) { client_->Leave(reason, deadline); }

 private:
  CoordinationListener MakeListener();
  void OnRoster(const Roster& roster);

  const bool end_with_job_;
  DaemonState& state_;
  const MemberHooks hooks_;
  mutable Mutex mu_;
  std::vector<std::string> missing_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<CoordinationClient> client_;
};

// Waits until the cluster has formed or the daemon is to stop, and says every 10 s what `not_formed` tells. Stops the
// daemon, for good, at `start_timeout` after `start`: the leader, for all who have joined. The others give it a second
// more to say so, so that all tell the same.
//   DeadlineExceeded: names the missing tasks.  Unavailable: the leader was never reached.
void WaitFormed(DaemonState& state, bool leads, absl::Time start, absl::Duration start_timeout,
                const std::function<absl::Status()>& not_formed);

// Those of the tasks that train or serve which are not alive, with their addresses.
std::vector<std::string> MissingTasks(const Roster& roster);

// Sets `state` by a roster: formed once nobody is missing.
void ShowRoster(const Roster& roster, DaemonState& state);

}  // namespace cohort

#endif  // COHORT_RUNTIME_REMOTE_MEMBER_H_
