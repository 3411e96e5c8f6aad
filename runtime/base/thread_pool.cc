#include "runtime/base/thread_pool.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace cohort {

ThreadPool::ThreadPool(const std::string& name, int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back(absl::StrCat(name, "/", i), [this] { Loop(); });
}

ThreadPool::~ThreadPool() {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
  }
  for (Thread& thread : threads_) thread.Join();
}

void ThreadPool::Post(std::function<void()> work) {
  MutexLock lock(&mu_);
  queue_.push_back(std::move(work));
}

void ThreadPool::Loop() {
  while (true) {
    std::function<void()> work;
    {
      MutexLock lock(&mu_);
      const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return stopping_ || !queue_.empty(); };
      mu_.AwaitWithDeadline(ready, absl::InfiniteFuture());  // ends with the destructor
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    work();
  }
}

}  // namespace cohort
