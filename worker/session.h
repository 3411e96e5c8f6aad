#ifndef COHORT_WORKER_SESSION_H_
#define COHORT_WORKER_SESSION_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/base/mutex.h"
#include "runtime/collective/communicator.h"
#include "runtime/driver/worker_link.h"
#include "runtime/executor/step_executor.h"
#include "runtime/kernels/tile_pool.h"
#include "runtime/variable/parameter_client.h"
#include "runtime/variable/variable_store.h"
#include "worker/chaos.h"
#include "worker/feed.h"

namespace cohort {

// What a session takes from the process it lives in. Everything outlives the session.
struct SessionEnvironment {
  TaskAddress self;
  // A communicator among spec.group; null for a group of one.
  std::function<absl::StatusOr<std::unique_ptr<Communicator>>(const SessionSpec&, absl::Time deadline)> join_group;
  // Ends a join_group that waits, and the group's communicator, with `reason`. Does not block; from any thread.
  std::function<void(const SessionSpec&, const absl::Status& reason)> abort_group;
  // For variables on parameter servers.
  std::function<absl::StatusOr<std::unique_ptr<ParameterClient>>(const SessionSpec&)> connect_parameter_servers;
  int threads = 1;  // that compute, the session's own included
  const Chaos* chaos = nullptr;
};

// One session on one worker: its variables, plans, data and communicator, and the runs of steps over them. Every method
// blocks and is called by the session's own thread, but for RequestStop, Abort and the counters.
class WorkerSession {
 public:
  // Plans every function and meets the group.
  static absl::StatusOr<std::unique_ptr<WorkerSession>> Open(SessionSpec spec, const SessionEnvironment& environment,
                                                             absl::Time deadline);

  OpenedSession info() const;
  // Rank 0 makes the first values; the group gets its bits.
  absl::Status InitializeVariables(absl::Time deadline);
  // A training run begins at the step after the last one (FailedPrecondition otherwise), or is a repetition of the last
  // one, which gets the same answer.
  absl::StatusOr<RunResult> Run(const RunSpec& run, const std::function<void(StepReport)>& report);
  absl::StatusOr<WorkerSummary> Summarize() const;

  // From any thread.
  void RequestStop() { stop_requested_ = true; }
  // As RequestStop, because this process is to end: the answer of the run says so.
  void Leave() {
    leaving_ = true;
    stop_requested_ = true;
  }
  void Abort(absl::Status reason);
  int64_t last_step() const { return last_step_; }
  int64_t bytes_sent() const;
  const SessionSpec& spec() const { return spec_; }

 private:
  class Reporter;

  WorkerSession(SessionSpec spec, const SessionEnvironment& environment);
  absl::Status Plan();
  absl::StatusOr<RunResult> RunSteps(const RunSpec& run, StepExecutor& executor, Feed* feed,
                                     const std::function<void(StepReport)>& report);
  absl::StatusOr<StepHeader> RunStep(const RunSpec& run, int64_t step, bool last, StepExecutor& executor, Feed* feed);
  double LearningRate(int64_t step) const;
  absl::StatusOr<std::string> PulledWeightsCrc32c() const;  // of the parameter servers' values of now
  absl::Status aborted() const;

  const SessionSpec spec_;
  const SessionEnvironment& environment_;
  std::unique_ptr<Communicator> communicator_;
  std::unique_ptr<ParameterClient> parameters_;
  VariableStore variables_;
  TilePool tiles_;  // a pool serves one thread, and an old session may still end while a new one begins
  std::map<std::string, std::unique_ptr<StepExecutor>> executors_;  // by function
  std::unique_ptr<Feed> train_feed_;
  std::unique_ptr<Feed> evaluate_feed_;
  std::optional<std::pair<RunSpec, RunResult>> last_run_;  // of training
  std::atomic<int64_t> last_step_ = 0;
  std::atomic<int64_t> examples_ = 0;  // this worker's own, of training
  std::atomic<bool> stop_requested_ = false;
  std::atomic<bool> leaving_ = false;

  mutable Mutex mu_;
  absl::Status aborted_ ABSL_GUARDED_BY(mu_);
};

}  // namespace cohort

#endif  // COHORT_WORKER_SESSION_H_
