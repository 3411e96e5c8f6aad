#include "runtime/remote/frame.h"

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace cohort {
namespace {

constexpr uint32_t kHeaderTag = 0x0a;   // field 1, bytes
constexpr uint32_t kPayloadTag = 0x12;  // field 2, bytes
constexpr size_t kMaxPayloadBytes = std::numeric_limits<int32_t>::max() - (1 << 20);

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("malformed frame: ", what));
}

}  // namespace

absl::Status MakeFrame(const google::protobuf::MessageLite& header, const std::vector<grpc::Slice>& slices,
                       grpc::ByteBuffer& frame) {
  size_t payload_bytes = 0;
  for (const grpc::Slice& slice : slices) payload_bytes += slice.size();
  if (payload_bytes > kMaxPayloadBytes) {
    return absl::InvalidArgumentError(absl::StrCat("tensors of ", payload_bytes, " bytes for one task, at most ",
                                                   kMaxPayloadBytes, " fit into a message"));
  }
  std::string front;
  {
    google::protobuf::io::StringOutputStream output(&front);
    google::protobuf::io::CodedOutputStream coded(&output);
    coded.WriteTag(kHeaderTag);
    coded.WriteVarint32(static_cast<uint32_t>(header.ByteSizeLong()));
    header.SerializeWithCachedSizes(&coded);
    coded.WriteTag(kPayloadTag);
    coded.WriteVarint32(static_cast<uint32_t>(payload_bytes));
  }
  std::vector<grpc::Slice> all;
  all.reserve(1 + slices.size());
  all.emplace_back(front);
  all.insert(all.end(), slices.begin(), slices.end());
  frame = grpc::ByteBuffer(all.data(), all.size());
  return absl::OkStatus();
}

grpc::Slice SliceOf(const Tensor& tensor) {
  if (tensor.num_bytes() == 0) return grpc::Slice();
  auto* owner = new Tensor(tensor);
  return grpc::Slice(
      const_cast<void*>(tensor.data()), tensor.num_bytes(), [](void* t) { delete static_cast<Tensor*>(t); }, owner);
}

FrameReader::FrameReader(grpc::ByteBuffer& frame) : total_(frame.Length()), buffer_(&frame), stream_(&buffer_) {}

absl::Status FrameReader::ReadHeader(google::protobuf::MessageLite& header) {
  uint32_t bytes = 0;
  if (!buffer_.status().ok()) return Malformed("no bytes");
  if (stream_.ReadTag() != kHeaderTag || !stream_.ReadVarint32(&bytes) ||
      bytes > static_cast<uint32_t>(std::numeric_limits<int32_t>::max())) {
    return Malformed("no header");
  }
  const auto limit = stream_.PushLimit(static_cast<int>(bytes));
  if (!header.ParseFromCodedStream(&stream_) || !stream_.ConsumedEntireMessage() || stream_.BytesUntilLimit() != 0) {
    return Malformed("its header does not decode");
  }
  stream_.PopLimit(limit);
  return absl::OkStatus();
}

absl::Status FrameReader::BeginPayload() {
  if (in_payload_) return absl::OkStatus();
  uint32_t bytes = 0;
  if (stream_.ReadTag() != kPayloadTag || !stream_.ReadVarint32(&bytes) || bytes > total_) {
    return Malformed("no payload");
  }
  in_payload_ = true;
  left_ = bytes;
  return absl::OkStatus();
}

absl::Status FrameReader::ExpectPayload(size_t bytes) {
  COHORT_RETURN_IF_ERROR(BeginPayload());
  if (bytes > left_) return Malformed(absl::StrCat(left_, " bytes of payload where ", bytes, " should be"));
  return absl::OkStatus();
}

absl::Status FrameReader::ReadPayload(void* destination, size_t bytes) {
  COHORT_RETURN_IF_ERROR(ExpectPayload(bytes));
  if (!stream_.ReadRaw(destination, static_cast<int>(bytes))) return Malformed("its payload is cut");
  left_ -= bytes;
  return absl::OkStatus();
}

absl::Status FrameReader::Finish() {
  COHORT_RETURN_IF_ERROR(BeginPayload());
  if (left_ != 0) return Malformed(absl::StrCat(left_, " bytes of payload too many"));
  if (stream_.ReadTag() != 0) return Malformed("more than a header and a payload");
  return absl::OkStatus();
}

}  // namespace cohort
