#include "runtime/tensor/float16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cohort {
namespace {

TEST(Float16Test, KnownValues) {
  EXPECT_EQ(Float16(0.0f).bits, 0x0000);
  EXPECT_EQ(Float16(-0.0f).bits, 0x8000);
  EXPECT_EQ(Float16(1.0f).bits, 0x3c00);
  EXPECT_EQ(Float16(-2.0f).bits, 0xc000);
  EXPECT_EQ(Float16(65504.0f).bits, 0x7bff);    // the largest
  EXPECT_EQ(Float16(65519.996f).bits, 0x7bff);  // just below the middle to 65536
  EXPECT_EQ(Float16(65520.0f).bits, 0x7c00);    // the middle goes to the even neighbour, infinity
  EXPECT_EQ(Float16(0x1p-14f).bits, 0x0400);    // the smallest normal
  EXPECT_EQ(Float16(0x1p-24f).bits, 0x0001);    // the smallest subnormal
  EXPECT_EQ(Float16(0x1p-25f).bits, 0x0000);    // half of it: even is zero
  EXPECT_EQ(Float16(0x1.000002p-25f).bits, 0x0001);
  EXPECT_EQ(Float16(0x1.8p-24f).bits, 0x0002);    // 1.5 of it: even is two
  EXPECT_EQ(Float16(0x1.ffep-15f).bits, 0x0400);  // rounds up from subnormal to normal
}

TEST(Float16Test, TiesGoToEven) {
  EXPECT_EQ(Float16(1.0f + 0x1p-11f).bits, 0x3c00);
  EXPECT_EQ(Float16(1.0f + 3 * 0x1p-11f).bits, 0x3c02);
  EXPECT_EQ(Float16(1.0f + 0x1.01p-11f).bits, 0x3c01);
}

TEST(Float16Test, InfinityAndNan) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Float16(inf).bits, 0x7c00);
  EXPECT_EQ(Float16(-inf).bits, 0xfc00);
  EXPECT_TRUE(std::isnan(static_cast<float>(Float16(std::nanf("")))));
  EXPECT_TRUE(std::isinf(static_cast<float>(Float16::FromBits(0xfc00))));
}

// All 65536 numbers are floats, and the nearest number to a number is itself.
TEST(Float16Test, EveryNumberReadsBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = Float16::ToFloat(static_cast<uint16_t>(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(Float16::FromFloat(value), bits);
  }
}

// Between two neighbours: below the middle down, above up, the middle to the even one.
TEST(Float16Test, RoundsToTheNearerNeighbour) {
  for (uint16_t bits = 0; bits < 0x7bff; ++bits) {
    const float low = Float16::ToFloat(bits), high = Float16::ToFloat(bits + 1);
    const float middle = (low + high) / 2;  // exact: a float has 13 more bits
    ASSERT_EQ(Float16::FromFloat(middle), bits % 2 == 0 ? bits : bits + 1);
    ASSERT_EQ(Float16::FromFloat(std::nextafter(middle, 0.0f)), bits);
    ASSERT_EQ(Float16::FromFloat(std::nextafter(middle, 1e9f)), bits + 1);
  }
}

TEST(BFloat16Test, KnownValues) {
  EXPECT_EQ(BFloat16(1.0f).bits, 0x3f80);
  EXPECT_EQ(BFloat16(-0.0f).bits, 0x8000);
  EXPECT_EQ(BFloat16(1.0f + 0x1p-8f).bits, 0x3f80);      // tie to even
  EXPECT_EQ(BFloat16(1.0f + 3 * 0x1p-8f).bits, 0x3f82);  // tie to even
  EXPECT_EQ(BFloat16(1.0f + 0x1.02p-8f).bits, 0x3f81);
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()).bits, 0x7f80);  // rounds up to infinity
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::nanf("")))));
}

TEST(BFloat16Test, EveryNumberReadsBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = BFloat16::ToFloat(static_cast<uint16_t>(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(BFloat16::FromFloat(value), bits);
  }
}

}  // namespace
}  // namespace cohort
