#include "runtime/collective/exchange_options.h"

#include "runtime/base/cpu_count.h"

namespace cohort {

absl::Duration SpinTime(absl::Duration wanted, int threads) {
  return threads <= UsableCpuCount() ? wanted : absl::ZeroDuration();
}

}  // namespace cohort
