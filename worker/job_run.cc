#include "worker/job_run.h"

#include <utility>

namespace cohort {

void JobRun::Append(JobEvent event) {
  MutexLock lock(&mu_);
  events_.push_back(std::move(event));
}

void JobRun::End(JobEvent event, absl::Status status) {
  MutexLock lock(&mu_);
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
  return !detached_ && !ended_.has_value() && followers_ == 0 && now - followed_until_ > lease;
}

void JobRun::SetTraining(Training* training) {
  MutexLock lock(&mu_);
  training_ = training;
  if (training_ != nullptr && stop_requested_ != absl::InfiniteFuture()) training_->RequestStop();
}

void JobRun::Stop(absl::Time now) {
  MutexLock lock(&mu_);
  if (stop_requested_ != absl::InfiniteFuture()) return;
  stop_requested_ = now;
  if (training_ != nullptr) training_->RequestStop();
}

void JobRun::Abort(const absl::Status& reason) {
  MutexLock lock(&mu_);
  if (training_ != nullptr) training_->Abort(reason);
}

bool JobRun::StoppingSince(absl::Time time) const {
  MutexLock lock(&mu_);
  return !ended_.has_value() && stop_requested_ < time;
}

}  // namespace cohort
