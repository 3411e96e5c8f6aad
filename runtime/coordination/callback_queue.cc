#include "runtime/coordination/callback_queue.h"

#include <utility>

namespace cohort {

void CallbackQueue::Post(std::function<void()> call) {
  MutexLock lock(&mu_);
  calls_.push_back(std::move(call));
}

void CallbackQueue::Run() {
  {
    MutexLock lock(&mu_);
    if (running_) return;
    running_ = true;
  }
  while (true) {
    std::function<void()> call;
    {
      MutexLock lock(&mu_);
      if (calls_.empty()) {
        running_ = false;
        return;
      }
      call = std::move(calls_.front());
      calls_.pop_front();
    }
    call();
  }
}

}  // namespace cohort
