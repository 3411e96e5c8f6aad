#ifndef COHORT_RUNTIME_DRIVER_TRAINING_H_
#define COHORT_RUNTIME_DRIVER_TRAINING_H_

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/base/mutex.h"
#include "runtime/driver/job_control.h"
#include "runtime/driver/task_sessions.h"
#include "runtime/driver/worker_link.h"
#include "runtime/graph/program.h"

namespace cohort {

using TrainingTasks = SessionTasks;
using TrainingTimeouts = SessionTimeouts;

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
  absl::Status Train(const Program& program);
  absl::Status TrainOnce(const std::vector<std::optional<RunSpec>>& runs, bool* stopped);
  absl::Status Evaluate(const Program& program);
  absl::Status Summarize();
  absl::Status SummarizeParameterServers();
  void Report(const StepReport& report);
  bool dealt() const { return tasks_.dealt(); }

  const TrainingTimeouts timeouts_;
  const std::function<void(const JobEvent&)> event_;
  TaskSessions tasks_;
  std::vector<int64_t> steps_done_;  // by worker
  int64_t steps_total_ = 0;          // of all workers together, as JobResult counts them
  JobResult result_;

  Mutex report_mu_;  // held while `event_` runs
  int64_t reported_steps_ ABSL_GUARDED_BY(report_mu_) = 0;
  absl::Time last_report_ ABSL_GUARDED_BY(report_mu_);

  Mutex mu_;
  bool stop_requested_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_DRIVER_TRAINING_H_
