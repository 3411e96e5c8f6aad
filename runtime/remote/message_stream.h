#ifndef COHORT_RUNTIME_REMOTE_MESSAGE_STREAM_H_
#define COHORT_RUNTIME_REMOTE_MESSAGE_STREAM_H_

#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "runtime/base/mutex.h"

namespace cohort {

// The client's end of a long bidirectional stream. Keeps itself alive until gRPC has closed it. Safe from any thread.
template <typename Request, typename Response>
class MessageStream final : public grpc::ClientBidiReactor<Request, Response>,
                            public std::enable_shared_from_this<MessageStream<Request, Response>> {
 public:
  // Called on gRPC's threads, one at a time; must not block. `closed` is the last call.
  struct Events {
    std::function<void(Response&)> received;
    std::function<void(const grpc::Status&)> closed;
  };

  // start(context, reactor): makes the stub's call. Events may come before this returns.
  template <typename Start>
  static std::shared_ptr<MessageStream> Open(Events events, Start start) {
    auto stream = std::shared_ptr<MessageStream>(new MessageStream(std::move(events)));
    stream->self_ = stream;
    start(&*stream->context_, stream.get());
    stream->AddHold();  // writes come from outside of reactions; held until reading has failed
    stream->StartRead(&stream->response_);
    stream->StartCall();
    return stream;
  }

  // Sends after what is queued. False: the stream has broken, and nothing was sent.
  bool Send(Request request) {
    MutexLock lock(&mu_);
    if (broken_ || half_closed_) return false;
    queue_.push_back(std::move(request));
    if (queue_.size() == 1) this->StartWrite(&queue_.front());
    return true;
  }

  // Whether all that was queued has been sent.
  bool idle() const {
    MutexLock lock(&mu_);
    return queue_.empty();
  }

  // Nothing more will be sent: the other side may end the call.
  void HalfClose() {
    MutexLock lock(&mu_);
    if (broken_ || half_closed_) return;
    half_closed_ = true;
    if (queue_.empty()) this->StartWritesDone();
  }

  void Cancel() {
    MutexLock lock(&mu_);
    if (context_.has_value()) context_->TryCancel();
  }

  void OnReadDone(bool ok) override {
    if (ok) {
      events_.received(response_);
      this->StartRead(&response_);
      return;
    }
    {
      MutexLock lock(&mu_);
      broken_ = true;
    }
    this->RemoveHold();
  }

  void OnWriteDone(bool ok) override {
    MutexLock lock(&mu_);
    queue_.pop_front();
    if (!ok || broken_) {
      queue_.clear();
    } else if (!queue_.empty()) {
      this->StartWrite(&queue_.front());
    } else if (half_closed_) {
      this->StartWritesDone();
    }
  }

  void OnDone(const grpc::Status& status) override {
    const std::shared_ptr<MessageStream> self = std::move(self_);
    {
      MutexLock lock(&mu_);
      context_.reset();
    }
    events_.closed(status);
  }

 private:
  explicit MessageStream(Events events) : events_(std::move(events)) {}

  const Events events_;
  Response response_;
  mutable Mutex mu_;
  std::optional<grpc::ClientContext> context_{std::in_place};  // under mu_ once started; until OnDone (see Calls)
  std::deque<Request> queue_ ABSL_GUARDED_BY(mu_);             // the first one is being sent
  bool half_closed_ ABSL_GUARDED_BY(mu_) = false;
  bool broken_ ABSL_GUARDED_BY(mu_) = false;
  std::shared_ptr<MessageStream> self_;  // until OnDone
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_REMOTE_MESSAGE_STREAM_H_
