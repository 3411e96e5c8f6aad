#ifndef COHORT_RUNTIME_BASE_MUTEX_H_
#define COHORT_RUNTIME_BASE_MUTEX_H_

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace cohort {

// absl::Mutex under our own name: the only place that includes it. Waits take a condition and a deadline; there are no
// condition variables. Under TSan deploy/sanitizers/tsan_abseil.cc tells the sanitizer what the library's calls order.
class ABSL_LOCKABLE Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mu_.Lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mu_.Unlock(); }
  bool TryLock() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) { return mu_.TryLock(); }
  void AssertHeld() const ABSL_ASSERT_EXCLUSIVE_LOCK() { mu_.AssertHeld(); }

  // Releases the lock until `condition` holds or `deadline` passes; returns whether it holds. Holds the lock again when
  // it returns. `condition` is evaluated under the lock, by any thread.
  bool AwaitWithDeadline(absl::FunctionRef<bool()> condition, absl::Time deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(this) {
    auto evaluate = [](absl::FunctionRef<bool()>* f) { return (*f)(); };
    return mu_.AwaitWithDeadline(
        absl::Condition(static_cast<bool (*)(absl::FunctionRef<bool()>*)>(evaluate), &condition), deadline);
  }

 private:
  absl::Mutex mu_;
};

// Holds a Mutex for a scope.
class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex* mu) ABSL_EXCLUSIVE_LOCK_FUNCTION(mu) : mu_(mu) { mu_->Lock(); }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mu_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mu_;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_BASE_MUTEX_H_
