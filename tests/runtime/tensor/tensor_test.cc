#include "runtime/tensor/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "runtime/tensor/element_type.h"

namespace cohort {
namespace {

using ::testing::ElementsAre;

TEST(BufferTest, IsAligned) {
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{63}, size_t{4096}, size_t{5} << 20}) {
    Buffer buffer(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0u) << bytes;
    EXPECT_EQ(buffer.size(), bytes);
  }
}

TEST(BufferTest, LentMemoryIsGivenBackOnceWhenTheLastTensorGoes) {
  int32_t memory[4] = {1, 2, 3, 4};
  int released = 0;
  {
    auto buffer = std::make_shared<Buffer>(memory, sizeof(memory), [&] { ++released; });
    Tensor view({DType::kI32, {2}}, buffer, 8);
    buffer.reset();
    EXPECT_THAT(view.values<int32_t>(), ElementsAre(3, 4));
    const Tensor copy = view;
    view = Tensor();
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(TensorTest, DefaultHoldsNothing) {
  const Tensor none;
  EXPECT_FALSE(none.has_value());
  EXPECT_EQ(none.data(), nullptr);
  EXPECT_EQ(none.ToString(), "no tensor");
  EXPECT_TRUE(none.BitwiseEquals(Tensor()));
}

TEST(TensorTest, HoldsEveryElementType){
#define COHORT_EXPECT_HOLDS(T, d)                   \
  {                                                 \
    const Tensor tensor = Tensor::Zeros(d, {2, 2}); \
    EXPECT_EQ(tensor.num_bytes(), 4 * sizeof(T));   \
    EXPECT_EQ(tensor.values<T>()[3], T());          \
    EXPECT_EQ(Tensor::Scalar<T>(T()).dtype(), d);   \
  }
    COHORT_FOR_EACH_ELEMENT_TYPE(COHORT_EXPECT_HOLDS)
#undef COHORT_EXPECT_HOLDS
}

TEST(TensorTest, PrintsElementsInFewDigits) {
  EXPECT_EQ((Tensor::Of<float>({2, 2}, {1, 0.1f, -3, 1e20f}).ToString()), "float32 [2,2] [1, 0.1, -3, 1e+20]");
  EXPECT_EQ(Tensor::Scalar(true).ToString(), "bool [] [true]");
  EXPECT_EQ(Tensor::Scalar<int8_t>(-5).ToString(), "int8 [] [-5]");
  EXPECT_EQ(Tensor::Scalar(Float16(0.5f)).ToString(), "float16 [] [0.5]");
  EXPECT_EQ(Tensor::OfStrings({2}, {"a", "b"}).ToString(), "string [2] ['a', 'b']");
  EXPECT_EQ(Tensor::Zeros(DType::kI32, {17}).ToString(),
            "int32 [17] [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ...]");
}

TEST(TensorTest, CopiesShareAndClonesDoNot) {
  Tensor a = Tensor::Of<int32_t>({2}, {1, 2});
  const Tensor shared = a, cloned = a.Clone();
  a.mutable_values<int32_t>()[0] = 7;
  EXPECT_THAT(shared.values<int32_t>(), ElementsAre(7, 2));
  EXPECT_THAT(cloned.values<int32_t>(), ElementsAre(1, 2));
}

TEST(TensorTest, ReshapedViewsTheSameElements) {
  const Tensor a = Tensor::Of<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor b = a.Reshaped({3, 2});
  EXPECT_EQ(a.data(), b.data());
  EXPECT_EQ(b.spec(), (TensorSpec{DType::kI32, {3, 2}}));
}

TEST(TensorTest, BitwiseEqualsComparesBits) {
  const Tensor nan = Tensor::Scalar(std::nanf(""));
  EXPECT_TRUE(nan.BitwiseEquals(nan.Clone()));
  EXPECT_FALSE(Tensor::Scalar(0.0f).BitwiseEquals(Tensor::Scalar(-0.0f)));
  EXPECT_FALSE(Tensor::Scalar<int32_t>(1).BitwiseEquals(Tensor::Scalar<uint32_t>(1)));
  EXPECT_FALSE((Tensor::Zeros(DType::kF32, {1, 2}).BitwiseEquals(Tensor::Zeros(DType::kF32, {2, 1}))));
  EXPECT_TRUE((Tensor::Zeros(DType::kF32, {0}).BitwiseEquals(Tensor::Zeros(DType::kF32, {0}))));
  EXPECT_FALSE(Tensor::OfStrings({1}, {"a"}).BitwiseEquals(Tensor::OfStrings({1}, {"b"})));
}

TEST(TensorDeathTest, WrongElementTypeAndCount) {
  const Tensor a = Tensor::Of<int32_t>({2}, {1, 2});
  EXPECT_DEATH(a.values<float>(), "another C\\+\\+ type");
  EXPECT_DEATH((Tensor::Of<float>({3}, {1, 2})), "as many values");
  EXPECT_DEATH(a.Reshaped({3}), "number of elements");
}

}  // namespace
}  // namespace cohort
