#ifndef COHORT_RUNTIME_DRIVER_SESSION_HOLDER_H_
#define COHORT_RUNTIME_DRIVER_SESSION_HOLDER_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/base/mutex.h"
#include "runtime/driver/client_session.h"

namespace cohort {

// What a client knows of its session, from the news of its stream: the common part of every ClientSession. Shared with
// whoever brings the news, who may come late. Safe from any thread.
class SessionHolder {
 public:
  // News. Ended is the last; of several the first counts.
  void Waiting(std::string behind);
  void Opened(const SessionGrant& grant);
  void Ended(const absl::Status& status);

  // Until it is open. The status of its end; DeadlineExceeded names who goes first.
  absl::Status WaitOpened(absl::Time deadline) const;
  // Whether it has ended by the deadline.
  bool WaitEnded(absl::Time deadline) const;

  bool opened() const;
  bool ended() const;
  const SessionGrant& grant() const;  // after WaitOpened; does not change
  absl::Status status() const;        // as ClientSession's
  void WhenLost(std::function<void(const absl::Status&)> lost);
  // Nobody wants to hear any more.
  void Forget() { WhenLost(nullptr); }

 private:
  mutable Mutex mu_;
  std::optional<SessionGrant> grant_ ABSL_GUARDED_BY(mu_);  // set once
  std::optional<absl::Status> ended_ ABSL_GUARDED_BY(mu_);
  std::string behind_ ABSL_GUARDED_BY(mu_);
  mutable Mutex calling_ ABSL_ACQUIRED_BEFORE(mu_);  // held while `lost_` is set or runs
  std::function<void(const absl::Status&)> lost_ ABSL_GUARDED_BY(calling_);
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_DRIVER_SESSION_HOLDER_H_
