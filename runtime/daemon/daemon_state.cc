#include "runtime/daemon/daemon_state.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/exit_code.h"

namespace cohort {

void DaemonState::SetFormed() {
  MutexLock lock(&mu_);
  formed_ = true;
}

void DaemonState::Stop(StopReason reason) {
  MutexLock lock(&mu_);
  if (!reason_.has_value()) reason_ = std::move(reason);
}

bool DaemonState::WaitFormed(absl::Time deadline) {
  MutexLock lock(&mu_);
  const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return formed_ || reason_.has_value(); };
  mu_.AwaitWithDeadline(ready, deadline);
  return formed_ && !reason_.has_value();
}

StopReason DaemonState::WaitStop() {
  MutexLock lock(&mu_);
  const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return reason_.has_value(); };
  mu_.AwaitWithDeadline(ready, absl::InfiniteFuture());  // a service serves until somebody stops it
  return *reason_;
}

std::optional<StopReason> DaemonState::stop_reason() const {
  MutexLock lock(&mu_);
  return reason_;
}

bool DaemonState::formed() const {
  MutexLock lock(&mu_);
  return formed_;
}

int ExitCodeOf(const StopReason& reason, bool busy) {
  switch (reason.kind) {
    case StopReason::Kind::kSignal:
      return busy ? kExitTerminated : kExitOk;
    case StopReason::Kind::kShutdown:
      return kExitOk;
    case StopReason::Kind::kJobEnded:
      return JobExitCodeOf(reason.status);
    case StopReason::Kind::kLeaderLost:
      return kExitRetry;
    case StopReason::Kind::kRefused:
      return ExitCodeOf(reason.status);
  }
  return kExitJobFailed;
}

std::string ToString(const StopReason& reason) {
  switch (reason.kind) {
    case StopReason::Kind::kSignal:
      return "a signal";
    case StopReason::Kind::kShutdown:
      return "a client asked for it";
    case StopReason::Kind::kJobEnded:
      return reason.status.ok() ? "its job is done" : absl::StrCat("its job ended: ", reason.status.message());
    case StopReason::Kind::kLeaderLost:
      return std::string(reason.status.message());
    case StopReason::Kind::kRefused:
      return absl::StrCat("the cluster cannot form: ", reason.status.message());
  }
  return "";
}

}  // namespace cohort
