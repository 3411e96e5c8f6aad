#include "runtime/collective/grpc/wire_format.h"

#include <grpcpp/support/slice.h>

#include <bit>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace cohort {
namespace {

static_assert(std::endian::native == std::endian::little, "the wire is little-endian");

constexpr uint32_t kMagic = 0x31444843;  // "CHD1"
constexpr uint8_t kGoodbye = 0xff;       // instead of a CollectiveKind

// In the order of the bytes; no padding.
struct WireHeader {
  uint32_t magic;
  uint8_t kind;
  uint8_t op;
  uint8_t dtype;
  uint8_t zero;
  int64_t seq;
  int32_t part;
  int32_t root;
  int64_t count;
  int64_t step;
  uint64_t name_bytes;
  uint64_t payload_bytes;
};
static_assert(sizeof(WireHeader) == kWireHeaderBytes);

class ReceivedSlices final : public Frame::Memory {
 public:
  explicit ReceivedSlices(std::vector<grpc::Slice> slices) : slices_(std::move(slices)) {}

 private:
  const std::vector<grpc::Slice> slices_;
};

grpc::Slice Own(std::string bytes) {
  auto* owned = new std::string(std::move(bytes));
  return {owned->data(), owned->size(), [](void* p) { delete static_cast<std::string*>(p); }, owned};
}

grpc::Slice Lend(absl::string_view bytes, const std::shared_ptr<LendingLedger>& ledger) {
  ledger->Lend();
  auto* held = new std::shared_ptr<LendingLedger>(ledger);
  return {const_cast<char*>(bytes.data()), bytes.size(),
          [](void* p) {
            auto* const note = static_cast<std::shared_ptr<LendingLedger>*>(p);
            (*note)->Return();
            delete note;
          },
          held};
}

}  // namespace

void LendingLedger::Lend() {
  MutexLock lock(&mu_);
  ++lent_;
}

void LendingLedger::Return() {
  MutexLock lock(&mu_);
  --lent_;
}

bool LendingLedger::AwaitNone(absl::Time deadline) {
  MutexLock lock(&mu_);
  return mu_.AwaitWithDeadline([this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return lent_ == 0; }, deadline);
}

grpc::ByteBuffer EncodeFrame(const FrameHeader& header, absl::string_view name, absl::string_view payload,
                             const std::shared_ptr<LendingLedger>& ledger) {
  const CollectiveSignature& signature = header.signature;
  const WireHeader wire = {kMagic,
                           static_cast<uint8_t>(signature.kind),
                           static_cast<uint8_t>(signature.op),
                           static_cast<uint8_t>(signature.dtype),
                           0,
                           header.seq,
                           header.part,
                           signature.root,
                           signature.count,
                           signature.step,
                           name.size(),
                           payload.size()};
  std::string head;
  head.reserve(sizeof(wire) + name.size() + (ledger == nullptr ? payload.size() : 0));
  head.append(reinterpret_cast<const char*>(&wire), sizeof(wire));
  head.append(name.data(), name.size());
  if (ledger == nullptr) {
    head.append(payload.data(), payload.size());
    const grpc::Slice slice = Own(std::move(head));
    return {&slice, 1};
  }
  const grpc::Slice slices[] = {Own(std::move(head)), Lend(payload, ledger)};
  return {slices, 2};
}

grpc::ByteBuffer EncodeGoodbye() {
  WireHeader wire = {};
  wire.magic = kMagic;
  wire.kind = kGoodbye;
  const grpc::Slice slice(&wire, sizeof(wire));
  return {&slice, 1};
}

absl::StatusOr<WireMessage> DecodeMessage(const grpc::ByteBuffer& message) {
  std::vector<grpc::Slice> slices;
  if (!message.Dump(&slices).ok()) return absl::InternalError("a message of gRPC that cannot be read");
  WireMessage result;
  Frame& frame = result.frame;
  for (const grpc::Slice& slice : slices) {
    if (slice.size() > 0) frame.payload.emplace_back(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  const size_t bytes = frame.payload_bytes();
  WireHeader wire;
  if (bytes < sizeof(wire)) return absl::InternalError(absl::StrCat("a message of ", bytes, " bytes has no header"));
  FrameReader reader(frame);
  reader.Copy(&wire, sizeof(wire));
  if (wire.magic != kMagic || wire.name_bytes > kMaxWireNameBytes || wire.name_bytes > reader.remaining() ||
      wire.payload_bytes != reader.remaining() - wire.name_bytes) {
    return absl::InternalError(absl::StrCat("a message of ", bytes, " bytes is not a frame of this protocol"));
  }
  result.goodbye = wire.kind == kGoodbye;
  frame.header.seq = wire.seq;
  frame.header.part = wire.part;
  frame.header.signature = {static_cast<CollectiveKind>(wire.kind),
                            static_cast<ReduceOp>(wire.op),
                            static_cast<DType>(wire.dtype),
                            wire.root,
                            wire.count,
                            wire.step};
  frame.name.resize(wire.name_bytes);
  reader.Copy(frame.name.data(), frame.name.size());
  std::vector<absl::string_view> payload;
  while (reader.remaining() > 0) {
    payload.push_back(reader.Run());
    reader.Skip(reader.Run().size());
  }
  frame.payload = std::move(payload);
  // Moving slices could move inlined bytes under our views, so the array itself is kept.
  frame.memory = std::make_unique<ReceivedSlices>(std::move(slices));
  return result;
}

}  // namespace cohort
