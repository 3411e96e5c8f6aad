#include "runtime/dataset/prefetch.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/base/mutex.h"
#include "runtime/base/status_macros.h"
#include "runtime/base/thread.h"

namespace cohort {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(5);
constexpr int64_t kMostElements =
    4096;  // ready at a time, whatever is asked for: the ring has its places from the start

// A ring of elements: `count_` finished ones from `first_`. The one behind them belongs to the thread, which fills it
// without the lock: the caller only moves `first_` on, so its place stays.
class Prefetch final : public DatasetIterator {
 public:
  Prefetch(std::unique_ptr<DatasetIterator> input, int64_t buffer_size)
      : input_(std::move(input)), ring_(std::clamp<int64_t>(buffer_size, 1, kMostElements)) {}

  ~Prefetch() override {
    {
      MutexLock lock(&mu_);
      stopping_ = true;
    }
    thread_.Join();
  }

  const std::vector<TensorSpec>& element_spec() const override { return input_->element_spec(); }
  int64_t cardinality() const override { return input_->cardinality(); }

  absl::StatusOr<bool> DoNext(Element& element) override {
    if (!thread_.joinable()) thread_ = Thread("prefetch", [this] { Fill(); });
    MutexLock lock(&mu_);
    const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return count_ > 0 || ended_; };
    if (!mu_.AwaitWithDeadline(ready, absl::Now() + kPatience)) {
      return absl::DeadlineExceededError("the data set's next element did not come within 5 minutes");
    }
    if (count_ == 0) {
      if (!error_.ok()) return error_;
      return false;
    }
    element.swap(ring_[first_]);
    first_ = (first_ + 1) % ring_.size();
    --count_;
    return true;
  }

  absl::Status DoSeek(const DatasetPosition& to) override {
    {
      MutexLock lock(&mu_);
      resetting_ = true;
      const auto idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return !filling_; };
      if (!mu_.AwaitWithDeadline(idle, absl::Now() + kPatience)) {
        return absl::DeadlineExceededError("the data set is still busy with one element after 5 minutes");
      }
    }
    const absl::Status status = input_->Seek(to);  // the thread leaves `input_` alone until `resetting_` is over
    MutexLock lock(&mu_);
    resetting_ = false;
    count_ = 0;
    ended_ = !status.ok();
    error_ = status;
    return status;
  }

 private:
  void Fill() {
    while (true) {
      Element* element = nullptr;
      {
        MutexLock lock(&mu_);
        const auto room = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
          return stopping_ || (!resetting_ && !ended_ && count_ < ring_.size());
        };
        mu_.AwaitWithDeadline(room, absl::InfiniteFuture());  // ends with the destructor
        if (stopping_) return;
        element = &ring_[(first_ + count_) % ring_.size()];
        filling_ = true;
      }
      const absl::StatusOr<bool> more = input_->Next(*element);
      MutexLock lock(&mu_);
      filling_ = false;
      if (more.ok() && *more) {
        ++count_;
      } else {
        ended_ = true;
        error_ = more.status();
      }
    }
  }

  const std::unique_ptr<DatasetIterator> input_;  // of the thread, or of DoSeek while `resetting_`
  Thread thread_;
  Mutex mu_;
  std::vector<Element> ring_;  // see above
  size_t first_ ABSL_GUARDED_BY(mu_) = 0;
  size_t count_ ABSL_GUARDED_BY(mu_) = 0;
  bool filling_ ABSL_GUARDED_BY(mu_) = false;
  bool resetting_ ABSL_GUARDED_BY(mu_) = false;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status error_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

std::unique_ptr<DatasetIterator> MakePrefetch(std::unique_ptr<DatasetIterator> input, int64_t buffer_size) {
  return std::make_unique<Prefetch>(std::move(input), buffer_size);
}

}  // namespace cohort
