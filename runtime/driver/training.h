#ifndef COHORT_RUNTIME_DRIVER_TRAINING_H_
#define COHORT_RUNTIME_DRIVER_TRAINING_H_

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/base/mutex.h"
#include "runtime/driver/job_control.h"
#include "runtime/driver/ps_link.h"
#include "runtime/driver/worker_link.h"
#include "runtime/graph/program.h"

namespace cohort {

// The tasks that a training may use, as of one epoch of the cluster. The links outlive the training.
struct TrainingTasks {
  uint64_t session = 0;
  int64_t epoch = 0;
  std::vector<WorkerLink*> workers;  // chief first, then workers by index
  std::vector<PsLink*> parameter_servers;
};

struct TrainingTimeouts {
  absl::Duration control = absl::Seconds(10);    // a control call
  absl::Duration setup = absl::Minutes(5);       // open sessions, plan, give variables their first values
  absl::Duration collective = absl::Minutes(5);  // a peer alive but absent
  absl::Duration drain = absl::Seconds(20);      // for the others to end after one failed
};

// Runs the loop of a program on a set of tasks: opens a session on each, gives the variables their values, trains and
// evaluates by runs of steps, compares the replicas, closes. Attached, detached and embedded trainings are this code.
// Used once.
class Training {
 public:
  // `event` gets kReport and kEvaluation events (of their info only step and steps_total), one at a time; it must not
  // call the training.
  Training(TrainingTasks tasks, TrainingTimeouts timeouts, std::function<void(const JobEvent&)> event);

  // Blocks until the program is done or failed. A lost task: Unavailable with FirstCause. After RequestStop: Cancelled.
  // Replicas that differ at the end: Internal.
  absl::StatusOr<JobResult> Run(const Program& program);

  // The training ends after a step that all workers finish together. From any thread.
  void RequestStop();
  // The training ends at once with `reason` (a task was lost). From any thread; the first reason wins.
  void Abort(absl::Status reason);

 private:
  absl::Status RunPhases(const Program& program);
  absl::Status Open(const Program& program);
  absl::Status Train(const Program& program);
  absl::Status Evaluate(const Program& program);
  absl::Status Summarize(const Program& program);
  absl::Status SummarizeParameterServers();
  void Close(const absl::Status& reason);

  // One run on every worker at once (none for a worker whose spec is null); blocks until all are through. On the first
  // failure the others are ended, and the error that says most is returned.
  absl::StatusOr<std::vector<RunResult>> RunOnAll(const std::vector<std::optional<RunSpec>>& runs, bool report);
  absl::Status TrainOnce(const std::vector<std::optional<RunSpec>>& runs, bool* stopped);
  // What a training that stopped before its end returns: Unavailable naming the task that was told to end, or
  // Cancelled.
  absl::Status Stopped(absl::string_view where) const;
  void StopOthers();
  void Report(const StepReport& report);
  // Makes `call` for every worker (or ps) and waits for all answers.
  template <typename T, typename Call>
  absl::StatusOr<std::vector<T>> CallAll(size_t count, absl::Duration timeout, Call call);
  // Sets what Abort wakes.
  void SetInterrupt(std::function<void(absl::Status)> interrupt);

  const TrainingTasks tasks_;
  const TrainingTimeouts timeouts_;
  const std::function<void(const JobEvent&)> event_;
  bool dealt_ = false;                      // batches are dealt to workers that train by themselves
  std::vector<WorkerLink*> workers_;        // those that the strategy uses, by rank
  std::vector<PsLink*> parameter_servers_;  // likewise
  std::vector<int64_t> batches_per_epoch_;  // by worker
  std::vector<int64_t> steps_done_;         // by worker
  int64_t steps_total_ = 0;                 // of all workers together, as JobResult counts them
  JobResult result_;
  std::optional<TaskAddress> leaving_;  // the first worker whose process was told to end

  Mutex report_mu_;  // held while `event_` runs
  int64_t reported_steps_ ABSL_GUARDED_BY(report_mu_) = 0;
  absl::Time last_report_ ABSL_GUARDED_BY(report_mu_);

  Mutex mu_;
  absl::Status abort_reason_ ABSL_GUARDED_BY(mu_);
  bool stop_requested_ ABSL_GUARDED_BY(mu_) = false;
  bool opened_ ABSL_GUARDED_BY(mu_) = false;
  std::function<void(absl::Status)> interrupt_ ABSL_GUARDED_BY(mu_);
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_DRIVER_TRAINING_H_
