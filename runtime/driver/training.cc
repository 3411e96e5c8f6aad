#include "runtime/driver/training.h"

#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "runtime/base/first_cause.h"
#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"
#include "runtime/checkpoint/checksum.h"
#include "runtime/driver/fan_out.h"
#include "runtime/driver/placement.h"

namespace cohort {
namespace {

std::vector<TaskAddress> AddressesOf(const auto& links) {
  std::vector<TaskAddress> tasks;
  for (const auto* link : links) tasks.push_back(link->task());
  return tasks;
}

// Of several errors the one to act on: whoever was told to stop because of another says nothing new.
template <typename T>
absl::Status MostTelling(FanOut<T>& calls) {
  absl::Status best = calls.first_error();
  const auto secondary = [](const absl::Status& s) { return absl::IsCancelled(s) || absl::IsAborted(s); };
  for (const auto& answer : calls.answers()) {
    if (!answer.has_value() || answer->ok()) continue;
    if (secondary(best) && !secondary(answer->status())) best = answer->status();
  }
  return best;
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

std::vector<std::string> MetricNames(const Function& function) {
  std::vector<std::string> names;
  for (const Result& result : function.results) {
    if (result.role == ResultRole::kMetricSum) names.push_back(result.name);
  }
  return names;
}

void AddTo(StepSums& total, const StepSums& part) {
  total.steps += part.steps;
  total.examples += part.examples;
  total.loss_sum += part.loss_sum;
  total.metric_sums.resize(std::max(total.metric_sums.size(), part.metric_sums.size()));
  for (size_t i = 0; i < part.metric_sums.size(); ++i) total.metric_sums[i] += part.metric_sums[i];
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

// Lets the reports of a run through until it is over: a worker that was given up may still send some.
class ReportGate {
 public:
  explicit ReportGate(std::function<void(const StepReport&)> report) : report_(std::move(report)) {}

  void Pass(const StepReport& report) {
    MutexLock lock(&mu_);
    if (report_) report_(report);
  }
  void IfOpen(absl::FunctionRef<void()> what) {
    MutexLock lock(&mu_);
    if (report_) what();
  }
  void Close() {
    MutexLock lock(&mu_);
    report_ = nullptr;
  }

 private:
  Mutex mu_;
  std::function<void(const StepReport&)> report_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

Training::Training(TrainingTasks tasks, TrainingTimeouts timeouts, std::function<void(const JobEvent&)> event)
    : tasks_(std::move(tasks)), timeouts_(timeouts), event_(std::move(event)) {}

absl::StatusOr<JobResult> Training::Run(const Program& program) {
  COHORT_RETURN_IF_ERROR(program.Validate());
  if (program.loop.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("program '", program.name, "' has no loop that a job could run"));
  }
  COHORT_ASSIGN_OR_RETURN(const std::vector<TaskAddress> used, WorkersFor(program.strategy, AddressesOf(tasks_.workers),
                                                                          AddressesOf(tasks_.parameter_servers)));
  for (WorkerLink* worker : tasks_.workers) {
    if (std::any_of(used.begin(), used.end(), [&](const TaskAddress& t) { return t.task == worker->task().task; })) {
      workers_.push_back(worker);
    }
  }
  dealt_ = program.strategy == StrategyKind::kParameterServer;
  if (dealt_) parameter_servers_ = tasks_.parameter_servers;
  steps_done_.assign(workers_.size(), 0);

  const absl::Status status = RunPhases(program);
  Close(status.ok() ? absl::CancelledError("the training is done") : status);
  if (!status.ok()) return status;
  return result_;
}

absl::Status Training::RunPhases(const Program& program) {
  COHORT_RETURN_IF_ERROR(Open(program));
  COHORT_RETURN_IF_ERROR(Train(program));
  if (!program.loop.evaluate_function.empty() && !program.loop.evaluate_each_epoch) {
    COHORT_RETURN_IF_ERROR(Evaluate(program));
  }
  return Summarize(program);
}

void Training::SetInterrupt(std::function<void(absl::Status)> interrupt) {
  MutexLock lock(&mu_);
  if (interrupt && !abort_reason_.ok()) interrupt(abort_reason_);
  interrupt_ = std::move(interrupt);
}

template <typename T, typename Call>
absl::StatusOr<std::vector<T>> Training::CallAll(size_t count, absl::Duration timeout, Call call) {
  auto calls = std::make_shared<FanOut<T>>(count);
  SetInterrupt([calls](absl::Status reason) { calls->Interrupt(std::move(reason)); });
  const absl::Time deadline = absl::Now() + timeout;
  for (size_t i = 0; i < count; ++i) call(i, deadline, FanOut<T>::Slot(calls, i));
  // The links keep the deadline; a little longer here, so that theirs, which names the task, comes first.
  const bool good = calls->WaitForAllOrError(deadline + absl::Seconds(1));
  SetInterrupt(nullptr);
  if (!good) {
    absl::Status error = MostTelling(*calls);
    return error.ok() ? absl::DeadlineExceededError("a task did not answer in time") : error;
  }
  std::vector<T> answers;
  for (auto& answer : calls->answers()) answers.push_back(**std::move(answer));
  return answers;
}

absl::Status Training::Open(const Program& program) {
  {
    MutexLock lock(&mu_);
    if (!abort_reason_.ok()) return abort_reason_;
    opened_ = true;
  }
  const std::vector<TaskAddress> workers = AddressesOf(workers_);
  const std::vector<TaskAddress> servers = AddressesOf(parameter_servers_);
  std::vector<PsSessionSpec> ps_specs;
  for (size_t i = 0; i < servers.size(); ++i) {
    COHORT_ASSIGN_OR_RETURN(ps_specs.emplace_back(), PsSession(program, i, servers.size()));
    ps_specs.back().session = tasks_.session;
    ps_specs.back().epoch = tasks_.epoch;
  }
  COHORT_RETURN_IF_ERROR(CallAll<bool>(servers.size(), timeouts_.setup, [&](size_t i, absl::Time deadline, auto done) {
                           parameter_servers_[i]->OpenSession(ps_specs[i], deadline, std::move(done));
                         }).status());
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

absl::Status Training::Train(const Program& program) {
  const Loop& loop = program.loop;
  const bool by_steps = loop.steps > 0;
  const int64_t rounds = by_steps ? 1 : loop.epochs;
  int64_t batches = 0;  // of one epoch, all workers together
  for (int64_t part : batches_per_epoch_) batches = dealt_ ? batches + part : std::max(batches, part);
  steps_total_ = by_steps ? loop.steps : loop.epochs * batches;
  bool stopped = false;
  for (int64_t round = 0; round < rounds; ++round) {
    std::vector<std::optional<RunSpec>> runs(workers_.size());
    for (size_t i = 0; i < workers_.size(); ++i) {
      RunSpec run;
      run.function = loop.train_function;
      run.first_step = steps_done_[i] + 1;
      run.epoch = round;
      run.report_every = loop.report_every;
      // A worker that trains by itself is given a number: it has no header to learn from that the others are through.
      if (dealt_) run.count = by_steps ? DealtSteps(loop.steps, batches, i, workers_.size()) : batches_per_epoch_[i];
      if (!dealt_ && by_steps) run.count = loop.steps;
      if (!dealt_ || run.count > 0) runs[i] = std::move(run);
    }
    COHORT_RETURN_IF_ERROR(TrainOnce(runs, &stopped));
    if (stopped) return Stopped(absl::StrCat("after step ", result_.steps));
    if (loop.evaluate_each_epoch && !loop.evaluate_function.empty()) COHORT_RETURN_IF_ERROR(Evaluate(program));
  }
  return absl::OkStatus();
}

absl::Status Training::TrainOnce(const std::vector<std::optional<RunSpec>>& runs, bool* stopped) {
  {
    MutexLock lock(&mu_);
    *stopped = stop_requested_;  // later requests reach the workers
    if (*stopped) return absl::OkStatus();
  }
  const absl::Time start = absl::Now();
  {
    MutexLock lock(&report_mu_);
    last_report_ = start;
  }
  COHORT_ASSIGN_OR_RETURN(const std::vector<RunResult> results, RunOnAll(runs, /*report=*/true));
  result_.seconds += absl::ToDoubleSeconds(absl::Now() - start);
  StepSums sums;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!runs[i].has_value()) continue;
    steps_done_[i] = results[i].last_step;
    *stopped |= results[i].stopped;
    if (results[i].leaving && !leaving_.has_value()) leaving_ = workers_[i]->task();
    if (dealt_ || i == 0) AddTo(sums, results[i].sums);  // a group's sums are the same on every rank
  }
  result_.steps += sums.steps;
  result_.examples += sums.examples;
  result_.loss = sums.examples == 0 ? 0 : sums.loss_sum / sums.examples;
  result_.examples_per_second = result_.seconds > 0 ? result_.examples / result_.seconds : 0;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<RunResult>> Training::RunOnAll(const std::vector<std::optional<RunSpec>>& runs,
                                                          bool report) {
  auto calls = std::make_shared<FanOut<RunResult>>(workers_.size());
  SetInterrupt([calls](absl::Status reason) { calls->Interrupt(std::move(reason)); });
  const auto gate = std::make_shared<ReportGate>([this](const StepReport& r) { Report(r); });
  const absl::Cleanup close_gate = [gate] { gate->Close(); };
  for (size_t i = 0; i < workers_.size(); ++i) {
    auto done = FanOut<RunResult>::Slot(calls, i);
    if (!runs[i].has_value()) {
      done(RunResult{});
      continue;
    }
    std::function<void(StepReport)> on_report = [](const StepReport&) {};
    if (report && (dealt_ || i == 0)) on_report = [gate](const StepReport& r) { gate->Pass(r); };
    if (dealt_) {  // nobody learns from a header that one of them stops
      done = [this, alone = std::move(done), gate](absl::StatusOr<RunResult> result) {
        if (result.ok() && result->stopped) gate->IfOpen([this] { StopOthers(); });
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
    return MostTelling(*calls);
  }
  std::vector<RunResult> results;
  for (auto& answer : calls->answers()) results.push_back(**std::move(answer));
  return results;
}

void Training::Report(const StepReport& report) {
  MutexLock lock(&report_mu_);
  JobEvent event;
  event.kind = JobEvent::Kind::kReport;
  event.report = report;
  reported_steps_ += report.sums.steps;
  if (dealt_) {  // the reports of several workers interleave: what they add up to has its own pace
    const absl::Time now = absl::Now();
    event.report.step = reported_steps_;
    event.report.seconds = absl::ToDoubleSeconds(now - last_report_);
    last_report_ = now;
  }
  event.info.step = event.report.step;
  event.info.steps_total = steps_total_;
  event_(event);
}

absl::Status Training::Evaluate(const Program& program) {
  std::vector<std::optional<RunSpec>> runs(workers_.size());
  for (auto& run : runs) {
    run.emplace();
    run->function = program.loop.evaluate_function;
    run->data = RunSpec::Data::kEvaluate;
  }
  COHORT_ASSIGN_OR_RETURN(const std::vector<RunResult> results, RunOnAll(runs, /*report=*/false));
  StepSums sums;
  bool stopped = false;
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].leaving && !leaving_.has_value()) leaving_ = workers_[i]->task();
    stopped |= results[i].stopped;
    if (dealt_ || i == 0) AddTo(sums, results[i].sums);
  }
  if (stopped) return Stopped("during the evaluation");
  result_.evaluated = sums.examples;
  const std::vector<std::string> names = MetricNames(program.functions.at(program.loop.evaluate_function));
  for (size_t i = 0; i < names.size() && i < sums.metric_sums.size(); ++i) {
    if (names[i] == "correct" && sums.examples > 0) result_.accuracy = sums.metric_sums[i] / sums.examples;
  }
  MutexLock lock(&report_mu_);
  JobEvent event;
  event.kind = JobEvent::Kind::kEvaluation;
  event.accuracy = result_.accuracy;
  event.examples = sums.examples;
  event.report.step = event.info.step = result_.steps;
  event.info.steps_total = steps_total_;
  event_(event);
  return absl::OkStatus();
}

absl::Status Training::Summarize(const Program&) {
  COHORT_ASSIGN_OR_RETURN(
      result_.workers,
      CallAll<WorkerSummary>(workers_.size(), timeouts_.setup, [&](size_t i, absl::Time deadline, auto done) {
        workers_[i]->Summarize(tasks_.session, deadline, std::move(done));
      }));
  if (dealt_) return SummarizeParameterServers();
  const WorkerSummary& first = result_.workers[0];
  for (const WorkerSummary& other : result_.workers) {
    if (other.weights_crc32c == first.weights_crc32c && other.state_crc32c == first.state_crc32c) continue;
    return absl::InternalError(absl::StrCat("replicas differ after step ", result_.steps, ": weights ",
                                            first.weights_crc32c, " on ", first.task.ToString(), ", ",
                                            other.weights_crc32c, " on ", other.task.ToString()));
  }
  result_.weights_crc32c = first.weights_crc32c;
  result_.state_crc32c = first.state_crc32c;
  return absl::OkStatus();
}

absl::Status Training::SummarizeParameterServers() {
  COHORT_ASSIGN_OR_RETURN(
      const std::vector<PsSummary> summaries,
      CallAll<PsSummary>(parameter_servers_.size(), timeouts_.setup, [&](size_t i, absl::Time deadline, auto done) {
        parameter_servers_[i]->Summarize(tasks_.session, deadline, std::move(done));
      }));
  std::vector<std::pair<VariableKey, Tensor>> values;
  for (const PsSummary& summary : summaries) {
    for (const auto& [name, value] : summary.values) values.emplace_back(ParseVariableKey(name), value);
  }
  result_.weights_crc32c = WeightsCrc32c(values);
  result_.state_crc32c = StateCrc32c(values, result_.steps);
  for (const WorkerSummary& worker : result_.workers) {
    if (worker.weights_crc32c == result_.weights_crc32c) continue;
    return absl::InternalError(absl::StrCat(worker.task.ToString(), " sees weights ", worker.weights_crc32c,
                                            " after step ", result_.steps, ", the parameter servers hold ",
                                            result_.weights_crc32c));
  }
  return absl::OkStatus();
}

void Training::Close(const absl::Status& reason) {
  {
    MutexLock lock(&mu_);
    if (!opened_) return;
    opened_ = false;
  }
  const absl::Time deadline = absl::Now() + timeouts_.control;
  const size_t count = workers_.size() + parameter_servers_.size();
  auto calls = std::make_shared<FanOut<bool>>(count);
  for (size_t i = 0; i < workers_.size(); ++i) {
    workers_[i]->CloseSession(tasks_.session, reason, deadline, FanOut<bool>::Slot(calls, i));
  }
  for (size_t i = 0; i < parameter_servers_.size(); ++i) {
    parameter_servers_[i]->CloseSession(tasks_.session, reason, deadline,
                                        FanOut<bool>::Slot(calls, workers_.size() + i));
  }
  // After a failure somebody may be gone for good; what it held went with it.
  const bool done = reason.ok() || absl::IsCancelled(reason) || Preempted(reason);
  std::vector<bool> blamed = Blamed(reason, workers_);
  const std::vector<bool> servers = Blamed(reason, parameter_servers_);
  blamed.insert(blamed.end(), servers.begin(), servers.end());
  calls->WaitForOthers(blamed, absl::Now() + (done ? timeouts_.control : absl::Seconds(1)));
}

absl::Status Training::Stopped(absl::string_view where) const {
  if (!leaving_.has_value()) return absl::CancelledError(absl::StrCat("stopped on request ", where));
  absl::Status status = absl::UnavailableError(
      absl::StrCat(leaving_->task.ToString(), " at ", leaving_->address, " was told to end; all stopped ", where));
  SetFirstCause(status, {leaving_->task, leaving_->address, leaving_->incarnation, 0, kPreempted, {}, {}});
  return status;
}

void Training::RequestStop() {
  {
    MutexLock lock(&mu_);
    stop_requested_ = true;
  }
  StopOthers();
}

void Training::StopOthers() {
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

void Training::Abort(absl::Status reason) {
  MutexLock lock(&mu_);
  if (!abort_reason_.ok()) return;
  abort_reason_ = std::move(reason);
  if (interrupt_) interrupt_(abort_reason_);
}

}  // namespace cohort
