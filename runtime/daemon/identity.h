#ifndef COHORT_RUNTIME_DAEMON_IDENTITY_H_
#define COHORT_RUNTIME_DAEMON_IDENTITY_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/base/task_id.h"
#include "runtime/cluster/listen_address.h"
#include "runtime/cluster/tf_config.h"
#include "runtime/daemon/daemon_options.h"

namespace cohort {

// Who a daemon is: what it knows before it opens its port.
struct Identity {
  TfConfig config;
  TaskId self;
  std::string address;       // host:port in TF_CONFIG
  uint64_t incarnation = 0;  // of this process
  TaskId leader;
  std::string leader_address;
  ListenAddress listen;

  bool leads() const { return self == leader; }
};

// Reads TF_CONFIG, starts the log under the task's name (and its file in log_dir), and decides where to listen.
// InvalidArgument: TF_CONFIG is unusable for this daemon, or plain text beyond loopback was not allowed.
absl::StatusOr<Identity> Identify(const DaemonOptions& options);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DAEMON_IDENTITY_H_
