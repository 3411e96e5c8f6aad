#ifndef COHORT_RUNTIME_DISTRIBUTE_COMMUNICATION_OPTIONS_H_
#define COHORT_RUNTIME_DISTRIBUTE_COMMUNICATION_OPTIONS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace cohort {

enum class CommunicationImplementation { kAuto, kRing, kNccl };

absl::string_view CommunicationImplementationName(CommunicationImplementation implementation);  // "AUTO"

// "AUTO", "ring", "Nccl": in any case. InvalidArgument: none of the three; lists them.
absl::StatusOr<CommunicationImplementation> ParseCommunicationImplementation(absl::string_view name);

// Hints for collectives. They change speed and patience, never results.
struct CommunicationOptions {
  int64_t bytes_per_pack = 0;  // 0: one pack
  absl::Duration timeout;      // zero: none of its own, so the runtime's --collective_timeout
  CommunicationImplementation implementation = CommunicationImplementation::kAuto;

  friend bool operator==(const CommunicationOptions&, const CommunicationOptions&) = default;
};

// InvalidArgument: a negative bytes_per_pack or timeout.
absl::Status Validate(const CommunicationOptions& options);

// Each field of `other` that is not its default wins.
CommunicationOptions Merge(const CommunicationOptions& options, const CommunicationOptions& other);

// The old name of the options, with the first two of them.
inline CommunicationOptions CollectiveHints(int64_t bytes_per_pack = 0, absl::Duration timeout = absl::ZeroDuration()) {
  return {.bytes_per_pack = bytes_per_pack, .timeout = timeout};
}

// The old name of the implementation.
using CollectiveCommunication = CommunicationImplementation;

}  // namespace cohort

#endif  // COHORT_RUNTIME_DISTRIBUTE_COMMUNICATION_OPTIONS_H_
