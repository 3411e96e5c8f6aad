#ifndef COHORT_RUNTIME_COLLECTIVE_EXCHANGE_OPTIONS_H_
#define COHORT_RUNTIME_COLLECTIVE_EXCHANGE_OPTIONS_H_

#include <cstdint>

#include "absl/time/time.h"

namespace cohort {

// How buffers are cut. The same on all ranks of a group (checked when it is made); never changes a result.
struct ExchangeOptions {
  int64_t piece_bytes = 1 << 20;   // of one frame, at least one element
  int64_t small_bytes = 32 << 10;  // all-reduces up to this size are folded by every rank, in one round

  friend bool operator==(const ExchangeOptions&, const ExchangeOptions&) = default;
};

// How long a wait for a frame polls before it sleeps: `wanted`, but zero if `threads` of this machine (ranks, and those
// that carry their frames) do not all have a CPU.
absl::Duration SpinTime(absl::Duration wanted, int threads);

}  // namespace cohort

#endif  // COHORT_RUNTIME_COLLECTIVE_EXCHANGE_OPTIONS_H_
