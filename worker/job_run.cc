#include "worker/job_run.h"

#include <utility>

namespace cohort {

void JobRun::Append(JobEvent event) {
  MutexLock lock(&mu_);
  events_.push_back(std::move(event));
}

void JobRun::End(JobEvent event, absl::Status status) {
  MutexLock lock(&mu_);
  if (ended_.has_value()) return;
  events_.push_back(std::move(event));
  ended_ = std::move(status);
}

std::optional<JobEvent> JobRun::Next(size_t index, absl::Time deadline) {
  MutexLock lock(&mu_);
  const auto ready = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return events_.size() > index || ended_.has_value(); };
  mu_.AwaitWithDeadline(ready, deadline);
  if (events_.size() <= index) return std::nullopt;
  return events_[index];
}

size_t JobRun::event_count() const {
  MutexLock lock(&mu_);
  return events_.size();
}

std::optional<absl::Status> JobRun::ended() const {
  MutexLock lock(&mu_);
  return ended_;
}

bool JobRun::WaitEnded(absl::Time deadline) const {
  MutexLock lock(&mu_);
  const auto has_ended = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return ended_.has_value(); };
  return mu_.AwaitWithDeadline(has_ended, deadline);
}

void JobRun::AddFollower() {
  MutexLock lock(&mu_);
  ++followers_;
}

void JobRun::RemoveFollower(absl::Time now) {
  MutexLock lock(&mu_);
  --followers_;
  followed_until_ = now;
}

bool JobRun::Abandoned(absl::Time now, absl::Duration lease) const {
  MutexLock lock(&mu_);
  const bool lives = !ended_.has_value() && stop_requested_ == absl::InfiniteFuture();
  return lives && !detached_ && followers_ == 0 && now - followed_until_ > lease;
}

Training* JobRun::Enter() {
  if (training_ != nullptr) ++calls_;
  return training_;
}

void JobRun::Leave() {
  MutexLock lock(&mu_);
  --calls_;
}

void JobRun::SetTraining(Training* training) {
  bool stop = false;
  absl::Status aborted;
  {
    MutexLock lock(&mu_);
    training_ = training;
    if (Enter() == nullptr) {
      const auto left = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return calls_ == 0; };
      mu_.AwaitWithDeadline(left, absl::InfiniteFuture());  // they do not block
      return;
    }
    stop = stop_requested_ != absl::InfiniteFuture();
    aborted = aborted_;
  }
  if (stop) training->RequestStop();
  if (!aborted.ok()) training->Abort(aborted);
  Leave();
}

void JobRun::Stop(absl::Time now) {
  Training* training = nullptr;
  {
    MutexLock lock(&mu_);
    if (stop_requested_ != absl::InfiniteFuture()) return;
    stop_requested_ = now;
    training = Enter();
  }
  if (training == nullptr) return;
  training->RequestStop();
  Leave();
}

void JobRun::Abort(const absl::Status& reason) {
  Training* training = nullptr;
  {
    MutexLock lock(&mu_);
    if (aborted_.ok()) aborted_ = reason;
    training = Enter();
  }
  if (training == nullptr) return;
  training->Abort(reason);  // which keeps the first, too
  Leave();
}

absl::Status JobRun::interrupted() const {
  MutexLock lock(&mu_);
  if (aborted_.ok() && stop_requested_ != absl::InfiniteFuture()) {
    return absl::CancelledError("stopped on request before its training began");
  }
  return aborted_;
}

bool JobRun::StoppingSince(absl::Time time) const {
  MutexLock lock(&mu_);
  return !ended_.has_value() && stop_requested_ < time;
}

}  // namespace cohort
