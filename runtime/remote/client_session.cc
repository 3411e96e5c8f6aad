#include "runtime/remote/client_session.h"

#include <grpcpp/alarm.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/leader.grpc.pb.h"
#include "runtime/base/first_cause.h"
#include "runtime/base/incarnation.h"
#include "runtime/base/log.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status_macros.h"
#include "runtime/driver/session_holder.h"
#include "runtime/remote/calls.h"
#include "runtime/remote/common_coding.h"
#include "runtime/remote/job_coding.h"
#include "runtime/remote/message_stream.h"
#include "runtime/remote/ps_link.h"
#include "runtime/remote/worker_link.h"
#include "runtime/rpc/channel.h"

namespace cohort {
namespace {

constexpr absl::Duration kGoodbye = absl::Seconds(1);  // for the leader to note that the session is closed

// The streams of one session, one after the other.
//   open: a stream lives, or one is awaited after a break (broken_since_ is set)     over: the holder has ended
class HeldSession final : public PendingCall, public std::enable_shared_from_this<HeldSession> {
 public:
  HeldSession(Calls& calls, wire::LeaderService::Stub& stub, std::shared_ptr<SessionHolder> holder)
      : calls_(calls), stub_(stub), holder_(std::move(holder)) {}

  // Once, first.
  void Open(wire::HoldSessionRequest request) {
    *request.mutable_caller() = calls_.MakeCaller(0, 0);
    NewStream(std::move(request));
  }

  // Tells the leader that the client is done.
  void Close() {
    MutexLock lock(&mu_);
    closing_ = true;
    wire::HoldSessionRequest request;
    request.set_close(true);
    *request.mutable_caller() = calls_.MakeCaller(session_, 0);
    if (stream_ != nullptr) stream_->Send(std::move(request));
  }

  void Cancel() override {
    MutexLock lock(&mu_);
    closing_ = true;
    if (stream_ != nullptr) stream_->Cancel();
    if (alarm_.has_value()) alarm_->Cancel();
  }

 private:
  using Stream = MessageStream<wire::HoldSessionRequest, wire::HoldSessionResponse>;

  void NewStream(wire::HoldSessionRequest request) {
    Stream::Events events;
    events.received = [self = shared_from_this()](const wire::HoldSessionResponse& r) { self->OnReceived(r); };
    events.closed = [self = shared_from_this()](const grpc::Status& status) { self->OnClosed(status); };
    MutexLock lock(&mu_);  // held meanwhile, so that the stream's end finds it
    stream_ = Stream::Open(std::move(events), [this](grpc::ClientContext* context, auto* reactor) {
      stub_.async()->HoldSession(context, reactor);
    });
    stream_->Send(std::move(request));
    if (closing_) stream_->Cancel();
  }

  void OnReceived(const wire::HoldSessionResponse& response) {
    if (!response.waiting().empty()) holder_->Waiting(response.waiting());
    if (!response.has_opened()) return;
    absl::StatusOr<SessionGrant> grant = FromProto(response.opened());
    const absl::StatusOr<absl::Duration> lease = FromProto(response.opened().lease());
    MutexLock lock(&mu_);
    if (!grant.ok() || !lease.ok()) {
      error_ = grant.ok() ? lease.status() : grant.status();
      stream_->Cancel();
      return;
    }
    session_ = grant->session;
    lease_ = *lease;
    if (broken_since_ != absl::InfiniteFuture()) LogInfo("client", absl::StrCat("session ", session_, " goes on"));
    broken_since_ = absl::InfiniteFuture();
    backoff_ = absl::Milliseconds(100);
    holder_->Opened(*grant);
  }

  // The leader's word ends the session; a stream that broke on the way is followed by another one.
  void OnClosed(const grpc::Status& status) {
    absl::Status explained = calls_.Explain(status, "HoldSession");
    {
      MutexLock lock(&mu_);
      stream_ = nullptr;
      if (!error_.ok()) explained = error_;
      if (MayResume(explained)) {
        const absl::Time now = absl::Now();
        if (broken_since_ == absl::InfiniteFuture()) {
          LogWarn("client", absl::StrCat("session ", session_, ": ", explained.message(), "; trying again"));
          broken_since_ = now;
        }
        if (now + backoff_ < broken_since_ + lease_) {
          alarm_.emplace().Set(absl::ToChronoTime(now + backoff_), [self = shared_from_this()](bool rang) {
            rang ? self->ResumeNow() : self->End(LetGo());
          });
          backoff_ = std::min(backoff_ * 2, absl::Seconds(2));
          return;
        }
      }
    }
    End(explained);
  }

