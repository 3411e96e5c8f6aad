#include "runtime/base/clock.h"

#include "absl/time/clock.h"

namespace cohort {

const Clock& Clock::Real() {
  class RealClock final : public Clock {
    absl::Time Now() const override { return absl::Now(); }
  };
  static const RealClock* const clock = new RealClock;
  return *clock;
}

}  // namespace cohort
