#include "runtime/driver/training.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/base/status_macros.h"
#include "runtime/checkpoint/checksum.h"
#include "runtime/driver/placement.h"

namespace cohort {
namespace {

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

}  // namespace

Training::Training(TrainingTasks tasks, TrainingTimeouts timeouts, std::function<void(const JobEvent&)> event)
    : timeouts_(timeouts), event_(std::move(event)), tasks_(std::move(tasks), timeouts) {}

absl::StatusOr<JobResult> Training::Run(const Program& program) {
  COHORT_RETURN_IF_ERROR(program.Validate());
  if (program.loop.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("program '", program.name, "' has no loop that a job could run"));
  }
  const absl::Status status = RunPhases(program);
  tasks_.Close(status.ok() ? absl::CancelledError("the training is done") : status);
  if (!status.ok()) return status;
  return result_;
}

absl::Status Training::RunPhases(const Program& program) {
  COHORT_RETURN_IF_ERROR(tasks_.Open(program));
  steps_done_.assign(tasks_.workers().size(), 0);
  COHORT_RETURN_IF_ERROR(Train(program));
  if (!program.loop.evaluate_function.empty() && !program.loop.evaluate_each_epoch) {
    COHORT_RETURN_IF_ERROR(Evaluate(program));
  }
  return Summarize();
}

absl::Status Training::Train(const Program& program) {
  const Loop& loop = program.loop;
  const bool by_steps = loop.steps > 0;
  const int64_t rounds = by_steps ? 1 : loop.epochs;
  int64_t batches = 0;  // of one epoch, all workers together; 0: nobody knows before it has ended
  const std::vector<int64_t>& parts = tasks_.batches_per_epoch();
  if (std::all_of(parts.begin(), parts.end(), [](int64_t part) { return part >= 0; })) {
    for (const int64_t part : parts) batches = dealt() ? batches + part : std::max(batches, part);
  }
  steps_total_ = by_steps ? loop.steps : loop.epochs * batches;
  bool stopped = false;
  for (int64_t round = 0; round < rounds; ++round) {
    std::vector<std::optional<RunSpec>> runs(tasks_.workers().size());
    for (size_t i = 0; i < tasks_.workers().size(); ++i) {
      RunSpec run;
      run.function = loop.train_function;
      run.first_step = steps_done_[i] + 1;
      run.epoch = round;
      run.report_every = loop.report_every;
      // A worker that trains by itself is given a number: it has no header to learn from that the others are through.
      if (by_steps) run.count = dealt() ? DealtSteps(loop.steps, batches, i, tasks_.workers().size()) : loop.steps;
      if (dealt() && !by_steps) run.count = std::max<int64_t>(parts[i], 0);
      const bool nothing = dealt() && (by_steps ? run.count == 0 : parts[i] == 0);
      if (!nothing) runs[i] = std::move(run);
    }
    COHORT_RETURN_IF_ERROR(TrainOnce(runs, &stopped));
    if (stopped) return tasks_.Stopped(absl::StrCat("after step ", result_.steps));
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
  COHORT_ASSIGN_OR_RETURN(const std::vector<RunResult> results,
                          tasks_.Run(runs, [this](size_t worker, const StepReport& report) {
                            if (dealt() || worker == 0) Report(report);
                          }));
  result_.seconds += absl::ToDoubleSeconds(absl::Now() - start);
  StepSums sums;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!runs[i].has_value()) continue;
    steps_done_[i] = results[i].last_step;
    *stopped |= results[i].stopped;
    if (dealt() || i == 0) AddTo(sums, results[i].sums);  // a group's sums are the same on every rank
  }
  result_.steps += sums.steps;
  result_.examples += sums.examples;
  result_.loss = sums.examples == 0 ? 0 : sums.loss_sum / sums.examples;
  result_.examples_per_second = result_.seconds > 0 ? result_.examples / result_.seconds : 0;
  return absl::OkStatus();
}

void Training::Report(const StepReport& report) {
  MutexLock lock(&report_mu_);
  JobEvent event;
  event.kind = JobEvent::Kind::kReport;
  event.report = report;
  reported_steps_ += report.sums.steps;
  if (dealt()) {  // the reports of several workers interleave: what they add up to has its own pace
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
  std::vector<std::optional<RunSpec>> runs(tasks_.workers().size());
  for (auto& run : runs) {
    run.emplace();
    run->function = program.loop.evaluate_function;
    run->data = RunSpec::Data::kEvaluate;
  }
  COHORT_ASSIGN_OR_RETURN(const std::vector<RunResult> results, tasks_.Run(runs, {}));
  StepSums sums;
  bool stopped = false;
  for (size_t i = 0; i < results.size(); ++i) {
    stopped |= results[i].stopped;
    if (dealt() || i == 0) AddTo(sums, results[i].sums);
  }
  if (stopped) return tasks_.Stopped("during the evaluation");
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

absl::Status Training::Summarize() {
  COHORT_ASSIGN_OR_RETURN(result_.workers,
                          tasks_.CallAll<WorkerSummary>(
                              tasks_.workers().size(), timeouts_.setup, [&](size_t i, absl::Time deadline, auto done) {
                                tasks_.workers()[i]->Summarize(tasks_.session(), deadline, std::move(done));
                              }));
  if (dealt()) return SummarizeParameterServers();
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
  COHORT_ASSIGN_OR_RETURN(const std::vector<PsSummary> summaries,
                          tasks_.CallAll<PsSummary>(tasks_.parameter_servers().size(), timeouts_.setup,
                                                    [&](size_t i, absl::Time deadline, auto done) {
                                                      tasks_.parameter_servers()[i]->Summarize(
                                                          tasks_.session(), deadline, std::move(done));
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

void Training::RequestStop() {
  {
    MutexLock lock(&mu_);
    stop_requested_ = true;
  }
  tasks_.RequestStop();
}

void Training::Abort(absl::Status reason) { tasks_.Abort(std::move(reason)); }

}  // namespace cohort
