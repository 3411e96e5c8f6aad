#include "runtime/checkpoint/checksum.h"

#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "runtime/base/crc32c.h"

namespace cohort {
namespace {

TEST(ChecksumTest, CoversNameDtypeShapeAndValue) {
  // "w", 0, dtype 1, rank 1, dim 2 as int64, then 1.0f and 2.0f.
  const std::string bytes(
      "w\0\x01\x01"
      "\x02\0\0\0\0\0\0\0"
      "\0\0\x80\x3f\0\0\0\x40",
      20);
  EXPECT_EQ(WeightsCrc32c({{{"w", ""}, Tensor::Of<float>({2}, {1.0f, 2.0f})}}), absl::StrFormat("%08x", Crc32c(bytes)));
}

TEST(ChecksumTest, OrderOfTheListDoesNotMatter) {
  const std::pair<VariableKey, Tensor> a{{"a", ""}, Tensor::Scalar<int64_t>(3)}, b{{"b", ""}, Tensor::Scalar<float>(0)};
  EXPECT_EQ(WeightsCrc32c({a, b}), WeightsCrc32c({b, a}));
  EXPECT_NE(WeightsCrc32c({a, b}), WeightsCrc32c({a}));
}

TEST(ChecksumTest, SlotsAndStepCountOnlyForTheState) {
  const std::pair<VariableKey, Tensor> w{{"w", ""}, Tensor::Scalar<float>(1)}, m{{"w", "m"}, Tensor::Scalar<float>(2)};
  EXPECT_EQ(WeightsCrc32c({w, m}), WeightsCrc32c({w}));
  EXPECT_NE(StateCrc32c({w, m}, 1), StateCrc32c({w}, 1));
  EXPECT_NE(StateCrc32c({w, m}, 1), StateCrc32c({w, m}, 2));
}

TEST(VariableKeyTest, PrintsAndParses) {
  for (const VariableKey& key : {VariableKey{"hidden/kernel", ""}, VariableKey{"hidden/kernel", "momentum"}}) {
    EXPECT_EQ(ParseVariableKey(key.ToString()), key);
  }
}

}  // namespace
}  // namespace cohort
