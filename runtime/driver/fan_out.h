#ifndef COHORT_RUNTIME_DRIVER_FAN_OUT_H_
#define COHORT_RUNTIME_DRIVER_FAN_OUT_H_

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/base/mutex.h"

namespace cohort {

// The answers to calls that were made at once. Lives as long as any of the calls, so that an answer that comes after
// everybody stopped waiting finds its place.
template <typename T>
class FanOut {
 public:
  explicit FanOut(size_t calls) : answers_(calls) {}

  // The callback for call `i`.
  static std::function<void(absl::StatusOr<T>)> Slot(std::shared_ptr<FanOut> self, size_t i) {
    return [self = std::move(self), i](absl::StatusOr<T> answer) {
      MutexLock lock(&self->mu_);
      if (self->answers_[i].has_value()) return;
      if (!answer.ok() && self->first_error_.ok()) self->first_error_ = answer.status();
      self->answers_[i] = std::move(answer);
    };
  }

  // As if a call had failed: whoever waits for an error wakes. Nothing if one failed before.
  void Interrupt(absl::Status reason) {
    MutexLock lock(&mu_);
    if (first_error_.ok()) first_error_ = std::move(reason);
  }

  // Waits until all have answered, one has failed, or the deadline. Returns whether all answered well.
  bool WaitForAllOrError(absl::Time deadline) {
    MutexLock lock(&mu_);
    const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return !first_error_.ok() || AllAnswered(); };
    mu_.AwaitWithDeadline(ready, deadline);
    return first_error_.ok() && AllAnswered();
  }

  // Waits until all have answered, well or not. Returns whether they did by the deadline.
  bool WaitForAll(absl::Time deadline) {
    MutexLock lock(&mu_);
    const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return AllAnswered(); };
    return mu_.AwaitWithDeadline(ready, deadline);
  }

  // As WaitForAll, but does not wait for the calls in `gone`.
  bool WaitForOthers(const std::vector<bool>& gone, absl::Time deadline) {
    MutexLock lock(&mu_);
    const auto ready = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      for (size_t i = 0; i < answers_.size(); ++i) {
        if (!answers_[i].has_value() && !(i < gone.size() && gone[i])) return false;
      }
      return true;
    };
    return mu_.AwaitWithDeadline(ready, deadline);
  }

  absl::Status first_error() {
    MutexLock lock(&mu_);
    return first_error_;
  }

  // Answer by call; nullopt: none yet.
  std::vector<std::optional<absl::StatusOr<T>>> answers() {
    MutexLock lock(&mu_);
    return answers_;
  }

 private:
  bool AllAnswered() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    for (const auto& answer : answers_) {
      if (!answer.has_value()) return false;
    }
    return true;
  }

  Mutex mu_;
  std::vector<std::optional<absl::StatusOr<T>>> answers_ ABSL_GUARDED_BY(mu_);
  absl::Status first_error_ ABSL_GUARDED_BY(mu_);
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_DRIVER_FAN_OUT_H_
