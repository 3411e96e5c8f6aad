#ifndef COHORT_RUNTIME_COLLECTIVE_GRPC_INCOMING_STREAM_H_
#define COHORT_RUNTIME_COLLECTIVE_GRPC_INCOMING_STREAM_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <memory>

#include "absl/status/status.h"
#include "runtime/base/mutex.h"
#include "runtime/collective/grpc/grpc_group.h"

namespace cohort {

// The receiving end of the stream on which one peer sends to one rank of this process. The first message is the
// peer's hello; we answer with one empty message, the welcome, once the group is here; then frames come. The status
// with which this end finishes the stream tells the peer why.
//
// Reactions come on gRPC's threads and never block. Lives until gRPC is done with it; others hold it too.
class IncomingStream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  // What becomes of a stream before it belongs to a group.
  class Door {
   public:
    virtual ~Door() = default;
    // A peer knocks: attaches the stream to its group, lets it wait, or ends it.
    virtual void OnHello(const std::shared_ptr<IncomingStream>& stream, const grpc::ByteBuffer& hello,
                         grpc::CallbackServerContext& context) = 0;
    // The peer of a stream that waits went away.
    virtual void OnWaitingGone(const IncomingStream* stream) = 0;
  };

  // Reads the hello and hands itself to `door`.
  static IncomingStream* Open(std::shared_ptr<Door> door, grpc::CallbackServerContext* context);

  // The stream belongs to `group` from now on; the peer is told and may send.
  void Welcome(const std::shared_ptr<GrpcGroup>& group, int from);
  // Reads the next frame, after OnFrame said that enough was waiting.
  void Read();
  // Ends the stream; the peer gets `reason`, ok or not. The first call counts.
  void End(const absl::Status& reason);

 private:
  IncomingStream(std::shared_ptr<Door> door, grpc::CallbackServerContext* context);

  void OnReadDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;
  void OnMessage(GrpcGroup& group, int from);
  void OnBroken();

  const std::shared_ptr<Door> door_;
  grpc::CallbackServerContext* const context_;  // gRPC's, until OnDone
  std::shared_ptr<IncomingStream> self_;        // until OnDone
  grpc::ByteBuffer in_;
  grpc::ByteBuffer welcome_;
  bool greeted_ = false;  // the hello came; only in OnReadDone
  Mutex mu_;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  std::shared_ptr<GrpcGroup> group_ ABSL_GUARDED_BY(mu_);
  int from_ ABSL_GUARDED_BY(mu_) = -1;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_COLLECTIVE_GRPC_INCOMING_STREAM_H_
