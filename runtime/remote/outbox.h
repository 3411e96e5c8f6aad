#ifndef COHORT_RUNTIME_REMOTE_OUTBOX_H_
#define COHORT_RUNTIME_REMOTE_OUTBOX_H_

#include <grpcpp/support/server_callback.h>

#include <deque>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "runtime/base/mutex.h"
#include "runtime/rpc/status.h"

namespace cohort {

// What a server has to say on a stream of its own, which may end before it: shared by the stream's reactor, which hands
// on its OnWriteDone and OnCancel, and by whoever speaks. Reactor: a grpc::Server...Reactor that writes Responses. Safe
// from any thread.
template <typename Response, typename Reactor>
class Outbox {
 public:
  explicit Outbox(Reactor* stream) : stream_(stream) {}

  // Dropped if the stream has ended.
  void Send(Response response) {
    MutexLock lock(&mu_);
    if (stream_ == nullptr || finish_.has_value()) return;
    queue_.push_back(std::move(response));
    if (queue_.size() == 1) stream_->StartWrite(&queue_.front());
  }

  // After everything that was sent. The first one counts.
  void Finish(const absl::Status& status) {
    MutexLock lock(&mu_);
    if (stream_ == nullptr || finish_.has_value()) return;
    finish_ = ToGrpcStatus(status);
    if (queue_.empty()) FinishNow(*finish_);
  }

  void OnWriteDone(bool ok) {
    MutexLock lock(&mu_);
    queue_.pop_front();
    if (stream_ == nullptr) return;
    if (!ok) return FinishNow({grpc::StatusCode::CANCELLED, "the stream broke"});
    if (!queue_.empty()) {
      stream_->StartWrite(&queue_.front());
    } else if (finish_.has_value()) {
      FinishNow(*finish_);
    }
  }

  void OnCancel() {
    MutexLock lock(&mu_);
    if (stream_ != nullptr) FinishNow(grpc::Status::CANCELLED);
  }

 private:
  void FinishNow(const grpc::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    std::exchange(stream_, nullptr)->Finish(status);
  }

  Mutex mu_;
  Reactor* stream_ ABSL_GUARDED_BY(mu_);             // null once finished
  std::deque<Response> queue_ ABSL_GUARDED_BY(mu_);  // the first one is being written
  std::optional<grpc::Status> finish_ ABSL_GUARDED_BY(mu_);
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_REMOTE_OUTBOX_H_
