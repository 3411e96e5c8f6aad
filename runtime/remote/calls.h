#ifndef COHORT_RUNTIME_REMOTE_CALLS_H_
#define COHORT_RUNTIME_REMOTE_CALLS_H_

#include <grpcpp/alarm.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/common.pb.h"
#include "runtime/base/mutex.h"
#include "runtime/driver/worker_link.h"
#include "runtime/remote/link_options.h"
#include "runtime/rpc/status.h"

namespace cohort {

// A call under way, as Calls sees it.
class PendingCall {
 public:
  virtual ~PendingCall() = default;
  virtual void Cancel() = 0;  // ends it soon; from any thread
};

// The calls that one link has under way to one task. Safe from any thread.
//
// A ClientContext holds its channel, and gRPC 1.51 crashes if the last channel of a process ends on one of gRPC's own
// callback threads. So a call destroys its context before Remove; then the link's channel is the one that ends last.
class Calls {
 public:
  Calls(TaskAddress callee, LinkOptions options, std::shared_ptr<grpc::Channel> channel);
  // Cancels what is under way and waits until all of it has been answered: not from within an answer.
  ~Calls();

  const TaskAddress& callee() const { return callee_; }
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  wire::Caller MakeCaller(uint64_t session, int64_t epoch) const;

  void Add(std::shared_ptr<PendingCall> call);
  // After the answer was delivered and the context destroyed. The last thing that a call does.
  void Remove(const std::shared_ptr<PendingCall>& call);

  // What a call that ended with `status` tells its caller. A deadline that passed while there was no connection is
  // Unavailable: nobody there can be said to be late.
  absl::Status Explain(const grpc::Status& status, absl::string_view name) const;
  // Whether a call that began at `start` and failed with `status` may be repeated at `now`.
  bool MayRepeat(const absl::Status& status, absl::Time start, absl::Time now, absl::Time deadline) const;

 private:
  const TaskAddress callee_;
  const LinkOptions options_;
  const std::shared_ptr<grpc::Channel> channel_;
  Mutex mu_;
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
  std::set<std::shared_ptr<PendingCall>> pending_ ABSL_GUARDED_BY(mu_);
};

enum class Repeat { kNever, kWhileUnreachable };

// One unary call through gRPC's callback API, repeated while its callee cannot be reached if that is allowed.
template <typename Request, typename Response>
class UnaryCall final : public PendingCall, public std::enable_shared_from_this<UnaryCall<Request, Response>> {
 public:
  using Issue = std::function<void(grpc::ClientContext*, const Request*, Response*, std::function<void(grpc::Status)>)>;
  using Answer = std::function<void(absl::StatusOr<Response>)>;

  // Starts it; `answer` is called once, from a thread of gRPC's. `name` is the RPC's, for messages.
  static void Start(Calls& calls, std::string name, Repeat repeat, absl::Time deadline, Issue issue, Request request,
                    Answer answer) {
    auto call = std::make_shared<UnaryCall>(calls, std::move(name), repeat, deadline, std::move(issue),
                                            std::move(request), std::move(answer));
    calls.Add(call);
    call->Attempt();
  }

  UnaryCall(Calls& calls, std::string name, Repeat repeat, absl::Time deadline, Issue issue, Request request,
            Answer answer)
      : calls_(calls),
        name_(std::move(name)),
        repeat_(repeat),
        deadline_(deadline),
        issue_(std::move(issue)),
        request_(std::move(request)),
        answer_(std::move(answer)) {}

  void Cancel() override {
    MutexLock lock(&mu_);
    cancelled_ = true;
    if (context_.has_value()) context_->TryCancel();
    alarm_.Cancel();
  }

 private:
  void Attempt() {
    bool cancelled = false;
    {
      MutexLock lock(&mu_);
      cancelled = cancelled_;
      context_.emplace();
      if (deadline_ < absl::InfiniteFuture()) context_->set_deadline(absl::ToChronoTime(deadline_));
    }
    if (cancelled) return Finish(grpc::Status(grpc::StatusCode::CANCELLED, "the caller gave up"));
    issue_(&*context_, &request_, &response_,
           [self = this->shared_from_this()](grpc::Status status) { self->Finish(status); });
  }

  void Finish(const grpc::Status& status) {
    const absl::Status explained = calls_.Explain(status, name_);
    const absl::Time now = absl::Now();
    if (repeat_ == Repeat::kWhileUnreachable && calls_.MayRepeat(explained, start_, now + backoff_, deadline_)) {
      MutexLock lock(&mu_);
      if (!cancelled_) {
        alarm_.Set(absl::ToChronoTime(now + backoff_), [self = this->shared_from_this()](bool) { self->Attempt(); });
        backoff_ = std::min(backoff_ * 2, absl::Seconds(2));
        return;
      }
    }
    if (explained.ok()) {
      answer_(std::move(response_));
    } else {
      answer_(explained);
    }
    answer_ = nullptr;
    {
      MutexLock lock(&mu_);
      context_.reset();  // see Calls
    }
    calls_.Remove(this->shared_from_this());
  }

  Calls& calls_;
  const std::string name_;
  const Repeat repeat_;
  const absl::Time deadline_;
  const absl::Time start_ = absl::Now();
  const Issue issue_;
  const Request request_;
  Response response_;
  Answer answer_;
  absl::Duration backoff_ = absl::Milliseconds(100);  // of one attempt at a time
  Mutex mu_;
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
  std::optional<grpc::ClientContext> context_;  // made anew under mu_ for each attempt
  grpc::Alarm alarm_;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_REMOTE_CALLS_H_
