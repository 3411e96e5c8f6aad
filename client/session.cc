#include "client/session.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/base/status_macros.h"

namespace cohort {
namespace {

std::string DefaultName() {
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  return absl::StrCat(program_invocation_short_name, ", pid ", getpid(), " on ", host);
}

absl::Status CheckFeeds(const Function& function, const std::vector<Tensor>& feeds, int worker) {
  const auto wrong = [&](absl::string_view what) {
    return absl::InvalidArgumentError(
        absl::StrCat("function '", function.name, "', feeds of worker ", worker, ": ", what));
  };
  if (feeds.size() != function.parameters.size()) {
    return wrong(absl::StrCat(feeds.size(), " tensors for ", function.parameters.size(), " parameters"));
  }
  for (size_t i = 0; i < feeds.size(); ++i) {
    const TensorSpec expected = function.graph.spec({function.parameters[i].node, 0});
    if (feeds[i].dtype() == expected.dtype && feeds[i].shape().IsCompatibleWith(expected.shape)) continue;
    return wrong(absl::StrCat("parameter '", function.parameters[i].name, "' is ", expected.ToString(), ", not ",
                              feeds[i].spec().ToString()));
  }
  return absl::OkStatus();
}

}  // namespace

Session::Session(Program program, std::unique_ptr<ClientSession> held)
    : program_(std::move(program)), held_(std::move(held)) {}

absl::StatusOr<std::unique_ptr<Session>> Session::Open(Cluster& cluster, const Program& program,
                                                       const SessionOpenOptions& options) {
  COHORT_RETURN_IF_ERROR(program.Validate());
  const ClientSessionOptions wanted{options.name.empty() ? DefaultName() : options.name, program.strategy,
                                    options.wait};
  const absl::Time deadline = absl::Now() + options.open_timeout;
  COHORT_ASSIGN_OR_RETURN(std::unique_ptr<ClientSession> held, cluster.control().OpenSession(wanted, deadline));
  std::unique_ptr<Session> session(new Session(program, std::move(held)));
  session->Link(options.timeouts);
  COHORT_RETURN_IF_ERROR(session->tasks_->Open(program)) << "program '" << program.name << "'";
  return session;
}

void Session::Link(const SessionTimeouts& timeouts) {
  const SessionGrant& given = held_->grant();
  SessionTasks tasks;
  tasks.session = given.session;
  tasks.epoch = given.epoch;
  for (const TaskAddress& task : given.workers) {
    tasks.workers.push_back(worker_links_.emplace_back(held_->LinkWorker(task)).get());
  }
  for (const TaskAddress& task : given.parameter_servers) {
    tasks.parameter_servers.push_back(ps_links_.emplace_back(held_->LinkParameterServer(task)).get());
  }
  tasks_ = std::make_unique<TaskSessions>(std::move(tasks), timeouts);
  held_->WhenLost([tasks = tasks_.get()](const absl::Status& lost) { tasks->Abort(lost); });
}

Session::~Session() {
  held_->WhenLost(nullptr);
  tasks_->Close(absl::CancelledError("the client closed the session"));
}

absl::Status Session::status() const { return failed_.ok() ? held_->status() : failed_; }

absl::Status Session::CheckRun(const std::string& function, absl::Span<const std::vector<Tensor>> feeds,
                               const std::vector<std::string>& fetch) const {
  const auto found = program_.functions.find(function);
  if (found == program_.functions.end()) {
    return absl::InvalidArgumentError(absl::StrCat("program '", program_.name, "' has no function '", function, "'"));
  }
  const bool none = feeds.empty() && found->second.parameters.empty();
  if (!none && static_cast<int>(feeds.size()) != workers()) {
    return absl::InvalidArgumentError(
        absl::StrCat("function '", function, "': feeds for ", feeds.size(), " workers, the session has ", workers()));
  }
  for (size_t i = 0; i < feeds.size(); ++i) {
    COHORT_RETURN_IF_ERROR(CheckFeeds(found->second, feeds[i], static_cast<int>(i)));
  }
  for (const std::string& name : fetch) {
    const auto& results = found->second.results;
    if (std::any_of(results.begin(), results.end(), [&](const Result& r) { return r.name == name; })) continue;
    return absl::InvalidArgumentError(absl::StrCat("function '", function, "' has no result '", name, "'"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<WorkerResult>> Session::Run(const std::string& function,
                                                       absl::Span<const std::vector<Tensor>> feeds,
                                                       const std::vector<std::string>& fetch) {
  COHORT_RETURN_IF_ERROR(status()) << "the session is over";
  COHORT_RETURN_IF_ERROR(CheckRun(function, feeds, fetch));
  std::vector<std::optional<RunSpec>> runs(workers());
  for (size_t i = 0; i < runs.size(); ++i) {
    RunSpec& run = runs[i].emplace();
    run.function = function;
    run.data = RunSpec::Data::kNone;
    run.first_step = steps_ + 1;
    run.count = 1;
    run.fetch = fetch;
    if (!feeds.empty()) run.feeds = feeds[i];
  }
  absl::StatusOr<std::vector<RunResult>> results = tasks_->Run(runs, {});
  if (!results.ok()) {
    failed_ = results.status();
    return failed_;
  }
  ++steps_;
  std::vector<WorkerResult> answers(results->size());
  for (size_t i = 0; i < answers.size(); ++i) {
    answers[i] = {tasks_->workers()[i]->task().task, std::move((*results)[i].fetched), std::move((*results)[i].sums)};
    if ((*results)[i].stopped && failed_.ok()) {  // of the next run: this one is whole
      failed_ = tasks_->Stopped(absl::StrCat("after step ", steps_));
    }
  }
  return answers;
}

}  // namespace cohort
