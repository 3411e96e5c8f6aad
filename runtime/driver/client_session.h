#ifndef COHORT_RUNTIME_DRIVER_CLIENT_SESSION_H_
#define COHORT_RUNTIME_DRIVER_CLIENT_SESSION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/driver/ps_link.h"
#include "runtime/driver/worker_link.h"
#include "runtime/graph/program.h"

namespace cohort {

struct ClientSessionOptions {
  std::string client;  // how others are told who uses the cluster: "train_loop, pid 71 on h0"
  StrategyKind strategy = StrategyKind::kMultiWorkerMirrored;  // decides which tasks the session is given
  bool wait = true;                                            // in line behind another job or session
};

// What a client is given by the leader.
struct SessionGrant {
  uint64_t session = 0;
  int64_t epoch = 0;                           // of the cluster
  std::vector<TaskAddress> workers;            // chief first, then workers by index
  std::vector<TaskAddress> parameter_servers;  // by index
};

// The hold of a client on its session, by a long stream to the leader. A stream that breaks is resumed; if that does
// not succeed within the lease, the session is lost. Safe from any thread.
class ClientSession {
 public:
  // Closes the session: the leader frees what tasks still hold of it, and lets the next one in.
  virtual ~ClientSession() = default;

  virtual const SessionGrant& grant() const = 0;
  // ok while the session lives; how it was lost afterwards: Unavailable (the leader, or a task that the session was
  // given; FirstCause names it), NotFound (the lease ran out while the leader could not be reached).
  virtual absl::Status status() const = 0;
  // Calls `lost` once when the session is lost, at once if it is already; from any thread, and it must not block. One
  // at a time, a new one replaces the old; once this returns, the old one does not run any more.
  virtual void WhenLost(std::function<void(const absl::Status&)> lost) = 0;

  // Links to tasks of the grant. They may outlive the session.
  virtual std::shared_ptr<WorkerLink> LinkWorker(const TaskAddress& task) = 0;
  virtual std::shared_ptr<PsLink> LinkParameterServer(const TaskAddress& task) = 0;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_DRIVER_CLIENT_SESSION_H_
