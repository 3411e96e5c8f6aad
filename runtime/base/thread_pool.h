#ifndef COHORT_RUNTIME_BASE_THREAD_POOL_H_
#define COHORT_RUNTIME_BASE_THREAD_POOL_H_

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "runtime/base/mutex.h"
#include "runtime/base/thread.h"

namespace cohort {

// Where a class posts work that must not run on the calling thread (a gRPC reaction, say).
class Executor {
 public:
  virtual ~Executor() = default;
  virtual void Post(std::function<void()> work) = 0;
};

// A fixed number of named threads that run posted work in the order it came. The destructor runs what is queued, then
// joins. Work posted by running work is run too. Safe from any thread.
class ThreadPool final : public Executor {
 public:
  ThreadPool(const std::string& name, int threads);
  ~ThreadPool() override;

  void Post(std::function<void()> work) override;

 private:
  void Loop();

  Mutex mu_;
  std::deque<std::function<void()>> queue_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<Thread> threads_;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_BASE_THREAD_POOL_H_
