#include "runtime/base/exit_code.h"

#include "runtime/base/first_cause.h"

namespace cohort {

ExitCode ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitOk;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kUnimplemented:
      return kExitUsage;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kAborted:
      return kExitRetry;
    case absl::StatusCode::kCancelled:
      return kExitInterrupted;
    default:
      return kExitJobFailed;
  }
}

ExitCode JobExitCodeOf(const absl::Status& status) {
  if (const auto cause = GetFirstCause(status); cause.has_value() && cause->name == kPreempted) return kExitTerminated;
  const ExitCode code = ExitCodeOf(status);
  return code == kExitUsage || code == kExitInterrupted ? kExitJobFailed : code;
}

}  // namespace cohort
