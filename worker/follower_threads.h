#ifndef COHORT_WORKER_FOLLOWER_THREADS_H_
#define COHORT_WORKER_FOLLOWER_THREADS_H_

#include <functional>
#include <list>
#include <string>

#include "absl/status/status.h"
#include "runtime/base/mutex.h"
#include "runtime/base/thread.h"

namespace cohort {

// Threads for calls that block for as long as a job runs: one each, a bounded number, joined at the latest by the
// destructor. Safe from any thread.
class FollowerThreads {
 public:
  explicit FollowerThreads(int max) : max_(max) {}
  ~FollowerThreads();

  // Runs `body` on a thread of its own. ResourceExhausted: as many as allowed run.
  absl::Status Start(std::function<void()> body);
  // Whether none runs at the deadline.
  bool WaitIdle(absl::Time deadline) const;

 private:
  bool Idle() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  struct Follower {
    Thread thread;
    bool done = false;
  };

  const int max_;
  mutable Mutex mu_;
  std::list<Follower> followers_ ABSL_GUARDED_BY(mu_);
};

}  // namespace cohort

#endif  // COHORT_WORKER_FOLLOWER_THREADS_H_
