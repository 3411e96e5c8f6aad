#ifndef COHORT_TESTS_TESTING_ANSWER_H_
#define COHORT_TESTS_TESTING_ANSWER_H_

#include <functional>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/base/mutex.h"

namespace cohort::testing {

// Takes one value from another thread: pass Slot() as a callback, then Wait.
//   Answer<RunResult> answer;
//   link.Run(1, run, report, answer.Slot());
//   EXPECT_THAT(answer.Wait(), IsOk());
template <typename T>
class Answer {
 public:
  std::function<void(absl::StatusOr<T>)> Slot() {
    return [this](absl::StatusOr<T> value) {
      MutexLock lock(&mu_);
      ++count_;
      value_ = std::move(value);
    };
  }

  // DeadlineExceeded: nothing came within `timeout`.
  absl::StatusOr<T> Wait(absl::Duration timeout = absl::Seconds(20)) {
    MutexLock lock(&mu_);
    const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return value_.has_value(); };
    if (!mu_.AwaitWithDeadline(ready, absl::Now() + timeout)) return absl::DeadlineExceededError("no answer came");
    return *value_;
  }

  int count() {
    MutexLock lock(&mu_);
    return count_;
  }

 private:
  Mutex mu_;
  int count_ ABSL_GUARDED_BY(mu_) = 0;
  std::optional<absl::StatusOr<T>> value_ ABSL_GUARDED_BY(mu_);
};

}  // namespace cohort::testing

#endif  // COHORT_TESTS_TESTING_ANSWER_H_
