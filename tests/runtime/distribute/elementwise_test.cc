#include "runtime/distribute/elementwise.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "runtime/tensor/element_type.h"

namespace cohort {
namespace {

template <typename T>
Tensor Vec(std::initializer_list<T> values) {
  return Tensor::Of<T>(Shape{static_cast<int64_t>(values.size())}, values);
}

// target op operand as a text, or the code of the error.
std::string Applied(ElementOp op, Tensor target, const Tensor& operand) {
  const absl::Status status = Apply(op, target, operand);
  return status.ok() ? target.ToString() : absl::StatusCodeToString(status.code());
}

TEST(ElementwiseTest, EveryOp) {
  const struct {
    ElementOp op;
    std::string want;
  } kTable[] = {{ElementOp::kAdd, "[10, 5]"}, {ElementOp::kSub, "[4, -1]"}, {ElementOp::kMul, "[21, 6]"},
                {ElementOp::kMin, "[3, 2]"},  {ElementOp::kMax, "[7, 3]"},  {ElementOp::kReplace, "[3, 3]"}};
  for (const auto& row : kTable) {
    EXPECT_EQ(Applied(row.op, Vec<float>({7, 2}), Vec<float>({3, 3})), "float32 [2] " + row.want);
    EXPECT_EQ(Applied(row.op, Vec<int8_t>({7, 2}), Vec<int8_t>({3, 3})), "int8 [2] " + row.want);
  }
  EXPECT_EQ(Applied(ElementOp::kDiv, Vec<float>({7, 2}), Vec<float>({2, 4})), "float32 [2] [3.5, 0.5]");
  EXPECT_EQ(Applied(ElementOp::kDiv, Vec<int32_t>({7, -7}), Vec<int32_t>({2, 2})), "int32 [2] [3, -3]");
}

TEST(ElementwiseTest, IntegersWrapAndNeverTrap) {
  const int64_t low = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(Applied(ElementOp::kDiv, Vec<int64_t>({low}), Vec<int64_t>({-1})), Vec<int64_t>({low}).ToString());
  EXPECT_EQ(Applied(ElementOp::kSub, Vec<int64_t>({low}), Vec<int64_t>({1})),
            Vec<int64_t>({std::numeric_limits<int64_t>::max()}).ToString());
  EXPECT_EQ(Applied(ElementOp::kMul, Vec<uint16_t>({65535}), Vec<uint16_t>({65535})), "uint16 [1] [1]");
  EXPECT_EQ(Applied(ElementOp::kDiv, Vec<int32_t>({1}), Vec<int32_t>({0})), "INVALID_ARGUMENT");
  EXPECT_EQ(Applied(ElementOp::kDiv, Vec<float>({1}), Vec<float>({0})), "float32 [1] [inf]");
}

TEST(ElementwiseTest, NoArithmeticOfBoolAndStringsButReplacing) {
  EXPECT_EQ(Applied(ElementOp::kAdd, Vec<bool>({true}), Vec<bool>({true})), "INVALID_ARGUMENT");
  EXPECT_EQ(Applied(ElementOp::kReplace, Vec<bool>({true}), Vec<bool>({false})), "bool [1] [false]");
  EXPECT_EQ(Applied(ElementOp::kReplace, Tensor::OfStrings({1}, {"a"}), Tensor::OfStrings({1}, {"b"})),
            "string [1] ['b']");
}

TEST(ElementwiseTest, CastsRoundToZeroAndSaturate) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(CastTo(Vec<float>({2.9f, -2.9f, 1e10f, -1e10f, nan}), DType::kI32).ToString(),
            "int32 [5] [2, -2, 2147483647, -2147483648, 0]");
  EXPECT_EQ(CastTo(Vec<double>({-1, 1e30}), DType::kU64).ToString(), "uint64 [2] [0, 18446744073709551615]");
  EXPECT_EQ(CastTo(Vec<int64_t>({0, 3}), DType::kBool).ToString(), "bool [2] [false, true]");
  EXPECT_EQ(CastTo(Vec<float>({65520, 1}), DType::kF16).ToString(), "float16 [2] [inf, 1]");
  // Above 2^53 and rounded once, not by way of a double.
  EXPECT_EQ(CastTo(Vec<int64_t>({9007199254740993}), DType::kI64).values<int64_t>()[0], 9007199254740993);
  EXPECT_EQ(CastTo(Vec<uint64_t>({~uint64_t{0}}), DType::kF32).values<float>()[0], 18446744073709551616.0f);
}

TEST(ElementwiseTest, CastsAcrossBlocks) {
  std::vector<int32_t> numbers(1000);
  for (int i = 0; i < 1000; ++i) numbers[i] = i;
  const Tensor wide = CastTo(Tensor::Of<int32_t>({10, 100}, numbers), DType::kF64);
  EXPECT_EQ(wide.shape(), (Shape{10, 100}));
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(wide.values<double>()[i], i);
}

TEST(ElementwiseTest, RowsAreViews) {
  Tensor table = Tensor::Of<float>({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(RowView(table, 1).ToString(), "float32 [2] [3, 4]");
  EXPECT_EQ(RowView(RowView(table, 1), 0).ToString(), "float32 [] [3]");
  EXPECT_TRUE(SameHandle(RowView(table, 0), RowView(table, 0)));
  EXPECT_FALSE(SameHandle(RowView(table, 0), RowView(table, 1)));
}

TEST(ElementwiseTest, FiniteAndZero) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(AllFinite(Vec<float>({1, -1})));
  EXPECT_FALSE(AllFinite(Vec<float>({1, -inf})));
  EXPECT_FALSE(AllFinite(Vec<BFloat16>({BFloat16(inf)})));
  EXPECT_TRUE(AllFinite(Vec<int32_t>({1})));
  EXPECT_TRUE(AllZero(Vec<Float16>({Float16(-0.0f)})));
  EXPECT_FALSE(AllZero(Vec<double>({0, 1})));
  EXPECT_FALSE(AllZero(Tensor::OfStrings({1}, {""})));
}

}  // namespace
}  // namespace cohort
