#include "runtime/driver/task_sessions.h"

#include <algorithm>
#include <string>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/base/first_cause.h"
#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"
#include "runtime/driver/placement.h"

namespace cohort {
namespace {

std::vector<TaskAddress> AddressesOf(const auto& links) {
  std::vector<TaskAddress> tasks;
  for (const auto* link : links) tasks.push_back(link->task());
  return tasks;
}

absl::Status ComparePlans(const std::vector<WorkerLink*>& workers, const std::vector<OpenedSession>& infos) {
  for (size_t i = 1; i < infos.size(); ++i) {
    if (infos[i].plan_hash == infos[0].plan_hash) continue;
    const std::vector<std::string> first = absl::StrSplit(infos[0].plan_text, '\n');
    const std::vector<std::string> other = absl::StrSplit(infos[i].plan_text, '\n');
    size_t line = 0;
    while (line < first.size() && line < other.size() && first[line] == other[line]) ++line;
    const auto at = [line](const std::vector<std::string>& lines) {
      return line < lines.size() ? lines[line] : std::string("nothing");
    };
    return absl::InvalidArgumentError(absl::StrCat("replicas plan different collectives: position ", line + 1, " is ",
                                                   at(first), " on ", workers[0]->task().task.ToString(), " and ",
                                                   at(other), " on ", workers[i]->task().task.ToString()));
  }
  return absl::OkStatus();
}

// Stopped in good order because a task was told to end.
bool Preempted(const absl::Status& failure) {
  const std::optional<FirstCause> cause = GetFirstCause(failure);
  return cause.has_value() && cause->name == kPreempted;
}

// Which of `links` a failure is to be blamed on: no answer is to be hoped for from there.
std::vector<bool> Blamed(const absl::Status& failure, const auto& links) {
  std::optional<FirstCause> cause = GetFirstCause(failure);
  if (Preempted(failure)) cause.reset();  // which still answers
  std::vector<bool> blamed;
  for (const auto* link : links) {
    const TaskId& task = link->task().task;
    blamed.push_back(cause.has_value() &&
                     (cause->task == task || std::count(cause->missing.begin(), cause->missing.end(), task) > 0));
  }
  return blamed;
}

// Lets the news of a run through until it is over: a worker that was given up may still send some.
class Gate {
 public:
  template <typename Pass>
  void IfOpen(Pass pass) {
    MutexLock lock(&mu_);
    if (open_) pass();
  }
  void Close() {
    MutexLock lock(&mu_);
    open_ = false;
  }

