#include "runtime/driver/session_holder.h"

#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"

namespace cohort {
namespace {

absl::Status LostStatus(const absl::Status& ended) {
  return ended.ok() ? absl::CancelledError("the session was closed") : ended;
}

}  // namespace

void SessionHolder::Waiting(std::string behind) {
  MutexLock lock(&mu_);
  behind_ = std::move(behind);
}

void SessionHolder::Opened(const SessionGrant& grant) {
  MutexLock lock(&mu_);
  if (!grant_.has_value()) grant_ = grant;
}

void SessionHolder::Ended(const absl::Status& status) {
  MutexLock calling(&calling_);
  {
    MutexLock lock(&mu_);
    if (ended_.has_value()) return;
    ended_ = status;
  }
  if (lost_) lost_(LostStatus(status));
  lost_ = nullptr;
}

absl::Status SessionHolder::WaitOpened(absl::Time deadline) const {
  MutexLock lock(&mu_);
  const auto known = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return grant_.has_value() || ended_.has_value(); };
  mu_.AwaitWithDeadline(known, deadline);
  if (ended_.has_value()) return LostStatus(*ended_);
  if (grant_.has_value()) return absl::OkStatus();
  return absl::DeadlineExceededError(behind_.empty() ? "the leader has not opened the session in time"
                                                     : absl::StrCat("the session is still waiting behind ", behind_));
}

bool SessionHolder::WaitEnded(absl::Time deadline) const {
  MutexLock lock(&mu_);
  const auto ended = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return ended_.has_value(); };
  return mu_.AwaitWithDeadline(ended, deadline);
}

bool SessionHolder::opened() const {
  MutexLock lock(&mu_);
  return grant_.has_value();
}

bool SessionHolder::ended() const {
  MutexLock lock(&mu_);
  return ended_.has_value();
}

const SessionGrant& SessionHolder::grant() const {
  MutexLock lock(&mu_);
  COHORT_CHECK(grant_.has_value(), "the grant of a session that was not opened");
  return *grant_;
}

absl::Status SessionHolder::status() const {
  MutexLock lock(&mu_);
  return ended_.has_value() ? LostStatus(*ended_) : absl::OkStatus();
}

void SessionHolder::WhenLost(std::function<void(const absl::Status&)> lost) {
  MutexLock calling(&calling_);
  absl::Status ended;
  {
    MutexLock lock(&mu_);
    if (ended_.has_value()) ended = LostStatus(*ended_);
  }
  if (ended.ok()) {
    lost_ = std::move(lost);
  } else if (lost) {
    lost(ended);
  }
}

}  // namespace cohort
