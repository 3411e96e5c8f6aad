#ifndef COHORT_CLIENT_EMBEDDED_EMBEDDED_CLUSTER_H_
#define COHORT_CLIENT_EMBEDDED_EMBEDDED_CLUSTER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/driver/job_control.h"

namespace cohort {

struct EmbeddedOptions {
  int threads = 1;  // that compute
};

// A cluster of one worker inside this process: the worker's and the leader's own code without a socket. What a program
// gets that names no cluster. Ends when the object goes.
absl::StatusOr<std::unique_ptr<JobControl>> MakeEmbeddedCluster(const EmbeddedOptions& options);

}  // namespace cohort

#endif  // COHORT_CLIENT_EMBEDDED_EMBEDDED_CLUSTER_H_
