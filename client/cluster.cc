#include "client/cluster.h"

#include <cstdlib>
#include <utility>

#include "absl/time/clock.h"
#include "client/embedded/embedded_cluster.h"
#include "runtime/base/status_macros.h"
#include "runtime/remote/job_control.h"

namespace cohort {

absl::StatusOr<std::unique_ptr<Cluster>> Cluster::Connect(const ClusterOptions& options) {
  std::string address = options.address;
  if (const char* named = std::getenv("COHORT_CLUSTER"); address.empty() && named != nullptr) address = named;
  const bool in_process = address.empty();
  std::unique_ptr<JobControl> control;
  if (in_process) {
    COHORT_ASSIGN_OR_RETURN(control, MakeEmbeddedCluster({.threads = options.threads}));
  } else {
    COHORT_ASSIGN_OR_RETURN(control, ConnectCluster(address, absl::Now() + options.connect_timeout));
  }
  return std::unique_ptr<Cluster>(new Cluster(std::move(control), in_process));
}

absl::StatusOr<JobResult> Cluster::Train(const Program& program, const std::function<void(const JobEvent&)>& event) {
  COHORT_ASSIGN_OR_RETURN(const int64_t job, control_->Submit(program, {}, absl::Now() + absl::Seconds(10)));
  JobResult result;
  COHORT_RETURN_IF_ERROR(control_->Follow(job, /*from_now=*/false, [&](const JobEvent& seen) {
    if (seen.kind == JobEvent::Kind::kEnd) result = seen.result;
    if (event) event(seen);
    return true;
  }));
  return result;
}

}  // namespace cohort
