#include "runtime/coordination/session_table.h"

#include "absl/strings/str_cat.h"
#include "runtime/base/first_cause.h"

namespace cohort {
namespace {

constexpr size_t kMaxEnded = 100;  // sessions whose end is remembered, for the message to who asks for them

}  // namespace

absl::string_view SessionStateName(SessionState state) {
  switch (state) {
    case SessionState::kWaiting:
      return "waiting";
    case SessionState::kOpen:
      return "open";
    case SessionState::kDisconnected:
      return "disconnected";
    case SessionState::kEnding:
      return "ending";
  }
  return "unknown";
}

SessionTable::SessionTable(SessionOptions options, AdmissionQueue& admission, const Clock& clock)
    : options_(std::move(options)), admission_(admission), clock_(clock), next_id_(options_.first_id) {}

absl::StatusOr<SessionStream> SessionTable::Open(SessionRequest request, std::function<void(absl::Status)> admitted) {
  int64_t id = 0;
  int64_t ticket = 0;
  std::string who;
  {
    MutexLock lock(&mu_);
    id = next_id_++;
    Session& session = sessions_[id];
    session.record.id = id;
    session.record.owner = std::move(request.client);
    session.client_incarnation = request.client_incarnation;
    session.admitted = std::move(admitted);
    who = absl::StrCat("session ", id, " of ", session.record.owner);
    if (request.synchronous) ticket = session.ticket = admission_.NewTicket();
  }
  if (ticket == 0) {
    OnTurn(id, absl::OkStatus());
  } else if (absl::Status status = admission_.Enter(ticket, std::move(who), clock_.Now() + request.wait,
                                                    [this, id](const absl::Status& turn) { OnTurn(id, turn); });
             !status.ok()) {
    MutexLock lock(&mu_);
    sessions_.erase(id);
    return status;
  }
  return SessionStream{id, 1};
}

void SessionTable::OnTurn(int64_t id, const absl::Status& status) {
  {
    MutexLock lock(&mu_);
    const auto it = sessions_.find(id);
    if (it == sessions_.end() || it->second.record.state != SessionState::kWaiting) return;  // gone at this moment
    if (status.ok()) {
      it->second.record.state = SessionState::kOpen;
      it->second.record.opened = clock_.Now();
      callbacks_.Post([admitted = std::exchange(it->second.admitted, nullptr)] { admitted(absl::OkStatus()); });
    } else {
      Drop(id, status);
    }
  }
  callbacks_.Run();
}

int64_t SessionTable::Drop(int64_t id, const absl::Status& status) {
  Session& session = sessions_.at(id);
  const int64_t ticket = session.ticket;
  callbacks_.Post([admitted = std::move(session.admitted), status] { admitted(status); });
  RememberEnd(id, status);
  sessions_.erase(id);
  return ticket;
}

int64_t SessionTable::OpenForJob(int64_t job) {
  MutexLock lock(&mu_);
  const int64_t id = next_id_++;
  Session& session = sessions_[id];
  session.record = {id, absl::StrCat("job ", job), job, SessionState::kOpen, "", clock_.Now()};
  return id;
}

absl::StatusOr<SessionStream> SessionTable::Resume(int64_t session_id, uint64_t client_incarnation) {
  MutexLock lock(&mu_);
  const auto it = sessions_.find(session_id);
  if (it == sessions_.end() || it->second.record.state == SessionState::kEnding) return GoneStatus(session_id);
  Session& session = it->second;
  if (session.record.job != 0 || session.client_incarnation != client_incarnation) {
    return absl::AbortedError(absl::StrCat("session ", session_id, " belongs to ", session.record.owner));
  }
  if (session.record.state == SessionState::kWaiting) {
    return absl::FailedPreconditionError(absl::StrCat("session ", session_id, " is still waiting for its turn"));
  }
  session.record.state = SessionState::kOpen;
  session.lease_ends = absl::InfiniteFuture();
  return SessionStream{session_id, ++session.stream};
}

void SessionTable::Disconnected(const SessionStream& stream) {
  int64_t give_back = 0;
  {
    MutexLock lock(&mu_);
    const auto it = sessions_.find(stream.session);
    if (it == sessions_.end() || it->second.record.job != 0 || it->second.stream != stream.stream) return;
    Session& session = it->second;
    if (session.record.state == SessionState::kWaiting) {
      give_back = Drop(stream.session, absl::CancelledError(absl::StrCat(session.record.owner, " is gone")));
    } else if (session.record.state == SessionState::kOpen) {
      session.record.state = SessionState::kDisconnected;
      session.lease_ends = clock_.Now() + options_.lease;
    }
  }
  callbacks_.Run();
  if (give_back != 0) admission_.Leave(give_back);
}

absl::Status SessionTable::Close(int64_t session_id, const absl::Status& reason) {
  int64_t give_back = 0;
  {
    MutexLock lock(&mu_);
    const auto it = sessions_.find(session_id);
    if (it == sessions_.end() || it->second.record.state == SessionState::kEnding) return GoneStatus(session_id);
    if (it->second.record.state == SessionState::kWaiting) {
      give_back = Drop(session_id, reason.ok() ? absl::CancelledError("closed while waiting for its turn") : reason);
    } else {
      End(it->second, reason);
    }
  }
  callbacks_.Run();
  if (give_back != 0) admission_.Leave(give_back);
  return absl::OkStatus();
}

void SessionTable::End(Session& session, const absl::Status& reason) {
  const int64_t id = session.record.id;
  session.record.state = SessionState::kEnding;
  session.lease_ends = absl::InfiniteFuture();
  RememberEnd(id, reason);
  if (options_.on_end) callbacks_.Post([this, id, reason] { options_.on_end(id, reason); });
}

void SessionTable::Freed(int64_t session_id) {
  int64_t ticket = 0;
  {
    MutexLock lock(&mu_);
    const auto it = sessions_.find(session_id);
    if (it == sessions_.end() || it->second.record.state != SessionState::kEnding) return;
    ticket = it->second.ticket;
    sessions_.erase(it);
  }
  if (ticket != 0) admission_.Leave(ticket);
}

absl::Status SessionTable::Check(int64_t session_id) const {
  MutexLock lock(&mu_);
  const auto it = sessions_.find(session_id);
  if (it == sessions_.end() || it->second.record.state == SessionState::kEnding) return GoneStatus(session_id);
  if (it->second.record.state != SessionState::kWaiting) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("session ", session_id, " is still waiting for its turn"));
}

