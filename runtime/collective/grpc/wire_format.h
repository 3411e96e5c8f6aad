#ifndef COHORT_RUNTIME_COLLECTIVE_GRPC_WIRE_FORMAT_H_
#define COHORT_RUNTIME_COLLECTIVE_GRPC_WIRE_FORMAT_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/base/mutex.h"
#include "runtime/collective/frame.h"

namespace cohort {

// Bytes of a message after the hello; runtime/docs/collective_wire.md has the table.
inline constexpr size_t kWireHeaderBytes = 56;
inline constexpr size_t kMaxWireNameBytes = 4096;

// Counts the frames whose memory is lent to the wire. Shared by the sender and by each such frame, which gRPC may keep
// for a while after the sender is gone. Its lock is a leaf: gRPC frees frames wherever it likes.
class LendingLedger {
 public:
  void Lend();
  void Return();
  bool AwaitNone(absl::Time deadline);

 private:
  Mutex mu_;
  int64_t lent_ ABSL_GUARDED_BY(mu_) = 0;
};

// A frame as a message. With a ledger `payload` is lent and not copied.
grpc::ByteBuffer EncodeFrame(const FrameHeader& header, absl::string_view name, absl::string_view payload,
                             const std::shared_ptr<LendingLedger>& ledger);

// The last message of a rank that leaves in peace.
grpc::ByteBuffer EncodeGoodbye();

struct WireMessage {
  bool goodbye = false;
  Frame frame;
};

// Takes a message apart; the frame's payload stays where gRPC received it. Internal: not such a message.
absl::StatusOr<WireMessage> DecodeMessage(const grpc::ByteBuffer& message);

}  // namespace cohort

#endif  // COHORT_RUNTIME_COLLECTIVE_GRPC_WIRE_FORMAT_H_
