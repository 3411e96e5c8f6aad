#ifndef COHORT_RUNTIME_REMOTE_FRAME_H_
#define COHORT_RUNTIME_REMOTE_FRAME_H_

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "runtime/tensor/tensor.h"

namespace cohort {

// A frame is a message of two fields, `header = 1` (a message) and `payload = 2` (bytes), each once and in this order
// (proto/ps.proto), written and read without copying the payload through a message:
//   0x0a  varint length  header   0x12  varint length  payload

// The frame of a header and the payload made of `slices`. InvalidArgument: a payload of 2 GiB or more.
absl::Status MakeFrame(const google::protobuf::MessageLite& header, const std::vector<grpc::Slice>& slices,
                       grpc::ByteBuffer& frame);

// A slice of the tensor's own memory, which it keeps alive.
grpc::Slice SliceOf(const Tensor& tensor);

// Reads one frame, from front to back. All errors are InvalidArgument. `frame` outlives the reader.
class FrameReader {
 public:
  explicit FrameReader(grpc::ByteBuffer& frame);

  // First.
  absl::Status ReadHeader(google::protobuf::MessageLite& header);
  // Whether the payload holds so many bytes more: ask before making room for them.
  absl::Status ExpectPayload(size_t bytes);
  // Then the payload, piece by piece.
  absl::Status ReadPayload(void* destination, size_t bytes);
  // Last: checks that nothing is left.
  absl::Status Finish();

 private:
  // Reads the payload's tag and length before its first piece.
  absl::Status BeginPayload();

  const size_t total_;  // bytes of the frame
  grpc::ProtoBufferReader buffer_;
  google::protobuf::io::CodedInputStream stream_;
  bool in_payload_ = false;
  size_t left_ = 0;  // of the payload
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_REMOTE_FRAME_H_
