#include "runtime/base/hash.h"

#include <gtest/gtest.h>

namespace cohort {
namespace {

// Values of the FNV authors' test suite.
TEST(Fnv1a64Test, PublishedValues) {
  static_assert(Fnv1a64("") == 0xcbf29ce484222325);
  EXPECT_EQ(Fnv1a64("a"), 0xaf63dc4c8601ec8c);
  EXPECT_EQ(Fnv1a64("foobar"), 0x85944171f73967e8);
}

TEST(Fnv1a64Test, HighBytesAreUnsigned) { EXPECT_EQ(Fnv1a64("\xff"), 0xaf64724c8602eb6e); }

TEST(Fnv1a64Test, ContinuesWhereTheFirstPartEnded) { EXPECT_EQ(Fnv1a64("bar", Fnv1a64("foo")), Fnv1a64("foobar")); }

// The first numbers of the reference generator for seed 0.
TEST(SplitMix64Test, PublishedValues) {
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
  EXPECT_EQ(SplitMix64(0), 0xe220a8397b1dcdaf);
  EXPECT_EQ(SplitMix64(kGolden), 0x6e789e6aa1b965f4);
  EXPECT_EQ(SplitMix64(2 * kGolden), 0x06c45d188009454f);
}

}  // namespace
}  // namespace cohort
