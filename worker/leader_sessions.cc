#include "worker/leader_sessions.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"
#include "runtime/driver/fan_out.h"
#include "runtime/driver/placement.h"
#include "runtime/driver/session_holder.h"
#include "worker/roster_tasks.h"

namespace cohort {

// One session, from the request on. Guarded by LeaderSessions' lock but for what is const.
struct LeaderSessions::Entry {
  const StrategyKind strategy;
  Events events;
  SessionStream stream;  // session 0: not known yet
  bool admitted = false;
  bool ended = false;
  SessionGrant grant;  // of the session once it was opened
};

LeaderSessions::LeaderSessions(LeaderSessionsOptions options, TaskLinks links, Coordination& coordination,
                               const Clock& clock)
    : options_(options),
      links_(std::move(links)),
      coordination_(coordination),
      clock_(clock),
      freeing_("sessions", 1) {}

absl::StatusOr<SessionStream> LeaderSessions::Open(const ClientSessionOptions& options, uint64_t client_incarnation,
                                                   Events events) {
  const Roster roster = coordination_.membership().GetRoster();
  COHORT_RETURN_IF_ERROR(WorkersFor(options.strategy, ComputingTasksOf(roster), TasksOf(roster, "ps")).status());
  auto entry = std::make_shared<Entry>(Entry{options.strategy, std::move(events), {}, false, false, {}});
  SessionRequest request;
  request.client = options.client;
  request.client_incarnation = client_incarnation;
  if (!options.wait) request.wait = absl::ZeroDuration();
  const auto admitted = [this, entry](const absl::Status& status) { OnAdmitted(entry, status); };
  COHORT_ASSIGN_OR_RETURN(const SessionStream stream, coordination_.sessions().Open(std::move(request), admitted));
  bool goes_on = false;
  {
    MutexLock lock(&mu_);
    entry->stream = stream;
    if (!entry->ended) entries_[stream.session] = entry;
    goes_on = entry->admitted && !entry->ended;
  }
  LogInfo("leader", absl::StrCat("session ", stream.session, " is asked for by ", options.client));
  if (goes_on) AskForRoster(entry);
  return stream;
}

void LeaderSessions::OnAdmitted(const std::shared_ptr<Entry>& entry, const absl::Status& status) {
  std::function<void(const absl::Status&)> ended;
  {
    MutexLock lock(&mu_);
    if (status.ok()) {
      entry->admitted = true;
      if (entry->stream.session == 0) return;  // Open goes on when it knows the number
    } else {
      entry->ended = true;
      entries_.erase(entry->stream.session);
      ended = entry->events.ended;
    }
  }
  if (ended) return ended(status);
  AskForRoster(entry);
}

void LeaderSessions::AskForRoster(const std::shared_ptr<Entry>& entry) {
  const auto tasks = TasksUsed(entry->strategy, coordination_.membership().GetRoster());
  if (!tasks.ok()) return OnRoster(entry, tasks.status());
  coordination_.membership().WhenAlive(
      *tasks, clock_.Now() + options_.start_timeout,
      [this, entry](const absl::StatusOr<Roster>& roster) { OnRoster(entry, roster); });
}

void LeaderSessions::OnRoster(const std::shared_ptr<Entry>& entry, const absl::StatusOr<Roster>& roster) {
  int64_t session = 0;
  {
    MutexLock lock(&mu_);
    session = entry->stream.session;
  }
  if (!roster.ok()) return Close(session, roster.status());
  SessionGrant grant;
  grant.session = static_cast<uint64_t>(session);
  grant.epoch = roster->epoch;
  if (entry->strategy == StrategyKind::kParameterServer) grant.parameter_servers = TasksOf(*roster, "ps");
  auto workers = WorkersFor(entry->strategy, ComputingTasksOf(*roster), grant.parameter_servers);
  if (!workers.ok()) return Close(session, workers.status());
  grant.workers = *std::move(workers);
  std::function<void(const SessionGrant&)> opened;
  {
    MutexLock lock(&mu_);
    if (entry->ended) return;
    entry->grant = grant;
    opened = entry->events.opened;
  }
  opened(grant);
  for (const auto* tasks : {&grant.workers, &grant.parameter_servers}) {
    for (const TaskAddress& task : *tasks) {  // lost since the roster was made: OnLoss has not seen the grant
      if (const auto loss = coordination_.membership().LossOf(task.task); loss.has_value()) OnLoss(*loss);
    }
  }
}

absl::StatusOr<SessionStream> LeaderSessions::Resume(int64_t session, uint64_t client_incarnation, Events events) {
  COHORT_ASSIGN_OR_RETURN(const SessionStream stream, coordination_.sessions().Resume(session, client_incarnation));
  SessionGrant grant;
  Events old;
  {
    MutexLock lock(&mu_);
    const auto it = entries_.find(session);
    if (it == entries_.end()) return absl::NotFoundError(absl::StrCat("session ", session, " is over"));
    old = std::exchange(it->second->events, events);
    it->second->stream = stream;
    grant = it->second->grant;
  }
  old.ended(absl::AbortedError("the session goes on over another stream"));
  if (grant.session != 0) events.opened(grant);
  return stream;
}

void LeaderSessions::Close(int64_t session, const absl::Status& reason) {
  coordination_.sessions().Close(session, reason).IgnoreError();  // NotFound: it has ended by itself
}

std::string LeaderSessions::Behind(int64_t session) const {
  for (const SessionRecord& record : coordination_.sessions().List()) {
    if (record.id == session) return record.behind;
  }
  return "";
}

void LeaderSessions::OnEnd(int64_t session, const absl::Status& reason) {
  std::shared_ptr<Entry> entry;
  {
    MutexLock lock(&mu_);
    const auto it = entries_.find(session);
    if (it == entries_.end()) return;
    entry = std::move(it->second);
    entries_.erase(it);
    entry->ended = true;
  }
  LogInfo("leader", absl::StrCat("session ", session, " ends: ", reason.ok() ? "closed" : reason.message()));
  entry->events.ended(reason);
  const absl::Status told = reason.ok() ? absl::CancelledError("the client closed the session") : reason;
  freeing_.Post([this, entry, session, told] {
    if (entry->grant.session != 0) Free(entry->grant, told);
    coordination_.sessions().Freed(session);
  });
}

void LeaderSessions::Free(const SessionGrant& grant, const absl::Status& reason) {
  bool closing = false;
  {
    MutexLock lock(&mu_);
    closing = closing_;
  }
  const absl::Time deadline = absl::Now() + (closing ? absl::Milliseconds(500) : options_.control);
  // A lost task has freed everything.
  const auto alive = [this](const TaskAddress& task) {
    return !coordination_.membership().LossOf(task.task).has_value();
  };
  std::vector<std::shared_ptr<WorkerLink>> workers;
  std::vector<std::shared_ptr<PsLink>> servers;
  for (const TaskAddress& task : grant.workers) {
    if (alive(task)) workers.push_back(links_.worker(task));
  }
  for (const TaskAddress& task : grant.parameter_servers) {
    if (alive(task)) servers.push_back(links_.parameter_server(task));
  }
  auto calls = std::make_shared<FanOut<bool>>(workers.size() + servers.size());
  size_t slot = 0;
  for (const auto& link : workers)
    link->CloseSession(grant.session, reason, deadline, FanOut<bool>::Slot(calls, slot++));
  for (const auto& link : servers)
    link->CloseSession(grant.session, reason, deadline, FanOut<bool>::Slot(calls, slot++));
  if (!calls->WaitForAll(deadline + absl::Seconds(1)) && !closing) {
    LogWarn("leader", absl::StrCat("session ", grant.session, ": not every task has freed it"));
  }
}

void LeaderSessions::OnLoss(const MemberLoss& loss) {
  std::vector<int64_t> hit;
  {
    MutexLock lock(&mu_);
    const auto has = [&loss](const std::vector<TaskAddress>& tasks) {
      return std::any_of(tasks.begin(), tasks.end(), [&](const TaskAddress& t) {
        return t.task == loss.task && t.incarnation == loss.incarnation;
      });
    };
    for (const auto& [id, entry] : entries_) {
      if (has(entry->grant.workers) || has(entry->grant.parameter_servers)) hit.push_back(id);
    }
  }
  for (const int64_t session : hit) Close(session, loss.status);
}

void LeaderSessions::CloseAll(const absl::Status& reason) {
  std::vector<int64_t> all;
  {
    MutexLock lock(&mu_);
    closing_ = true;
    for (const auto& [id, entry] : entries_) all.push_back(id);
  }
  for (const int64_t session : all) Close(session, reason);
}

namespace {

class LocalSession final : public ClientSession {
 public:
  LocalSession(LeaderSessions& sessions, TaskLinks links) : sessions_(sessions), links_(std::move(links)) {}
  ~LocalSession() override {
    if (stream_.session != 0) sessions_.Close(stream_.session);
    holder_->Forget();
  }

