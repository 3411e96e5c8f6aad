#ifndef COHORT_TESTS_INTEGRATION_COHORT_H_
#define COHORT_TESTS_INTEGRATION_COHORT_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/base/port_lease.h"
#include "tests/testing/process.h"

// The product as its users run it: real processes, on loopback. Whatever cannot be started fails the test at once.
namespace cohort::testing {

using Words = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

// When something is overdue that takes a second or two on an idle machine.
inline absl::Time Soon() { return absl::Now() + absl::Seconds(90); }

// `cohort ARGS...`, told of no cluster but by `args` and `env`.
std::unique_ptr<Process> StartClient(Words args, Variables env = {});
// The same, to its end. Exit code -1: it did not end in time, and the test has failed.
Finished RunClient(Words args, Variables env = {}, absl::Duration timeout = absl::Seconds(120));

// The last line that is not empty: where `--json` prints the result.
std::string LastLine(const std::string& text);
int LineCount(const std::string& text);

// What `train` is told for a job that goes on until it is stopped: small steps, many reports.
Words EndlessTraining(const std::string& strategy = "multi_worker_mirrored");

// A cluster whose daemons the test starts by itself, each with its own TF_CONFIG. The ports stay the cluster's until it
// goes, and so a daemon can come back to its own. Tasks are named as in "worker:1".
class DaemonCluster {
 public:
  // `flags` go to every daemon.
  DaemonCluster(int workers, int parameter_servers, Words flags = {});

  // A daemon that was started before is killed.
  Process& Start(const std::string& task, Words more_flags = {}, Variables env = {});
  // Starts all that do not run, and waits until each says that it is ready.
  void StartAll();
  Process& daemon(const std::string& task) { return *daemons_.at(task); }
  void Kill(const std::string& task);  // SIGKILL; returns once it is gone
  // Waits; -1 if it did not end in time, and the test has failed.
  int WaitExit(const std::string& task, absl::Time deadline);

  std::vector<std::string> tasks() const;  // workers first
  std::string leader_address() const { return address("worker:0"); }
  std::string address(const std::string& task) const;
  int port(const std::string& task) const { return ports_.at(task).port(); }
  std::string TfConfig(const std::string& task) const;
  static std::string Program(const std::string& task);  // its binary

  std::unique_ptr<Process> StartClient(Words args) const;
  Finished RunClient(Words args) const;

 private:
  const Words flags_;
  std::map<std::string, PortLease> ports_;
  std::map<std::string, std::unique_ptr<Process>> daemons_;
};

// "/job:worker/task:1" of "worker:1".
std::string LongName(const std::string& task);

// The ports on which a process listens over TCP, in order.
std::vector<int> ListeningPorts(pid_t pid);

struct Resources {
  int64_t resident_bytes = 0;
  int threads = 0;
  int descriptors = 0;
};
// What a process holds now; the test fails if there is no such process.
Resources ResourcesOf(pid_t pid);

// The processes whose environment holds `entry` ("NAME=VALUE"), which children inherit.
std::vector<pid_t> ProcessesWith(const std::string& entry);
// Whether all of them have ended by the deadline.
bool WaitGone(const std::vector<pid_t>& pids, absl::Time deadline);

}  // namespace cohort::testing

#endif  // COHORT_TESTS_INTEGRATION_COHORT_H_
