#ifndef COHORT_RUNTIME_COORDINATION_COORDINATION_H_
#define COHORT_RUNTIME_COORDINATION_COORDINATION_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/clock.h"
#include "runtime/coordination/admission_queue.h"
#include "runtime/coordination/barrier.h"
#include "runtime/coordination/job_table.h"
#include "runtime/coordination/log_buffer.h"
#include "runtime/coordination/member.h"
#include "runtime/coordination/membership.h"
#include "runtime/coordination/session_table.h"

namespace cohort {

struct CoordinationOptions {
  MembershipOptions membership;
  SessionOptions sessions;
  JobHooks jobs;
};

// Everything the leader knows about its cluster, wired together: the loss of a task fails its barriers, the end of a
// session fails those of the session; jobs and sessions share one admission queue; what joining members know of jobs is
// taken over. Knows no sockets and has no threads: whoever owns it calls Tick several times per heartbeat. Safe from
// any thread; destroy it only after the last call has returned.
class Coordination {
 public:
  // `self` is the leader's own task. `clock` outlives this.
  Coordination(CoordinationOptions options, MemberInfo self, const Clock& clock);

  // Membership::Join, after which the jobs that the member knows of are restored.
  absl::StatusOr<JoinResult> Join(MemberInfo info);

  void Tick();

  // No new jobs or sessions; those in line get `reason` (Cancelled for a shutdown). Ends the log and wakes its
  // followers.
  void Close(const absl::Status& reason);

  Membership& membership() { return membership_; }
  BarrierTable& barriers() { return barriers_; }
  AdmissionQueue& admission() { return admission_; }
  JobTable& jobs() { return jobs_; }
  SessionTable& sessions() { return sessions_; }
  LogBuffer& logs() { return logs_; }

 private:
  SessionOptions WithBarriersEnded(SessionOptions options);

  Membership membership_;
  BarrierTable barriers_;
  AdmissionQueue admission_;
  JobTable jobs_;
  SessionTable sessions_;
  LogBuffer logs_;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_COORDINATION_COORDINATION_H_
