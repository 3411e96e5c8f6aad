#ifndef COHORT_RUNTIME_BASE_CLOCK_H_
#define COHORT_RUNTIME_BASE_CLOCK_H_

#include "absl/time/time.h"

namespace cohort {

// Where a class takes the time from, so that a test can steer it. Safe from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual absl::Time Now() const = 0;

  // The system's clock; lives as long as the process.
  static const Clock& Real();
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_BASE_CLOCK_H_
