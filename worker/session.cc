#include "worker/session.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "runtime/base/hash.h"
#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"
#include "runtime/checkpoint/checksum.h"
#include "runtime/variable/initializer.h"

namespace cohort {
namespace {

constexpr absl::Duration kReportInterval = absl::Milliseconds(500);

int64_t ExamplesOf(const Element& batch) {
  return batch.empty() || batch[0].shape().rank() == 0 ? 0 : batch[0].shape().dim(0);
}

// Before the first step: what is found missing after the last would cost the answer to all of them.
absl::Status CheckFetched(const Function& function, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto named = [&name](const Result& result) { return result.name == name; };
    if (std::none_of(function.results.begin(), function.results.end(), named)) {
      return absl::NotFoundError(absl::StrCat("function '", function.name, "' has no result '", name, "'"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

// Sums headers between two reports.
class WorkerSession::Reporter {
 public:
  Reporter(int64_t every, const std::function<void(StepReport)>& report) : every_(every), report_(report) {}

  void Add(int64_t step, const StepHeader& header) {
    AddTo(total_, header);
    AddTo(since_.sums, header);
    since_.step = step;
    since_.losses.push_back(header.examples == 0 ? 0 : header.loss_sum / header.examples);
    const bool due = every_ > 0 ? since_.sums.steps >= every_ : absl::Now() - start_ >= kReportInterval;
    if (due) Flush();
  }

  void Flush() {
    if (since_.sums.steps == 0) return;
    const absl::Time now = absl::Now();
    since_.seconds = absl::ToDoubleSeconds(now - start_);
    report_(std::exchange(since_, StepReport{}));
    start_ = now;
  }

  const StepSums& total() const { return total_; }

 private:
  static void AddTo(StepSums& sums, const StepHeader& header) {
    ++sums.steps;
    sums.examples += header.examples;
    sums.loss_sum += header.loss_sum;
    sums.metric_sums.resize(header.metric_sums.size());
    for (size_t i = 0; i < header.metric_sums.size(); ++i) sums.metric_sums[i] += header.metric_sums[i];
  }

  const int64_t every_;
  const std::function<void(StepReport)>& report_;
  StepReport since_;
  StepSums total_;
  absl::Time start_ = absl::Now();
};

WorkerSession::WorkerSession(SessionSpec spec, const SessionEnvironment& environment)
    : spec_(std::move(spec)), environment_(environment), tiles_(environment.threads) {}

absl::StatusOr<std::unique_ptr<WorkerSession>> WorkerSession::Open(SessionSpec spec,
                                                                   const SessionEnvironment& environment,
                                                                   absl::Time deadline) {
  std::unique_ptr<WorkerSession> session(new WorkerSession(std::move(spec), environment));
  const SessionSpec& opened = session->spec_;
  COHORT_RETURN_IF_ERROR(opened.program.Validate());
  if (opened.group.size() > 1) {
    COHORT_ASSIGN_OR_RETURN(session->communicator_, environment.join_group(opened, deadline));
  }
  if (!opened.parameter_servers.empty()) {
    COHORT_ASSIGN_OR_RETURN(session->parameters_, environment.connect_parameter_servers(opened));
  }
  COHORT_RETURN_IF_ERROR(session->Plan());
  return session;
}

absl::Status WorkerSession::Plan() {
  const Program& program = spec_.program;
  for (const VariableDef& definition : program.variables) {
    COHORT_RETURN_IF_ERROR(variables_.Create({definition.name, ""}, definition.spec, definition.trainable).status());
  }
  for (const auto& [name, function] : program.functions) {
    COHORT_ASSIGN_OR_RETURN(executors_[name],
                            StepExecutor::Create(function, program.functions, variables_, communicator_.get(),
                                                 parameters_.get(), tiles_, StepExecutorOptions{}),
                            _ << "function '" << name << "'");
  }
  const Loop& loop = program.loop;
  if (!loop.train_function.empty()) {
    COHORT_ASSIGN_OR_RETURN(train_feed_, Feed::Create(loop.train_dataset), _ << "training data");
  }
  if (!loop.evaluate_function.empty()) {
    COHORT_ASSIGN_OR_RETURN(evaluate_feed_, Feed::Create(loop.evaluate_dataset), _ << "evaluation data");
  }
  return absl::OkStatus();
}

OpenedSession WorkerSession::info() const {
  OpenedSession info;
  for (const auto& [name, executor] : executors_) {
    for (absl::string_view line : absl::StrSplit(executor->collectives_text(), '\n', absl::SkipEmpty())) {
      absl::StrAppend(&info.plan_text, name, ": ", line, "\n");
    }
  }
  info.plan_hash = Fnv1a64(info.plan_text);
  if (train_feed_ != nullptr) info.batches_per_epoch = train_feed_->batches_per_epoch();
  return info;
}

absl::Status WorkerSession::InitializeVariables(absl::Time deadline) {
  if (parameters_ != nullptr) return absl::OkStatus();  // made where they live
  for (const VariableDef& definition : spec_.program.variables) {
    COHORT_RETURN_IF_ERROR(aborted());
    COHORT_ASSIGN_OR_RETURN(Variable * variable, variables_.Find({definition.name, ""}));
    Tensor value = Tensor::Zeros(definition.spec.dtype, definition.spec.shape);
    if (spec_.rank == 0) {
      COHORT_ASSIGN_OR_RETURN(value, InitialValue(definition, spec_.program.seed));
    }
    if (communicator_ != nullptr) {
      const HostSpan span{value.mutable_data(), value.num_elements(), value.dtype()};
      COHORT_RETURN_IF_ERROR(communicator_->Broadcast(span, /*root=*/0, {definition.name, 0, deadline}));
    }
    COHORT_RETURN_IF_ERROR(variable->Assign(value));
  }
  return absl::OkStatus();
}

absl::StatusOr<RunResult> WorkerSession::Run(const RunSpec& run, const std::function<void(StepReport)>& report) {
  const auto executor = executors_.find(run.function);
  if (executor == executors_.end()) {
    return absl::NotFoundError(absl::StrCat(environment_.self.task.ToString(), ": no function '", run.function, "'"));
  }
  COHORT_RETURN_IF_ERROR(CheckFetched(spec_.program.functions.at(run.function), run.fetch));
  const bool training = run.data == RunSpec::Data::kTrain;
  const bool counted = run.data != RunSpec::Data::kEvaluate;
  if (counted && last_run_.has_value() && last_run_->first == run) return last_run_->second;
  if (counted && run.first_step != last_step_ + 1) {
    return absl::FailedPreconditionError(absl::StrCat(environment_.self.task.ToString(), ": step ", run.first_step,
                                                      " was asked for, but the session stands after step ",
                                                      last_step_.load()));
  }
  Feed* feed = nullptr;
  if (training) feed = train_feed_.get();
  if (run.data == RunSpec::Data::kEvaluate) feed = evaluate_feed_.get();
  if (run.data != RunSpec::Data::kNone && feed == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat("the program has no data for '", run.function, "'"));
  }
  if (feed != nullptr) {
    COHORT_RETURN_IF_ERROR(training ? feed->StartEpoch(run.epoch) : feed->RestartEpoch(run.epoch));
  }
  absl::StatusOr<RunResult> result = RunSteps(run, *executor->second, feed, report);
  if (counted && result.ok()) last_run_.emplace(run, *result);
  return result;
}

absl::StatusOr<RunResult> WorkerSession::RunSteps(const RunSpec& run, StepExecutor& executor, Feed* feed,
                                                  const std::function<void(StepReport)>& report) {
  RunResult result;
  const std::function<void(StepReport)> unreported = [](const StepReport&) {};
  Reporter reporter(run.report_every, run.data == RunSpec::Data::kNone ? unreported : report);
  int64_t step = run.first_step;
  for (bool more = true; more; ++step) {
    const bool last = run.count > 0 && step - run.first_step + 1 >= run.count;
    absl::StatusOr<StepHeader> header = RunStep(run, step, last, executor, feed);
    if (!header.ok())
      return Annotate(header.status(), absl::StrCat(environment_.self.task.ToString(), ": step ", step));
    if (run.data != RunSpec::Data::kEvaluate) last_step_ = step;
    reporter.Add(step, *header);
    result.last_step = step;
    result.stopped = header->stop_requested > 0;
    result.leaving = result.stopped && leaving_;
    result.end_of_data = run.count == 0 && header->has_next == 0;
    more = !last && !result.stopped && !result.end_of_data;
  }
  reporter.Flush();
  result.sums = reporter.total();
  for (const std::string& name : run.fetch) {
    COHORT_ASSIGN_OR_RETURN(result.fetched.emplace_back(), executor.Fetch(name));
  }
  return result;
}

absl::StatusOr<StepHeader> WorkerSession::RunStep(const RunSpec& run, int64_t step, bool last, StepExecutor& executor,
                                                  Feed* feed) {
  COHORT_RETURN_IF_ERROR(aborted());
  const bool counted = run.data != RunSpec::Data::kEvaluate;
  if (counted) environment_.chaos->BeforeStep(environment_.self.task, step);
  StepInputs inputs;
  if (!run.feeds.empty()) inputs.batch = &run.feeds;
  if (feed != nullptr) {
    // A counted run goes on over as many epochs as it needs.
    if (run.count > 0 && !feed->has_next()) {
      COHORT_RETURN_IF_ERROR(feed->StartEpoch(feed->epoch() + 1));
    }
    COHORT_ASSIGN_OR_RETURN(inputs.batch, feed->Take());
    inputs.has_next = run.count > 0 ? !last : feed->has_next();
  }
  inputs.step = step;
  inputs.learning_rate = LearningRate(step);
  inputs.stop_requested = stop_requested_;
  inputs.collective_timeout = spec_.collective_timeout;
  StepHeader header;
  COHORT_RETURN_IF_ERROR(executor.Run(inputs, header));
  if (counted && inputs.batch != nullptr) examples_ += ExamplesOf(*inputs.batch);
  return header;
}

double WorkerSession::LearningRate(int64_t step) const {
  const Loop& loop = spec_.program.loop;
  const int64_t epoch = train_feed_ == nullptr ? 0 : train_feed_->batches_per_epoch();
  const int64_t steps = loop.steps > 0 ? loop.steps : loop.epochs * epoch;
  if (loop.final_learning_rate < 0 || steps <= 0) return loop.learning_rate;
  const double done = static_cast<double>(std::min(step - 1, steps)) / static_cast<double>(steps);
  return loop.learning_rate + (loop.final_learning_rate - loop.learning_rate) * done;
}

absl::StatusOr<WorkerSummary> WorkerSession::Summarize() const {
  WorkerSummary summary;
  summary.task = environment_.self.task;
  summary.examples = examples_;
  summary.steps = last_step_;
  summary.bytes_sent = bytes_sent();
  if (parameters_ != nullptr) {
    COHORT_ASSIGN_OR_RETURN(summary.weights_crc32c, PulledWeightsCrc32c());
    return summary;
  }
  COHORT_ASSIGN_OR_RETURN(summary.weights_crc32c, variables_.WeightsCrc32c());
  COHORT_ASSIGN_OR_RETURN(summary.state_crc32c, variables_.StateCrc32c(last_step_));
  return summary;
}

absl::StatusOr<std::string> WorkerSession::PulledWeightsCrc32c() const {
  StateValues values;
  for (const VariableDef& definition : spec_.program.variables) {
    values.emplace_back(VariableKey{definition.name, ""}, Tensor(definition.spec.dtype, definition.spec.shape));
  }
  std::vector<ParameterClient::PullTarget> targets;
  for (auto& [key, value] : values) targets.push_back({key.variable, value.spec(), value.mutable_data()});
  COHORT_RETURN_IF_ERROR(parameters_->Pull(targets, absl::Now() + spec_.collective_timeout));
  return WeightsCrc32c(std::move(values));
}

int64_t WorkerSession::bytes_sent() const {
  if (communicator_ != nullptr) return communicator_->bytes_sent();
  return parameters_ != nullptr ? parameters_->bytes_sent() : 0;
}

void WorkerSession::Abort(absl::Status reason) {
  {
    MutexLock lock(&mu_);
    if (!aborted_.ok()) return;
    aborted_ = reason;
  }
  if (communicator_ != nullptr) communicator_->Abort(reason);
}

absl::Status WorkerSession::aborted() const {
  MutexLock lock(&mu_);
  return aborted_;
}

}  // namespace cohort
