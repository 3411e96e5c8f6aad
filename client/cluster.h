#ifndef COHORT_CLIENT_CLUSTER_H_
#define COHORT_CLIENT_CLUSTER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/driver/job_control.h"
#include "runtime/graph/program.h"

namespace cohort {

struct ClusterOptions {
  std::string address;  // HOST:PORT of any task; empty: COHORT_CLUSTER, else a cluster of one worker in this process
  absl::Duration connect_timeout = absl::Seconds(10);
  int threads = 1;  // of a cluster in this process
};

// A client's hold on a cluster. Safe from any thread.
class Cluster {
 public:
  // Unavailable: nobody answers at the address; DeadlineExceeded. Both name it.
  static absl::StatusOr<std::unique_ptr<Cluster>> Connect(const ClusterOptions& options = {});

  // Runs a program as a job and blocks until its end. `event` (may be empty) sees how it goes on.
  absl::StatusOr<JobResult> Train(const Program& program, const std::function<void(const JobEvent&)>& event = {});

  JobControl& control() { return *control_; }
  bool in_process() const { return in_process_; }

 private:
  Cluster(std::unique_ptr<JobControl> control, bool in_process)
      : control_(std::move(control)), in_process_(in_process) {}

  const std::unique_ptr<JobControl> control_;
  const bool in_process_;
};

}  // namespace cohort

#endif  // COHORT_CLIENT_CLUSTER_H_
