#ifndef COHORT_RUNTIME_REMOTE_MEMBER_H_
#define COHORT_RUNTIME_REMOTE_MEMBER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
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
  std::unique_ptr<CoordinationClient> client_;
};

// Waits until the cluster has formed, and says every 10 s what `waiting` tells. Ok as well once the daemon is to stop.
//   DeadlineExceeded, at start_timeout: names the missing tasks.  Unavailable: the leader was never reached.
absl::Status WaitFormed(DaemonState& state, absl::Duration start_timeout,
                        const std::function<absl::Status()>& not_formed);

// Sets `state` by a roster: formed once all tasks that train or serve are alive, else who is missing.
void ShowRoster(const Roster& roster, DaemonState& state);

}  // namespace cohort

#endif  // COHORT_RUNTIME_REMOTE_MEMBER_H_
