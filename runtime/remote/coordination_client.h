#ifndef COHORT_RUNTIME_REMOTE_COORDINATION_CLIENT_H_
#define COHORT_RUNTIME_REMOTE_COORDINATION_CLIENT_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/coordination/member.h"
#include "runtime/coordination/membership.h"
#include "runtime/remote/member_report.h"

namespace cohort {

struct CoordinationClientOptions {
  MemberInfo self;  // known_jobs and last_epoch are kept up to date from here on
  TaskId leader;
  std::string leader_address;  // host:port
  absl::Duration heartbeat = absl::Seconds(1);
  absl::Duration peer_lost = absl::Seconds(5);
};

// What a member hears of its cluster. Called one at a time, in order, from a thread that is not the heartbeat's; may
// block for a while, but must not destroy the client. `report` alone is called by the heartbeat's thread.
struct CoordinationListener {
  std::function<MemberReport()> report;  // must not block
  // Taken in, at first or again; a roster of now.
  std::function<void(const JoinResult&)> on_joined;
  std::function<void(const RosterChange&)> on_change;
  // Unavailable, FirstCause naming the leader: silent or unreachable for peer_lost, or restarted. It is called on until
  // it takes this member in again.
  std::function<void(const absl::Status&)> on_leader_lost;
  // The leader will not have this process (Membership::Join says why); it is not asked again.
  std::function<void(const absl::Status&)> on_refused;
  std::function<void(const JobRecord&)> on_job;  // a job of the cluster, at first and whenever its state changes
  std::function<void()> on_shutdown;             // the cluster is to end
};

// A member's side of the roster: joins the leader, sends heartbeats from a thread that does nothing else, reconnects,
// joins again. Not for the leader's own process. Safe from any thread.
class CoordinationClient {
 public:
  CoordinationClient(CoordinationClientOptions options, CoordinationListener listener);
  ~CoordinationClient();  // leaves, without waiting

  // Waits until the leader has taken this process in for the first time. The reason of on_refused; or, at the deadline,
  // Unavailable (nobody answers) or DeadlineExceeded, naming the leader and the last error.
  absl::Status WaitJoined(absl::Time deadline);

  // Says goodbye, so that the leader need not wait for silence, and stops. Nothing is called any more once it returns,
  // by `deadline` or soon after. Once.
  void Leave(const std::string& reason, absl::Time deadline);

  int64_t epoch() const;  // the highest heard of

 private:
  class Core;
  const std::shared_ptr<Core> core_;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_REMOTE_COORDINATION_CLIENT_H_
