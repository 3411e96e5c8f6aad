#ifndef COHORT_RUNTIME_BASE_SIGNALS_H_
#define COHORT_RUNTIME_BASE_SIGNALS_H_

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "runtime/base/thread.h"

namespace cohort {

// Blocks SIGTERM and SIGINT and ignores SIGPIPE. First in main, before any thread exists, so that all inherit the mask.
// A started process inherits both: call UnblockShutdownSignals between fork and exec.
void BlockShutdownSignals();

// Undoes BlockShutdownSignals in a child. Safe between fork and exec.
void UnblockShutdownSignals();

// A thread that hands SIGTERM and SIGINT to a function, one call per signal, not in a signal handler: it may lock and
// log, but should not block, for the next signal waits. Needs BlockShutdownSignals. The destructor joins.
class SignalWaiter {
 public:
  // `on_signal` is given the signal's number. ResourceExhausted: no file descriptor left.
  static absl::StatusOr<std::unique_ptr<SignalWaiter>> Start(std::function<void(int)> on_signal);
  ~SignalWaiter();

 private:
  SignalWaiter(int signals, int stop, std::function<void(int)> on_signal);
  void Loop();

  const int signals_;  // signalfd
  const int stop_;     // eventfd
  const std::function<void(int)> on_signal_;
  Thread thread_;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_BASE_SIGNALS_H_
