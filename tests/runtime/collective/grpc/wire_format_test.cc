#include "runtime/collective/grpc/wire_format.h"

#include <gmock/gmock.h>
#include <grpcpp/support/slice.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "tests/testing/status_matchers.h"

namespace cohort::testing {
namespace {

std::string Bytes(const grpc::ByteBuffer& message) {
  grpc::Slice slice;
  EXPECT_TRUE(message.DumpToSingleSlice(&slice).ok());
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

grpc::ByteBuffer Cut(const std::string& bytes, size_t at) {
  const grpc::Slice slices[] = {grpc::Slice(bytes.substr(0, at)), grpc::Slice(bytes.substr(at))};
  return {slices, 2};
}

FrameHeader Header() {
  return {7, 2, {CollectiveKind::kBroadcast, ReduceOp::kMax, DType::kBF16, 3, int64_t{1} << 40, 42}};
}

TEST(WireFormatTest, FramesComeBackHoweverTheMessageIsCut) {
  const std::string bytes = Bytes(EncodeFrame(Header(), "grads/0", "payload", nullptr));
  ASSERT_EQ(bytes.size(), kWireHeaderBytes + 14);
  for (size_t at = 0; at <= bytes.size(); ++at) {
    COHORT_ASSERT_OK_AND_ASSIGN(const WireMessage message, DecodeMessage(Cut(bytes, at)));
    EXPECT_FALSE(message.goodbye);
    EXPECT_EQ(message.frame.header.seq, 7);
    EXPECT_EQ(message.frame.header.part, 2);
    EXPECT_TRUE(message.frame.header.signature.Agrees(Header().signature));
    EXPECT_EQ(message.frame.header.signature.step, 42);
    EXPECT_EQ(message.frame.name, "grads/0");
    std::string payload(message.frame.payload_bytes(), ' ');
    FrameReader(message.frame).Copy(payload.data(), payload.size());
    EXPECT_EQ(payload, "payload");
  }
}

TEST(WireFormatTest, LentMemoryIsNotCopiedAndComesBackWithTheMessage) {
  const auto ledger = std::make_shared<LendingLedger>();
  const std::string payload(100000, 'x');
  {
    const grpc::ByteBuffer message = EncodeFrame(Header(), "", payload, ledger);
    std::vector<grpc::Slice> slices;
    ASSERT_TRUE(message.Dump(&slices).ok());
    ASSERT_EQ(slices.size(), 2u);
    EXPECT_EQ(static_cast<const void*>(slices[1].begin()), payload.data());
    EXPECT_FALSE(ledger->AwaitNone(absl::Now()));
  }
  EXPECT_TRUE(ledger->AwaitNone(absl::Now()));
}

TEST(WireFormatTest, Goodbye) {
  COHORT_ASSERT_OK_AND_ASSIGN(const WireMessage message, DecodeMessage(EncodeGoodbye()));
  EXPECT_TRUE(message.goodbye);
}

TEST(WireFormatTest, ShortenedOrForeignMessagesAreRefused) {
  const std::string bytes = Bytes(EncodeFrame(Header(), "grads/0", "payload", nullptr));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(DecodeMessage(Cut(bytes.substr(0, size), size / 2)), StatusIs(absl::StatusCode::kInternal)) << size;
  }
  EXPECT_THAT(DecodeMessage(Cut(bytes + "x", 5)), StatusIs(absl::StatusCode::kInternal));
  std::string foreign = bytes;
  foreign[0] = 'X';
  EXPECT_THAT(DecodeMessage(Cut(foreign, 5)), StatusIs(absl::StatusCode::kInternal));
  std::string huge = bytes;
  huge[47] = '\x7f';  // bytes of the name
  EXPECT_THAT(DecodeMessage(Cut(huge, 5)), StatusIs(absl::StatusCode::kInternal));
  huge = bytes;
  huge[55] = '\xff';  // bytes of the payload
  EXPECT_THAT(DecodeMessage(Cut(huge, 5)), StatusIs(absl::StatusCode::kInternal));
}

}  // namespace
}  // namespace cohort::testing