 private:
  Mutex mu_;
  bool open_ ABSL_GUARDED_BY(mu_) = true;
};

}  // namespace

absl::Status MostTelling(const absl::Status& first, absl::Span<const absl::Status> errors) {
  const auto secondary = [](const absl::Status& s) { return absl::IsCancelled(s) || absl::IsAborted(s); };
  absl::Status best = first;
  for (const absl::Status& error : errors) {
    if (secondary(best) && !secondary(error)) best = error;
  }
  return best;
}

absl::Status TaskSessions::ChooseTasks(const Program& program) {
  COHORT_ASSIGN_OR_RETURN(const std::vector<TaskAddress> used, WorkersFor(program.strategy, AddressesOf(tasks_.workers),
                                                                          AddressesOf(tasks_.parameter_servers)));
  std::vector<WorkerLink*> workers;
  for (WorkerLink* worker : tasks_.workers) {
    if (std::any_of(used.begin(), used.end(), [&](const TaskAddress& t) { return t.task == worker->task().task; })) {
      workers.push_back(worker);
    }
  }
  dealt_ = program.strategy == StrategyKind::kParameterServer;
  if (dealt_) parameter_servers_ = tasks_.parameter_servers;
  MutexLock lock(&mu_);
  workers_ = std::move(workers);
  if (!abort_reason_.ok()) return abort_reason_;
  opened_ = true;
  return absl::OkStatus();
}

absl::Status TaskSessions::OpenParameterServers(const Program& program) {
  std::vector<PsSessionSpec> specs;
  const size_t count = parameter_servers_.size();
  for (size_t i = 0; i < count; ++i) {
    COHORT_ASSIGN_OR_RETURN(specs.emplace_back(), PsSession(program, static_cast<int>(i), static_cast<int>(count)));
    specs.back().session = tasks_.session;
    specs.back().epoch = tasks_.epoch;
  }
  return CallAll<bool>(count, timeouts_.setup,
                       [&](size_t i, absl::Time deadline, auto done) {
                         parameter_servers_[i]->OpenSession(specs[i], deadline, std::move(done));
                       })
      .status();
}

absl::Status TaskSessions::Open(const Program& program) {
  COHORT_RETURN_IF_ERROR(program.Validate());
  COHORT_RETURN_IF_ERROR(ChooseTasks(program));
  COHORT_RETURN_IF_ERROR(OpenParameterServers(program));
  const std::vector<TaskAddress> workers = AddressesOf(workers_);
  const std::vector<TaskAddress> servers = AddressesOf(parameter_servers_);
  auto infos = CallAll<OpenedSession>(workers.size(), timeouts_.setup, [&](size_t i, absl::Time deadline, auto done) {
    SessionSpec spec = WorkerSession(program, workers, servers, static_cast<int>(i));
    spec.session = tasks_.session;
    spec.epoch = tasks_.epoch;
    spec.collective_timeout = timeouts_.collective;
    workers_[i]->OpenSession(spec, deadline, std::move(done));
  });
  COHORT_RETURN_IF_ERROR(infos.status()) << "opening the session";
  COHORT_RETURN_IF_ERROR(ComparePlans(workers_, *infos));
  for (const OpenedSession& info : *infos) batches_per_epoch_.push_back(info.batches_per_epoch);
  return CallAll<bool>(workers.size(), timeouts_.setup,
                       [&](size_t i, absl::Time deadline, auto done) {
                         workers_[i]->InitializeVariables(tasks_.session, deadline, std::move(done));
                       })
      .status();
}

absl::StatusOr<std::vector<RunResult>> TaskSessions::Run(absl::Span<const std::optional<RunSpec>> runs,
                                                         const std::function<void(size_t, const StepReport&)>& report) {
  auto calls = std::make_shared<FanOut<RunResult>>(workers_.size());
  SetInterrupt([calls](absl::Status reason) { calls->Interrupt(std::move(reason)); });
  const auto gate = std::make_shared<Gate>();
  const absl::Cleanup close_gate = [gate] { gate->Close(); };
  for (size_t i = 0; i < workers_.size(); ++i) {
    auto done = FanOut<RunResult>::Slot(calls, i);
    if (!runs[i].has_value()) {
      done(RunResult{});
      continue;
    }
    std::function<void(StepReport)> on_report = [](const StepReport&) {};
    if (report) {
      on_report = [gate, &report, i](const StepReport& r) { gate->IfOpen([&] { report(i, r); }); };
    }
    if (dealt_) {  // nobody learns from a header that one of them stops
      done = [this, alone = std::move(done), gate](absl::StatusOr<RunResult> result) {
        if (result.ok() && result->stopped) gate->IfOpen([this] { RequestStop(); });
        alone(std::move(result));
      };
    }
    workers_[i]->Run(tasks_.session, *runs[i], std::move(on_report), std::move(done));
  }
  // No deadline of its own: each wait inside a step has one, and a task that falls silent is reported through Abort.
  const bool good = calls->WaitForAllOrError(absl::InfiniteFuture());
  SetInterrupt(nullptr);
  if (!good) {
    const absl::Status cause = calls->first_error();
    LogWarn("driver", absl::StrCat("ending the run of steps: ", cause.message()));
    Close(cause);
    calls->WaitForOthers(Blamed(cause, workers_), absl::Now() + timeouts_.drain);
    // Whoever ended it on purpose has said why; what that did to the workers says less.
    if (absl::IsCancelled(cause)) {
      MutexLock lock(&mu_);
      if (absl::IsCancelled(abort_reason_)) return abort_reason_;
    }
    return Failure(*calls);
  }
  std::vector<RunResult> results;
  for (auto& answer : calls->answers()) {
    const bool leaves = (*answer)->leaving && !leaving_.has_value();
    if (leaves) leaving_ = workers_[results.size()]->task();
    results.push_back(**std::move(answer));
  }
  return results;
}

absl::Status TaskSessions::Stopped(absl::string_view where) const {
  if (!leaving_.has_value()) return absl::CancelledError(absl::StrCat("stopped on request ", where));
  absl::Status status = absl::UnavailableError(
      absl::StrCat(leaving_->task.ToString(), " at ", leaving_->address, " was told to end; all stopped ", where));
  SetFirstCause(status, {leaving_->task, leaving_->address, leaving_->incarnation, 0, kPreempted, {}, {}});
  return status;
}

void TaskSessions::Close(const absl::Status& reason) {
  {
    MutexLock lock(&mu_);
    if (!opened_) return;
    opened_ = false;
  }
  const absl::Time deadline = absl::Now() + timeouts_.control;
  auto calls = std::make_shared<FanOut<bool>>(workers_.size() + parameter_servers_.size());
  size_t slot = 0;
  for (WorkerLink* worker : workers_) {
    worker->CloseSession(tasks_.session, reason, deadline, FanOut<bool>::Slot(calls, slot++));
  }
  for (PsLink* server : parameter_servers_) {
    server->CloseSession(tasks_.session, reason, deadline, FanOut<bool>::Slot(calls, slot++));
  }
  // After a failure somebody may be gone for good; what it held went with it.
  const bool done = reason.ok() || absl::IsCancelled(reason) || Preempted(reason);
  std::vector<bool> blamed = Blamed(reason, workers_);
  const std::vector<bool> servers = Blamed(reason, parameter_servers_);
  blamed.insert(blamed.end(), servers.begin(), servers.end());
  calls->WaitForOthers(blamed, absl::Now() + (done ? timeouts_.control : absl::Seconds(1)));
}

void TaskSessions::RequestStop() {
  std::vector<WorkerLink*> targets;
  {
    MutexLock lock(&mu_);
    if (!opened_) return;
    targets = workers_;
  }
  const absl::Time deadline = absl::Now() + timeouts_.control;
  for (WorkerLink* worker : targets) {
    worker->RequestStop(tasks_.session, deadline, [](const absl::StatusOr<bool>& noted) {
      if (!noted.ok()) LogWarn("driver", absl::StrCat("asking a worker to stop: ", noted.status().message()));
    });
  }
}

void TaskSessions::Abort(absl::Status reason) {
  MutexLock lock(&mu_);
  if (!abort_reason_.ok()) return;
  abort_reason_ = std::move(reason);
  if (interrupt_) interrupt_(abort_reason_);
}

void TaskSessions::SetInterrupt(std::function<void(absl::Status)> interrupt) {
  MutexLock lock(&mu_);
  if (interrupt && !abort_reason_.ok()) interrupt(abort_reason_);
  interrupt_ = std::move(interrupt);
}

}  // namespace cohort
