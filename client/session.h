#ifndef COHORT_CLIENT_SESSION_H_
#define COHORT_CLIENT_SESSION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/cluster.h"
#include "runtime/driver/client_session.h"
#include "runtime/driver/task_sessions.h"
#include "runtime/graph/program.h"
#include "runtime/tensor/tensor.h"

namespace cohort {

struct SessionOpenOptions {
  std::string name;  // how others are told who uses the cluster; empty: program, pid and host
  bool wait = true;  // in line behind another job or session
  absl::Duration open_timeout = absl::Minutes(5);  // for its turn, and for the workers to plan the program
  SessionTimeouts timeouts;                        // of what the workers do
};

// What one worker returned.
struct WorkerResult {
  TaskId task;
  std::vector<Tensor> fetched;  // as asked for
  StepSums sums;                // of results with a role in the step header: over the workers that reduce together
};

// The workers of a cluster in the hands of this process, which runs functions on them step by step. The program's loop
// may be empty. Used by one thread; ends when the object goes, or when the client's process does.
class Session {
 public:
  // Waits for the cluster, then opens the program on all workers that its strategy uses (and on parameter servers).
  // Errors as JobControl::OpenSession; InvalidArgument: the program.
  static absl::StatusOr<std::unique_ptr<Session>> Open(Cluster& cluster, const Program& program,
                                                       const SessionOpenOptions& options = {});
  ~Session();

  // One step of a function on every worker at once. feeds: the function's parameters in order, for each worker, or none
  // at all if it has no parameters. Returns what each worker answered, by rank.
  // InvalidArgument, and nothing has run: no such function or result, feeds that do not fit. After any other error the
  // session is over, and further runs return that error: Unavailable, DeadlineExceeded, Aborted with FirstCause. It is
  // over as well after a step at which a worker was told to end (Unavailable) or to stop (Cancelled).
  absl::StatusOr<std::vector<WorkerResult>> Run(const std::string& function,
                                                absl::Span<const std::vector<Tensor>> feeds = {},
                                                const std::vector<std::string>& fetch = {});

  int workers() const { return static_cast<int>(tasks_->workers().size()); }
  int64_t steps() const { return steps_; }  // that have been run
  absl::Status status() const;              // ok while the session lives
  const SessionGrant& grant() const { return held_->grant(); }

 private:
  Session(Program program, std::unique_ptr<ClientSession> held);
  void Link(const SessionTimeouts& timeouts);
  absl::Status CheckRun(const std::string& function, absl::Span<const std::vector<Tensor>> feeds,
                        const std::vector<std::string>& fetch) const;

  const Program program_;
  const std::unique_ptr<ClientSession> held_;
  // Before the links: they may still answer while they go.
  std::unique_ptr<TaskSessions> tasks_;
  std::vector<std::shared_ptr<WorkerLink>> worker_links_;
  std::vector<std::shared_ptr<PsLink>> ps_links_;
  int64_t steps_ = 0;
  absl::Status failed_;
};

}  // namespace cohort

#endif  // COHORT_CLIENT_SESSION_H_
