#ifndef COHORT_RUNTIME_DAEMON_DAEMON_STATE_H_
#define COHORT_RUNTIME_DAEMON_DAEMON_STATE_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/base/mutex.h"

namespace cohort {

// Why a daemon ends.
struct StopReason {
  enum class Kind {
    kSignal,      // SIGTERM or SIGINT
    kShutdown,    // a client asked for the cluster's end
    kJobEnded,    // the job that it lives for; `status` is the job's
    kLeaderLost,  // and it lives for a job
    kRefused,     // the cluster cannot form: tasks do not fit together, or do not come
  };
  Kind kind = Kind::kSignal;
  absl::Status status;
};

// What a daemon's main thread waits for, set by others: its cluster forms; it is to stop. Safe from any thread.
//   starting -> formed -> stopping, or starting -> stopping
class DaemonState {
 public:
  void SetFormed();
  // The first reason wins.
  void Stop(StopReason reason);

  // Until formed, stopping, or the deadline. Returns whether it formed and is not stopping.
  bool WaitFormed(absl::Time deadline);
  StopReason WaitStop();
  std::optional<StopReason> stop_reason() const;
  bool formed() const;

 private:
  mutable Mutex mu_;
  bool formed_ ABSL_GUARDED_BY(mu_) = false;
  std::optional<StopReason> reason_ ABSL_GUARDED_BY(mu_);
};

// How the process exits. `busy`: work was under way when the reason came.
int ExitCodeOf(const StopReason& reason, bool busy);

// "SIGTERM", "a client asked for it", ...: for the log.
std::string ToString(const StopReason& reason);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DAEMON_DAEMON_STATE_H_
