#include "worker/follower_threads.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cohort {

FollowerThreads::~FollowerThreads() {
  std::list<Follower> left;
  {
    MutexLock lock(&mu_);
    const auto idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return Idle(); };
    mu_.AwaitWithDeadline(idle, absl::InfiniteFuture());  // whoever owns this has ended what they follow
    left.swap(followers_);
  }
  for (Follower& follower : left) follower.thread.Join();
}

bool FollowerThreads::Idle() const {
  return std::all_of(followers_.begin(), followers_.end(), [](const Follower& follower) { return follower.done; });
}

bool FollowerThreads::WaitIdle(absl::Time deadline) const {
  MutexLock lock(&mu_);
  const auto idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return Idle(); };
  return mu_.AwaitWithDeadline(idle, deadline);
}

absl::Status FollowerThreads::Start(std::function<void()> body) {
  std::list<Follower> finished;
  {
    MutexLock lock(&mu_);
    for (auto it = followers_.begin(); it != followers_.end();) {
      const auto next = std::next(it);
      if (it->done) finished.splice(finished.end(), followers_, it);
      it = next;
    }
    if (static_cast<int>(followers_.size()) >= max_) {
      return absl::ResourceExhaustedError(absl::StrCat("the leader has ", max_, " followers already"));
    }
    Follower& follower = followers_.emplace_back();
    follower.thread = Thread("follower", [this, &follower, body = std::move(body)] {
      body();
      MutexLock ended(&mu_);
      follower.done = true;
    });
  }
  for (Follower& follower : finished) follower.thread.Join();
  return absl::OkStatus();
}

}  // namespace cohort
