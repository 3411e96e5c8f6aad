#include "ps/shard.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"

namespace cohort {

absl::StatusOr<std::shared_ptr<ShardSession>> Shard::Find(uint64_t session) const {
  MutexLock lock(&mu_);
  const auto it = sessions_.find(session);
  if (it != sessions_.end()) return it->second;
  return absl::NotFoundError(
      absl::StrCat(self_.task.ToString(), " has no session ", session, "; it was closed, or the task restarted"));
}

void Shard::OpenSession(const PsSessionSpec& spec, absl::Time, Done<bool> done) {
  absl::StatusOr<std::shared_ptr<ShardSession>> session = ShardSession::Create(spec);
  if (!session.ok()) {
    done(Annotate(session.status(), self_.task.ToString()));
    return;
  }
  bool added;
  {
    MutexLock lock(&mu_);
    added = sessions_.emplace(spec.session, *std::move(session)).second;
  }
  if (added) {
    done(true);
  } else {
    done(absl::AlreadyExistsError(absl::StrCat(self_.task.ToString(), " has a session ", spec.session, " already")));
  }
}

void Shard::Summarize(uint64_t session, absl::Time, Done<PsSummary> done) {
  absl::StatusOr<std::shared_ptr<ShardSession>> found = Find(session);
  done(found.ok() ? (*found)->Summarize() : found.status());
}

void Shard::CloseSession(uint64_t session, absl::Status, absl::Time, Done<bool> done) {
  std::shared_ptr<ShardSession> freed;
  {
    MutexLock lock(&mu_);
    const auto it = sessions_.find(session);
    if (it != sessions_.end()) {
      freed = std::move(it->second);
      sessions_.erase(it);
    }
  }
  freed.reset();
  done(true);
}

absl::StatusOr<std::vector<Tensor>> Shard::Pull(uint64_t session, absl::Span<const std::string> names) {
  COHORT_ASSIGN_OR_RETURN(const std::shared_ptr<ShardSession> found, Find(session));
  return found->Pull(names);
}

absl::Status Shard::Push(uint64_t session, const TaskId& worker, const ParameterClient::Update& update,
                         absl::Span<const Gradient> gradients) {
  COHORT_ASSIGN_OR_RETURN(const std::shared_ptr<ShardSession> found, Find(session));
  return found->Push(worker, update, gradients);
}

void Shard::CloseAllSessions(const absl::Status& reason) {
  std::map<uint64_t, std::shared_ptr<ShardSession>> freed;
  {
    MutexLock lock(&mu_);
    freed.swap(sessions_);
  }
  for (const auto& [id, session] : freed)
    LogWarn("ps", absl::StrCat("session ", id, " is dropped: ", reason.message()));
}

size_t Shard::session_count() const {
  MutexLock lock(&mu_);
  return sessions_.size();
}

}  // namespace cohort
