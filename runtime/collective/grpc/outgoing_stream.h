#ifndef COHORT_RUNTIME_COLLECTIVE_GRPC_OUTGOING_STREAM_H_
#define COHORT_RUNTIME_COLLECTIVE_GRPC_OUTGOING_STREAM_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/client_callback.h>

#include <deque>
#include <memory>

#include "runtime/base/mutex.h"
#include "runtime/collective/grpc/grpc_group.h"

namespace cohort {

inline constexpr char kExchangeMethod[] = "/cohort.wire.Collective/Exchange";

// The sending end of the stream to one peer, on a connection of its own. Nothing comes back on it but the peer's
// welcome and the status with which the peer ends it.
//
// Reactions come on gRPC's threads and never block. Destroyed by the transport's thread, after the group has heard
// OnOutgoingEnd: a channel must not be freed on gRPC's own threads, which it may wait for.
class OutgoingStream final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  OutgoingStream(std::shared_ptr<GrpcGroup> group, int to, std::shared_ptr<grpc::Channel> channel);

  // Connects, as long as it takes, and sends the hello.
  void Start(const grpc::ByteBuffer& hello);
  // Queues a message; drops it if the stream is over.
  void Send(grpc::ByteBuffer message);
  // Ends the stream now; what is queued is dropped. From any thread.
  void Cancel() { context_.TryCancel(); }

 private:
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

  const std::shared_ptr<GrpcGroup> group_;
  const int to_;
  const std::shared_ptr<grpc::Channel> channel_;
  grpc::ClientContext context_;
  grpc::ByteBuffer in_;
  grpc::ByteBuffer out_;  // being written
  Mutex mu_;
  std::deque<grpc::ByteBuffer> queue_ ABSL_GUARDED_BY(mu_);
  bool writing_ ABSL_GUARDED_BY(mu_) = false;  // somebody writes `out_`, or is about to
  bool closed_ ABSL_GUARDED_BY(mu_) = false;   // nothing will be written any more
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_COLLECTIVE_GRPC_OUTGOING_STREAM_H_
