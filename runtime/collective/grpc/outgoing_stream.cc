#include "runtime/collective/grpc/outgoing_stream.h"

#include <grpcpp/generic/generic_stub.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/first_cause.h"
#include "runtime/rpc/status.h"

namespace cohort {

OutgoingStream::OutgoingStream(std::shared_ptr<GrpcGroup> group, int to, std::shared_ptr<grpc::Channel> channel)
    : group_(std::move(group)), to_(to), channel_(std::move(channel)) {}

void OutgoingStream::Start(const grpc::ByteBuffer& hello) {
  context_.set_wait_for_ready(true);  // peers may start later; who waits for the group has the deadline
  grpc::TemplatedGenericStub<grpc::ByteBuffer, grpc::ByteBuffer> stub(channel_);
  stub.PrepareBidiStreamingCall(&context_, kExchangeMethod, {}, this);
  group_->OnOutgoingStart(to_);
  {
    MutexLock lock(&mu_);
    writing_ = true;
  }
  out_ = hello;
  AddHold();  // writes start outside of reactions
  StartRead(&in_);
  StartWrite(&out_);
  StartCall();
}

void OutgoingStream::Send(grpc::ByteBuffer message) {
  {
    MutexLock lock(&mu_);
    if (closed_) return;
    if (writing_) {
      queue_.push_back(std::move(message));
      return;
    }
    writing_ = true;
    out_ = std::move(message);
  }
  StartWrite(&out_);  // without the lock: may send a megabyte here and now
}

// The hold falls once: when the stream is over and nobody writes.
void OutgoingStream::OnWriteDone(bool ok) {
  out_.Clear();
  std::deque<grpc::ByteBuffer> dropped;  // freed without the lock
  bool release = false;
  {
    MutexLock lock(&mu_);
    if (!ok) dropped.swap(queue_);
    writing_ = !queue_.empty();
    if (writing_) {
      out_ = std::move(queue_.front());
      queue_.pop_front();
    } else {
      release = closed_;
      if (!release) return;
    }
  }
  if (release) {
    RemoveHold();
  } else {
    StartWrite(&out_);
  }
}

void OutgoingStream::OnReadDone(bool ok) {
  if (ok) {
    group_->OnWelcome(to_);
    return StartRead(&in_);
  }
  std::deque<grpc::ByteBuffer> dropped;
  bool release = false;
  {
    MutexLock lock(&mu_);
    closed_ = true;
    dropped.swap(queue_);
    release = !writing_;
  }
  if (release) RemoveHold();
}

void OutgoingStream::OnDone(const grpc::Status& status) {
  const std::shared_ptr<GrpcGroup> group = group_;  // `this` may be gone when OnOutgoingEnd has unlocked
  const int to = to_;
  const GroupMember& peer = group->spec().members[to];
  absl::Status reason;
  if (!status.ok() && !status.error_details().empty()) {  // the peer's own words
    reason = FromGrpcStatus(status, {peer.task, peer.address, peer.incarnation}, "collective stream");
  } else if (!status.ok()) {
    reason = absl::UnavailableError(absl::StrCat(peer.ToString(), " is gone: ", status.error_message()));
    SetFirstCause(reason, Blame(peer));
  }
  group->OnOutgoingEnd(to, std::move(reason));
}

}  // namespace cohort
