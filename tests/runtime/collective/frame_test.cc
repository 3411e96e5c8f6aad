#include "runtime/collective/frame.h"

#include <gtest/gtest.h>

#include <string>

namespace cohort::testing {
namespace {

TEST(FrameReaderTest, ReadsAcrossPiecesCutAnywhere) {
  const std::string text = "abcdefghij";
  for (size_t first = 0; first <= text.size(); ++first) {
    for (size_t second = first; second <= text.size(); ++second) {
      const absl::string_view all = text;
      Frame frame;
      frame.payload = {all.substr(0, first), all.substr(first, second - first), all.substr(second)};
      for (size_t skip = 0; skip <= text.size(); ++skip) {
        FrameReader reader(frame);
        EXPECT_EQ(reader.remaining(), text.size());
        reader.Skip(skip);
        std::string rest(text.size() - skip, ' ');
        EXPECT_EQ(reader.Run().empty(), rest.empty());
        reader.Copy(rest.data(), rest.size());
        EXPECT_EQ(rest, text.substr(skip));
        EXPECT_EQ(reader.remaining(), 0u);
        EXPECT_TRUE(reader.Run().empty());
      }
    }
  }
}

TEST(FrameReaderTest, NothingToRead) {
  const Frame frame;
  FrameReader reader(frame);
  EXPECT_EQ(reader.remaining(), 0u);
  EXPECT_TRUE(reader.Run().empty());
}

TEST(CollectiveSignatureTest, TextOfEachKind) {
  CollectiveSignature signature = {CollectiveKind::kAllReduce, ReduceOp::kMax, DType::kI64, 0, 5, 3};
  EXPECT_EQ(signature.ToString("g"), "all-reduce 'g' (max of int64 [5], step 3)");
  signature.kind = CollectiveKind::kBroadcast;
  signature.root = 2;
  EXPECT_EQ(signature.ToString("g"), "broadcast 'g' (int64 [5], from rank 2, step 3)");
  signature.kind = CollectiveKind::kAllGather;
  EXPECT_EQ(signature.ToString("g"), "all-gather 'g' (int64 [5], step 3)");
  signature.kind = CollectiveKind::kBarrier;
  EXPECT_EQ(signature.ToString("g"), "barrier 'g' (step 3)");
}

TEST(CollectiveSignatureTest, StepsMayDiffer) {
  CollectiveSignature a, b;
  b.step = 1;
  EXPECT_TRUE(a.Agrees(b));
  b.count = 1;
  EXPECT_FALSE(a.Agrees(b));
}

}  // namespace
}  // namespace cohort::testing
