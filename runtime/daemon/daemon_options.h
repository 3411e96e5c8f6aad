#ifndef COHORT_RUNTIME_DAEMON_DAEMON_OPTIONS_H_
#define COHORT_RUNTIME_DAEMON_DAEMON_OPTIONS_H_

#include <string>

#include "absl/time/time.h"
#include "runtime/cluster/listen_address.h"

namespace cohort {

// How a daemon runs: what its flags say. Who it is, TF_CONFIG says.
struct DaemonOptions {
  ListenOptions listen;
  bool end_with_job = false;  // --lifetime=job: ends with its first job, and with the leader; else serves on
  absl::Duration start_timeout = absl::Seconds(300);
  absl::Duration heartbeat = absl::Seconds(1);
  absl::Duration peer_lost = absl::Seconds(5);
  absl::Duration collective_timeout = absl::Seconds(300);
  absl::Duration lease = absl::Seconds(10);
  absl::Duration drain = absl::Seconds(20);
  std::string log_level = "info";
  std::string log_dir;  // also write the log to a file there
  // Worker only.
  int threads = 0;  // that compute; 0: as many as there are usable CPUs
  std::string chaos;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_DAEMON_DAEMON_OPTIONS_H_
