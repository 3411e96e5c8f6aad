#include "runtime/distribute/leaf_tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::AllOf;
using testing::HasCode;
using ::testing::HasSubstr;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST(LeafTensorTest, LiteralsTakeTheirUsualDTypes) {
  EXPECT_EQ(LeafTensor(4)->ToString(), "int32 [] [4]");
  EXPECT_EQ(LeafTensor(0.5)->ToString(), "float32 [] [0.5]");
  EXPECT_EQ(LeafTensor(true)->ToString(), "bool [] [true]");
  EXPECT_EQ(LeafTensor("x")->ToString(), "string [] ['x']");
  EXPECT_THAT(LeafTensor(int64_t{1} << 40), StatusIs(kInvalid, HasSubstr("int32")));
}

TEST(LeafTensorTest, WhatIsNoTensorIsNamed) {
  EXPECT_THAT(LeafTensor(Nest()), StatusIs(kInvalid, HasSubstr("none")));
  EXPECT_THAT(LeafTensor(Nest::List({1})), StatusIs(kInvalid, HasSubstr("list")));
  EXPECT_THAT(LeafTensorInReplica(Nest::PerReplica({1, 2}), 2), StatusIs(kInvalid, HasSubstr("replica 2")));
}

TEST(LeafTensorTest, HostNumbersTakeTheWantedDType) {
  EXPECT_EQ(LeafTensorOf(DType::kF64, 0.1)->ToString(), "float64 [] [0.1]");
  EXPECT_EQ(LeafTensorOf(DType::kBF16, 2)->ToString(), "bfloat16 [] [2]");
  EXPECT_EQ(LeafTensorOf(DType::kI64, int64_t{1} << 40)->ToString(), "int64 [] [1099511627776]");
  EXPECT_EQ(LeafTensorOf(DType::kU8, 255)->ToString(), "uint8 [] [255]");
}

TEST(LeafTensorTest, ButOnlyIfTheyFit) {
  const std::pair<DType, Nest> kBad[] = {{DType::kU8, 256},  {DType::kU64, -1},  {DType::kI32, 2.5},
                                         {DType::kI32, 2.0}, {DType::kF16, 1e6}, {DType::kF32, true},
                                         {DType::kBool, 1},  {DType::kString, 1}};
  for (const auto& [dtype, value] : kBad)
    EXPECT_THAT(LeafTensorOf(dtype, value), HasCode(kInvalid)) << value.ToString();
  EXPECT_THAT(LeafTensorOf(DType::kF32, Tensor::Scalar<int32_t>(1)),
              StatusIs(kInvalid, AllOf(HasSubstr("int32"), HasSubstr("float32"), HasSubstr("cast"))));
}

}  // namespace
}  // namespace cohort
