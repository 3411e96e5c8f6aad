#include "runtime/collective/grpc/incoming_stream.h"

#include <grpcpp/support/slice.h>

#include <utility>

#include "runtime/collective/grpc/wire_format.h"
#include "runtime/rpc/status.h"

namespace cohort {

IncomingStream::IncomingStream(std::shared_ptr<Door> door, grpc::CallbackServerContext* context)
    : door_(std::move(door)), context_(context) {}

IncomingStream* IncomingStream::Open(std::shared_ptr<Door> door, grpc::CallbackServerContext* context) {
  std::shared_ptr<IncomingStream> stream(new IncomingStream(std::move(door), context));
  stream->self_ = stream;
  stream->StartRead(&stream->in_);
  return stream.get();
}

void IncomingStream::Welcome(const std::shared_ptr<GrpcGroup>& group, int from) {
  {
    MutexLock lock(&mu_);
    group_ = group;
    from_ = from;
    if (!ended_) {
      const grpc::Slice nothing;
      welcome_ = grpc::ByteBuffer(&nothing, 1);
      StartWrite(&welcome_);
      StartRead(&in_);
      return;
    }
  }
  group->OnIncomingBroken(from);  // went while it waited
}

void IncomingStream::Read() {
  MutexLock lock(&mu_);
  if (!ended_) StartRead(&in_);
}

void IncomingStream::End(const absl::Status& reason) {
  MutexLock lock(&mu_);
  if (ended_) return;
  ended_ = true;
  Finish(ToGrpcStatus(reason));
}

void IncomingStream::OnReadDone(bool ok) {
  if (!ok) return OnBroken();
  if (!greeted_) {
    greeted_ = true;
    const grpc::ByteBuffer hello = std::exchange(in_, {});
    return door_->OnHello(self_, hello, *context_);
  }
  std::shared_ptr<GrpcGroup> group;
  int from = -1;
  {
    MutexLock lock(&mu_);
    group = group_;
    from = from_;
  }
  OnMessage(*group, from);
}

void IncomingStream::OnMessage(GrpcGroup& group, int from) {
  absl::StatusOr<WireMessage> message = DecodeMessage(in_);
  in_.Clear();
  if (!message.ok()) {
    group.Fail(message.status()).IgnoreError();
    return End(message.status());
  }
  if (message->goodbye) {
    group.OnGoodbye(from);
    return End(absl::OkStatus());
  }
  if (group.OnFrame(from, std::move(message->frame))) Read();
}

void IncomingStream::OnCancel() { OnBroken(); }

void IncomingStream::OnBroken() {
  std::shared_ptr<GrpcGroup> group;
  int from = -1;
  {
    MutexLock lock(&mu_);
    if (ended_) return;
    group = group_;
    from = from_;
  }
  if (group != nullptr) {
    group->OnIncomingBroken(from);
  } else {
    door_->OnWaitingGone(this);
  }
  End(absl::CancelledError("the stream ended without a goodbye"));
}

void IncomingStream::OnDone() {
  const std::shared_ptr<IncomingStream> last = std::move(self_);  // freed when this returns
}

}  // namespace cohort
