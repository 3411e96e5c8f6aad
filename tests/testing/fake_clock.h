#ifndef COHORT_TESTS_TESTING_FAKE_CLOCK_H_
#define COHORT_TESTS_TESTING_FAKE_CLOCK_H_

#include "absl/time/time.h"
#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"

namespace cohort::testing {

// Stands still until the test moves it. Starts at 2030-01-01 so that no test can mistake it for the real one. Waits of
// Mutex go by the real clock, whatever this one says. Safe from any thread.
class FakeClock final : public Clock {
 public:
  absl::Time Now() const override {
    MutexLock lock(&mu_);
    return now_;
  }

  void Advance(absl::Duration by) {
    MutexLock lock(&mu_);
    now_ += by;
  }

 private:
  mutable Mutex mu_;
  absl::Time now_ ABSL_GUARDED_BY(mu_) = absl::FromUnixSeconds(1893456000);
};

}  // namespace cohort::testing

#endif  // COHORT_TESTS_TESTING_FAKE_CLOCK_H_