void SessionTable::Tick() {
  {
    MutexLock lock(&mu_);
    const absl::Time now = clock_.Now();
    for (auto& [id, session] : sessions_) {
      if (now < session.lease_ends) continue;
      absl::Status reason =
          absl::UnavailableError(absl::StrCat("the client of session ", id, " is lost: ", session.record.owner,
                                              " did not come back within ", absl::FormatDuration(options_.lease)));
      FirstCause cause;
      cause.name = session.record.owner;
      SetFirstCause(reason, cause);
      End(session, reason);
    }
  }
  callbacks_.Run();
}

std::vector<SessionRecord> SessionTable::List() const {
  MutexLock lock(&mu_);
  std::vector<SessionRecord> list;
  for (const auto& [id, session] : sessions_) {
    list.push_back(session.record);
    if (session.record.state == SessionState::kWaiting) list.back().behind = admission_.Behind(session.ticket);
  }
  return list;
}

absl::Status SessionTable::GoneStatus(int64_t id) const {
  for (const auto& [ended, reason] : ended_) {
    if (ended != id) continue;
    return absl::NotFoundError(absl::StrCat("session ", id, " is over: ", reason.ok() ? "closed" : reason.message()));
  }
  return absl::NotFoundError(absl::StrCat("there is no session ", id));
}

void SessionTable::RememberEnd(int64_t id, const absl::Status& reason) {
  ended_.emplace_back(id, reason);
  if (ended_.size() > kMaxEnded) ended_.pop_front();
}

}  // namespace cohort
