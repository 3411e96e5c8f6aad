#ifndef COHORT_RUNTIME_REMOTE_JOB_CONTROL_H_
#define COHORT_RUNTIME_REMOTE_JOB_CONTROL_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/driver/job_control.h"
#include "runtime/remote/link_options.h"

namespace cohort {

// The leader of the cluster that the task at `address` (host:port, any task) belongs to. Calls that may be repeated
// are, while the leader cannot be reached, for options.retry_for.
//   Unavailable: nobody answers there, or the leader does not; one sentence with the address and what to do.
absl::StatusOr<std::unique_ptr<JobControl>> ConnectCluster(const std::string& address, absl::Time deadline,
                                                           LinkOptions options = {});

// Likewise, the leader being known.
std::unique_ptr<JobControl> ConnectLeader(TaskAddress leader, LinkOptions options);

}  // namespace cohort

#endif  // COHORT_RUNTIME_REMOTE_JOB_CONTROL_H_
