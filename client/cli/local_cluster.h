#ifndef COHORT_CLIENT_CLI_LOCAL_CLUSTER_H_
#define COHORT_CLIENT_CLI_LOCAL_CLUSTER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/child_process.h"
#include "runtime/base/port_lease.h"
#include "runtime/base/task_id.h"

namespace cohort {

struct LocalClusterOptions {
  int workers = 1;
  int parameter_servers = 0;
  bool chief = false;
  std::vector<std::string> daemon_flags;
  std::string log_folder;  // each daemon writes TASK.log there; empty: to this process's standard error
};

// Daemons on this host as child processes. Used by the main thread.
class LocalCluster {
 public:
  // Starts them and waits until the cluster has formed; five times with new ports if one is taken meanwhile.
  // InvalidArgument: no worker and no chief. Others: a daemon did not start; with the end of its log.
  static absl::StatusOr<std::unique_ptr<LocalCluster>> Start(const LocalClusterOptions& options, absl::Time deadline);
  ~LocalCluster();  // Stop

  const std::string& leader_address() const { return leader_address_; }
  // "2 workers, 1 ps; 1 thread each of 2 CPUs".
  const std::string& summary() const { return summary_; }
  // How many daemons still run.
  int Running();
  // Ends the daemons: SIGTERM, and SIGKILL for what is left at the deadline.
  void Stop(absl::Time deadline);

 private:
  struct Daemon {
    TaskId task;
    std::string address;
    std::string log_file;
    std::unique_ptr<ChildProcess> process;
  };

  LocalCluster() = default;
  static absl::StatusOr<std::unique_ptr<LocalCluster>> StartOnce(const LocalClusterOptions& options,
                                                                 absl::Time deadline);
  absl::Status StartDaemon(const LocalClusterOptions& options, const std::string& tf_config, int threads,
                           Daemon& daemon);
  absl::Status WaitUntilFormed(absl::Time deadline);
  absl::Status CheckAlive();

  std::vector<PortLease> ports_;  // held as long as the daemons
  std::vector<Daemon> daemons_;
  std::string leader_address_;
  std::string summary_;
};

}  // namespace cohort

#endif  // COHORT_CLIENT_CLI_LOCAL_CLUSTER_H_