  absl::Status Open(const ClientSessionOptions& options, absl::Time deadline) {
    LeaderSessions::Events events;
    events.opened = [holder = holder_](const SessionGrant& grant) { holder->Opened(grant); };
    events.ended = [holder = holder_](const absl::Status& status) { holder->Ended(status); };
    COHORT_ASSIGN_OR_RETURN(stream_, sessions_.Open(options, /*client_incarnation=*/0, std::move(events)));
    holder_->Waiting(sessions_.Behind(stream_.session));
    return holder_->WaitOpened(deadline);
  }

  const SessionGrant& grant() const override { return holder_->grant(); }
  absl::Status status() const override { return holder_->status(); }
  void WhenLost(std::function<void(const absl::Status&)> lost) override { holder_->WhenLost(std::move(lost)); }
  std::shared_ptr<WorkerLink> LinkWorker(const TaskAddress& task) override { return links_.worker(task); }
  std::shared_ptr<PsLink> LinkParameterServer(const TaskAddress& task) override {
    return links_.parameter_server(task);
  }

 private:
  LeaderSessions& sessions_;
  const TaskLinks links_;
  const std::shared_ptr<SessionHolder> holder_ = std::make_shared<SessionHolder>();
  SessionStream stream_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ClientSession>> OpenLocalSession(LeaderSessions& sessions, TaskLinks links,
                                                                const ClientSessionOptions& options,
                                                                absl::Time deadline) {
  auto session = std::make_unique<LocalSession>(sessions, std::move(links));
  COHORT_RETURN_IF_ERROR(session->Open(options, deadline));
  return session;
}

}  // namespace cohort
