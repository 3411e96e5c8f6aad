#ifndef COHORT_RUNTIME_COORDINATION_CALLBACK_QUEUE_H_
#define COHORT_RUNTIME_COORDINATION_CALLBACK_QUEUE_H_

#include <deque>
#include <functional>

#include "runtime/base/mutex.h"

namespace cohort {

// Runs callbacks in the order in which they were posted, one at a time, never under their owner's lock: an owner posts
// while it holds its lock and calls Run once it has let go. Safe from any thread, and from within a callback.
class CallbackQueue {
 public:
  void Post(std::function<void()> call);

  // Runs what was posted, in this thread; if another thread is at it (or this one, further up the stack), that one runs
  // it instead and this returns at once.
  void Run();

 private:
  Mutex mu_;
  std::deque<std::function<void()>> calls_ ABSL_GUARDED_BY(mu_);
  bool running_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_COORDINATION_CALLBACK_QUEUE_H_
