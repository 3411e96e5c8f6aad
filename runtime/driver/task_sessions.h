#ifndef COHORT_RUNTIME_DRIVER_TASK_SESSIONS_H_
#define COHORT_RUNTIME_DRIVER_TASK_SESSIONS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "runtime/base/mutex.h"
#include "runtime/driver/fan_out.h"
#include "runtime/driver/ps_link.h"
#include "runtime/driver/worker_link.h"
#include "runtime/graph/program.h"

namespace cohort {

// The tasks that a session may use, as of one epoch of the cluster. The links outlive what uses them.
struct SessionTasks {
  uint64_t session = 0;
  int64_t epoch = 0;
  std::vector<WorkerLink*> workers;  // chief first, then workers by index
  std::vector<PsLink*> parameter_servers;
};

struct SessionTimeouts {
  absl::Duration control = absl::Seconds(10);    // a control call
  absl::Duration setup = absl::Minutes(5);       // open sessions, plan, give variables their first values
  absl::Duration collective = absl::Minutes(5);  // a peer alive but absent
  absl::Duration drain = absl::Seconds(20);      // for the others to end after one failed
};

// Of several errors the one to act on: whoever was told to stop because of another says nothing new.
absl::Status MostTelling(const absl::Status& first, absl::Span<const absl::Status> errors);

// One program's session on all tasks that its strategy uses: opened, run and closed on all of them together. What a
// training and an attached client have in common. Used by one thread, but for Abort and RequestStop.
class TaskSessions {
 public:
  TaskSessions(SessionTasks tasks, SessionTimeouts timeouts) : tasks_(std::move(tasks)), timeouts_(timeouts) {}

  // Opens the sessions, compares the plans, gives the variables their first values. Whether it succeeds or not, Close
  // must follow. A lost task: Unavailable with FirstCause. InvalidArgument: replicas that plan different collectives,
  // naming the first difference.
  absl::Status Open(const Program& program);

  // One run on every worker at once (none for a worker whose spec is null: an empty result); blocks until all are
  // through. report(worker, report) is called on any thread until this returns; may be empty. On the first failure the
  // others are ended, the sessions closed, and the error that says most is returned.
  absl::StatusOr<std::vector<RunResult>> Run(absl::Span<const std::optional<RunSpec>> runs,
                                             const std::function<void(size_t, const StepReport&)>& report);

  // What it means that a run stopped before its end: Unavailable naming the task that was told to end, or Cancelled.
  absl::Status Stopped(absl::string_view where) const;

  // Makes call(i, deadline, done) for i < count at once and waits for all answers, or for an error.
  template <typename T, typename Call>
  absl::StatusOr<std::vector<T>> CallAll(size_t count, absl::Duration timeout, Call call) {
    auto calls = std::make_shared<FanOut<T>>(count);
    const absl::Time deadline = absl::Now() + timeout;
    SetInterrupt([calls](absl::Status reason) { calls->Interrupt(std::move(reason)); });
    for (size_t i = 0; i < count; ++i) call(i, deadline, FanOut<T>::Slot(calls, i));
    // The links keep the deadline; a little longer here, so that theirs, which names the task, comes first.
    const bool good = calls->WaitForAllOrError(deadline + absl::Seconds(1));
    SetInterrupt(nullptr);
    if (!good) return Failure(*calls);
    std::vector<T> answers;
    for (auto& answer : calls->answers()) answers.push_back(**std::move(answer));
    return answers;
  }

  // Frees the sessions, if they are open; what runs ends with `reason`.
  void Close(const absl::Status& reason);
  // Asks all workers to stop after a common step. Does not wait.
  void RequestStop();
  // Whoever waits here is told `reason` at once (a task was lost). The first reason wins.
  void Abort(absl::Status reason);

  uint64_t session() const { return tasks_.session; }
  bool dealt() const { return dealt_; }  // batches are dealt to workers that run by themselves
  const std::vector<WorkerLink*>& workers() const { return workers_; }  // those that the strategy uses, by rank
  const std::vector<PsLink*>& parameter_servers() const { return parameter_servers_; }  // likewise
  const std::vector<int64_t>& batches_per_epoch() const { return batches_per_epoch_; }  // by worker

 private:
  absl::Status ChooseTasks(const Program& program);
  absl::Status OpenParameterServers(const Program& program);
  void SetInterrupt(std::function<void(absl::Status)> interrupt);
  template <typename T>
  static absl::Status Failure(FanOut<T>& calls) {
    std::vector<absl::Status> errors;
    for (const auto& answer : calls.answers()) {
      if (answer.has_value() && !answer->ok()) errors.push_back(answer->status());
    }
    const absl::Status error = MostTelling(calls.first_error(), errors);
    return error.ok() ? absl::DeadlineExceededError("a task did not answer in time") : error;
  }

  const SessionTasks tasks_;
  const SessionTimeouts timeouts_;
  bool dealt_ = false;
  std::vector<WorkerLink*> workers_;
  std::vector<PsLink*> parameter_servers_;
  std::vector<int64_t> batches_per_epoch_;
  std::optional<TaskAddress> leaving_;  // the first worker whose process was told to end

  Mutex mu_;
  absl::Status abort_reason_ ABSL_GUARDED_BY(mu_);
  bool opened_ ABSL_GUARDED_BY(mu_) = false;
  std::function<void(absl::Status)> interrupt_ ABSL_GUARDED_BY(mu_);  // what Abort wakes
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_DRIVER_TASK_SESSIONS_H_
