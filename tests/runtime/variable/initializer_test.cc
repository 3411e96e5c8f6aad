#include "runtime/variable/initializer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::StatusIs;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Kind = Initializer::Kind;

Tensor Initial(const char* name, DType dtype, Shape shape, Initializer initializer, uint64_t seed = 0) {
  absl::StatusOr<Tensor> value = InitialValue({name, {dtype, shape}, std::move(initializer), true}, seed);
  EXPECT_THAT(value, testing::IsOk());
  return value.ok() ? *value : Tensor::Zeros(dtype, shape);
}

TEST(InitializerTest, ZerosConstantsAndTensors) {
  EXPECT_THAT(Initial("b", DType::kF32, {3}, {}).values<float>(), Each(0.0f));
  EXPECT_THAT(Initial("b", DType::kF32, {2}, {Kind::kConstant, 0.1, {}}).values<float>(), Each(0.1f));
  EXPECT_THAT(Initial("b", DType::kI64, {2}, {Kind::kConstant, 7, {}}).values<int64_t>(), Each(7));
  const Tensor value = Tensor::Of<float>({2}, {1, 2});
  const Tensor copy = Initial("b", DType::kF32, {2}, {Kind::kTensor, 0, value});
  EXPECT_TRUE(copy.BitwiseEquals(value));
  EXPECT_NE(copy.data(), value.data());  // a variable writes its own memory
}

// Computed apart, by the recipe of the reference trajectories.
TEST(InitializerTest, GoldenValues) {
  const Tensor dense = Initial("dense/kernel", DType::kF32, {784, 10}, {Kind::kGolden, 0, {}}, 99);
  EXPECT_EQ(dense.values<float>()[0], 0.0630640760064125f);
  EXPECT_EQ(dense.values<float>()[1], 0.03388497233390808f);
  EXPECT_EQ(dense.values<float>()[7839], -0.06484793871641159f);
  const Tensor filter = Initial("conv1/kernel", DType::kF32, {5, 5, 1, 8}, {Kind::kGolden, 0, {}});
  EXPECT_EQ(filter.values<float>()[0], 0.15571030974388123f);
  EXPECT_EQ(filter.values<float>()[199], 0.0744386836886406f);
  EXPECT_THAT(Initial("dense/bias", DType::kF32, {10}, {Kind::kGolden, 0, {}}).values<float>(), Each(0.0f));
}

// Computed apart: Philox with the seed as key and (element, hash of the name) as counter.
TEST(InitializerTest, GlorotValues) {
  EXPECT_THAT(Initial("w", DType::kF32, {2, 3}, {Kind::kGlorotUniform, 0, {}}, 7).values<float>(),
              ElementsAre(1.0711050033569336f, -0.3482445180416107f, -0.3375410735607147f, -0.3027070462703705f,
                          -1.0309391021728516f, -0.10044462978839874f));
}

TEST(InitializerTest, GlorotFillsItsRange) {
  const Tensor w = Initial("hidden/kernel", DType::kF32, {100, 50}, {Kind::kGlorotUniform, 0, {}}, 1);
  const auto [low, high] = std::minmax_element(w.values<float>().begin(), w.values<float>().end());
  EXPECT_LT(*high, 0.2f);  // sqrt(6 / 150)
  EXPECT_GT(*high, 0.199f);
  EXPECT_GT(*low, -0.2f);
  EXPECT_LT(*low, -0.199f);
}

TEST(InitializerTest, SeedAndNameMakeOtherValues) {
  const Initializer glorot{Kind::kGlorotUniform, 0, {}};
  const Tensor w = Initial("w", DType::kF32, {4, 4}, glorot, 1);
  EXPECT_TRUE(w.BitwiseEquals(Initial("w", DType::kF32, {4, 4}, glorot, 1)));
  EXPECT_FALSE(w.BitwiseEquals(Initial("w", DType::kF32, {4, 4}, glorot, 2)));
  EXPECT_FALSE(w.BitwiseEquals(Initial("v", DType::kF32, {4, 4}, glorot, 1)));
}

TEST(InitializerTest, ErrorsNameTheVariable) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(InitialValue({"n", {DType::kI32, {2}}, {Kind::kGlorotUniform, 0, {}}, true}, 0),
              StatusIs(kInvalid, HasSubstr("variable 'n' is int32 [2]; only floating")));
  EXPECT_THAT(InitialValue({"n", {DType::kF32, {Shape::kUnknown}}, {}, true}, 0),
              StatusIs(kInvalid, HasSubstr("its shape must be known")));
  EXPECT_THAT(InitialValue({"n", {DType::kF32, {2}}, {Kind::kTensor, 0, Tensor::Scalar(1.0f)}, true}, 0),
              StatusIs(kInvalid, HasSubstr("its initial value is float32 []")));
}

}  // namespace
}  // namespace cohort
