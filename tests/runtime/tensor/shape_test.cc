#include "runtime/tensor/shape.h"

#include <gtest/gtest.h>

#include "runtime/tensor/tensor_spec.h"

namespace cohort {
namespace {

constexpr int64_t kUnknown = Shape::kUnknown;

TEST(ShapeTest, Prints) {
  EXPECT_EQ(Shape().ToString(), "[]");
  EXPECT_EQ((Shape{64, 784}.ToString()), "[64,784]");
  EXPECT_EQ((Shape{kUnknown, 10}.ToString()), "[?,10]");
  EXPECT_EQ((TensorSpec{DType::kF32, {kUnknown, 784}}.ToString()), "float32 [?,784]");
}

TEST(ShapeTest, CountsElements) {
  EXPECT_EQ(Shape().num_elements(), 1);
  EXPECT_EQ((Shape{2, 3, 4}.num_elements()), 24);
  EXPECT_EQ((Shape{0, 3}.num_elements()), 0);
}

TEST(ShapeTest, UnknownDimensionsFitAll) {
  EXPECT_TRUE((Shape{kUnknown, 3}.IsCompatibleWith({2, 3})));
  EXPECT_TRUE((Shape{2, kUnknown}.IsCompatibleWith({kUnknown, 3})));
  EXPECT_FALSE((Shape{kUnknown, 3}.IsCompatibleWith({2, 4})));
  EXPECT_FALSE((Shape{kUnknown}.IsCompatibleWith({1, 1})));
  EXPECT_FALSE((Shape{kUnknown}.IsFullyDefined()));
  EXPECT_TRUE((Shape{0}.IsFullyDefined()));
}

TEST(ShapeTest, EqualityLooksAtTheRank) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_NE((Shape{2}), (Shape{2, 0}));
  EXPECT_NE((Shape{kUnknown}), (Shape{1}));
}

TEST(ShapeDeathTest, ElementsOfAnUnknownShape) {
  EXPECT_DEATH(Shape({kUnknown, 2}).num_elements(), "unknown dimension");
}

}  // namespace
}  // namespace cohort
