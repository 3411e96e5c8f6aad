#include "runtime/distribute/communication_options.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace cohort {
namespace {

constexpr CommunicationImplementation kImplementations[] = {
    CommunicationImplementation::kAuto, CommunicationImplementation::kRing, CommunicationImplementation::kNccl};

}  // namespace

absl::string_view CommunicationImplementationName(CommunicationImplementation implementation) {
  switch (implementation) {
    case CommunicationImplementation::kAuto:
      return "AUTO";
    case CommunicationImplementation::kRing:
      return "RING";
    case CommunicationImplementation::kNccl:
      return "NCCL";
  }
  return "?";
}

absl::StatusOr<CommunicationImplementation> ParseCommunicationImplementation(absl::string_view name) {
  for (const CommunicationImplementation implementation : kImplementations) {
    if (absl::EqualsIgnoreCase(name, CommunicationImplementationName(implementation))) return implementation;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no communication implementation '", name, "'; there are AUTO, RING, NCCL"));
}

absl::Status Validate(const CommunicationOptions& options) {
  if (options.bytes_per_pack < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("bytes_per_pack is ", options.bytes_per_pack, "; give 0 for one pack, or a size"));
  }
  if (options.timeout < absl::ZeroDuration()) {
    return absl::InvalidArgumentError(absl::StrCat("the timeout is ", absl::FormatDuration(options.timeout),
                                                   "; give none for the runtime's own, or a positive one"));
  }
  return absl::OkStatus();
}

CommunicationOptions Merge(const CommunicationOptions& options, const CommunicationOptions& other) {
  constexpr CommunicationImplementation kAuto = CommunicationImplementation::kAuto;
  CommunicationOptions merged = options;
  if (other.bytes_per_pack != 0) merged.bytes_per_pack = other.bytes_per_pack;
  if (other.timeout != absl::ZeroDuration()) merged.timeout = other.timeout;
  if (other.implementation != kAuto) merged.implementation = other.implementation;
  return merged;
}

}  // namespace cohort
