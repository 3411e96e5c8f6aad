#include "runtime/collective/fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "runtime/tensor/element_type.h"

namespace cohort::testing {
namespace {

template <typename T>
T FoldOne(ReduceOp op, const std::vector<T>& values) {
  std::vector<const char*> parts;
  for (const T& value : values) parts.push_back(reinterpret_cast<const char*>(&value));
  T out;
  FindFold(kDTypeOf<T>, op)(parts, 1, &out);
  return out;
}

TEST(FoldTest, GoesFromTheLeft) {
  EXPECT_EQ(FoldOne<float>(ReduceOp::kSum, {1e8f, 1.0f, -1e8f, 1.0f}), 1.0f);
  EXPECT_EQ(FoldOne<float>(ReduceOp::kSum, {1.0f, 1e8f, 1.0f, -1e8f}), 0.0f);
}

TEST(FoldTest, BFloat16RoundsOnceAtTheEnd) {
  const auto b = [](float value) { return BFloat16(value); };
  EXPECT_EQ(FoldOne<BFloat16>(ReduceOp::kSum, {b(256), b(1), b(1), b(2)}), b(260));
  EXPECT_EQ(FoldOne<BFloat16>(ReduceOp::kSum, {b(256), b(1)}), b(256));  // 257, to even
}

TEST(FoldTest, IntegersWrap) {
  EXPECT_EQ(FoldOne<int32_t>(ReduceOp::kSum, {std::numeric_limits<int32_t>::max(), 1}),
            std::numeric_limits<int32_t>::min());
  EXPECT_EQ(FoldOne<int64_t>(ReduceOp::kProd, {std::numeric_limits<int64_t>::max(), 2}), -2);
  EXPECT_EQ(FoldOne<uint16_t>(ReduceOp::kProd, {65535, 65535}), 1);
  EXPECT_EQ(FoldOne<int8_t>(ReduceOp::kSum, {127, 1, 0}), -128);
}

TEST(FoldTest, NanStaysInMinAndMax) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const ReduceOp op : {ReduceOp::kMin, ReduceOp::kMax}) {
    EXPECT_TRUE(std::isnan(FoldOne<float>(op, {nan, 1.0f})));
    EXPECT_TRUE(std::isnan(FoldOne<float>(op, {1.0f, nan})));
    EXPECT_TRUE(std::isnan(FoldOne<float>(op, {1.0f, nan, 2.0f})));
  }
}

TEST(FoldTest, PartsMayLieAnywhereAndTheResultOnOneOfThem) {
  for (const size_t ranks : {2, 3}) {
    for (size_t own = 0; own < ranks; ++own) {
      std::vector<double> mine(kFoldElements);
      std::vector<std::vector<char>> bytes(ranks, std::vector<char>(kFoldElements * sizeof(double) + 3));
      std::vector<const char*> parts(ranks);
      for (size_t r = 0; r < ranks; ++r) {
        for (size_t i = 0; i < kFoldElements; ++i) {
          const double value = static_cast<double>(i * (r + 1));
          if (r == own) mine[i] = value;
          std::memcpy(bytes[r].data() + 3 + i * sizeof(double), &value, sizeof(double));
        }
        parts[r] = r == own ? reinterpret_cast<const char*>(mine.data()) : bytes[r].data() + 3;
      }
      FindFold(DType::kF64, ReduceOp::kSum)(parts, kFoldElements, mine.data());
      for (size_t i = 0; i < kFoldElements; ++i) ASSERT_EQ(mine[i], i * (ranks == 2 ? 3 : 6));
    }
  }
}

TEST(FoldTest, NotForStringsAndHandles) {
  EXPECT_EQ(FindFold(DType::kString, ReduceOp::kSum), nullptr);
  EXPECT_EQ(FindFold(DType::kResource, ReduceOp::kMax), nullptr);
  EXPECT_EQ(FindFold(DType::kInvalid, ReduceOp::kMin), nullptr);
}

}  // namespace
}  // namespace cohort::testing