  bool MayResume(const absl::Status& status) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (closing_ || session_ == 0 || !absl::IsUnavailable(status)) return false;
    const auto cause = GetFirstCause(status);  // of the connection, not of a task that the leader tells about
    return cause.has_value() && cause->task == calls_.callee().task && cause->address == calls_.callee().address;
  }

  void ResumeNow() {
    wire::HoldSessionRequest request;
    {
      MutexLock lock(&mu_);
      *request.mutable_caller() = calls_.MakeCaller(session_, 0);
    }
    NewStream(std::move(request));
  }

  static absl::Status LetGo() { return absl::CancelledError("the client let the session go"); }

  void End(const absl::Status& status) {
    const std::shared_ptr<HeldSession> self = shared_from_this();
    holder_->Ended(status);
    {
      MutexLock lock(&mu_);
      alarm_.reset();  // holds gRPC, as contexts do: see Calls
    }
    calls_.Remove(self);
  }

  Calls& calls_;
  wire::LeaderService::Stub& stub_;
  const std::shared_ptr<SessionHolder> holder_;
  Mutex mu_;
  std::shared_ptr<Stream> stream_ ABSL_GUARDED_BY(mu_);
  absl::Status error_ ABSL_GUARDED_BY(mu_);  // what was wrong with an answer
  bool closing_ ABSL_GUARDED_BY(mu_) = false;
  uint64_t session_ ABSL_GUARDED_BY(mu_) = 0;  // 0: not opened yet
  absl::Duration lease_ ABSL_GUARDED_BY(mu_);
  absl::Time broken_since_ ABSL_GUARDED_BY(mu_) = absl::InfiniteFuture();
  absl::Duration backoff_ ABSL_GUARDED_BY(mu_) = absl::Milliseconds(100);
  std::optional<grpc::Alarm> alarm_ ABSL_GUARDED_BY(mu_);
};

class RemoteSession final : public ClientSession {
 public:
  RemoteSession(TaskAddress leader, LinkOptions links)
      : links_(std::move(links)),
        channel_(MakeChannel(leader.address, ChannelKind::kControl)),
        stub_(wire::LeaderService::NewStub(channel_)),
        calls_(std::move(leader), links_, channel_),
        held_(std::make_shared<HeldSession>(calls_, *stub_, holder_)) {}

  ~RemoteSession() override {
    holder_->Forget();
    held_->Close();
    holder_->WaitEnded(absl::Now() + kGoodbye);
  }

  absl::Status Open(const ClientSessionOptions& options, absl::Time deadline) {
    calls_.Add(held_);
    held_->Open(ToProto(options));
    return holder_->WaitOpened(deadline);
  }

  const SessionGrant& grant() const override { return holder_->grant(); }
  absl::Status status() const override { return holder_->status(); }
  void WhenLost(std::function<void(const absl::Status&)> lost) override { holder_->WhenLost(std::move(lost)); }
  std::shared_ptr<WorkerLink> LinkWorker(const TaskAddress& task) override { return ConnectWorker(task, links_); }
  std::shared_ptr<PsLink> LinkParameterServer(const TaskAddress& task) override {
    return ConnectParameterServer(task, links_);
  }

 private:
  const LinkOptions links_;
  const std::shared_ptr<SessionHolder> holder_ = std::make_shared<SessionHolder>();
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<wire::LeaderService::Stub> stub_;
  Calls calls_;  // destroyed before what it calls with: waits for the stream
  const std::shared_ptr<HeldSession> held_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ClientSession>> OpenRemoteSession(TaskAddress leader, LinkOptions links,
                                                                 const ClientSessionOptions& options,
                                                                 absl::Time deadline) {
  if (links.incarnation == 0) links.incarnation = NewIncarnation();  // who may resume
  auto session = std::make_unique<RemoteSession>(std::move(leader), std::move(links));
  COHORT_RETURN_IF_ERROR(session->Open(options, deadline));
  return session;
}

}  // namespace cohort
