#include "runtime/distribute/reduction_part.h"

#include <gtest/gtest.h>

#include "runtime/distribute/elementwise.h"
#include "runtime/tensor/element_type.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

Axes Over(std::vector<int64_t> axes) { return axes; }

TEST(ReductionPartTest, AccumulatorsAndResults) {
  const struct {
    DType dtype, sum, mean, result;  // accumulators of either, and the mean
  } kTable[] = {
      {DType::kI8, DType::kI8, DType::kI64, DType::kF32},   {DType::kU16, DType::kU16, DType::kI64, DType::kF32},
      {DType::kI32, DType::kI32, DType::kI64, DType::kF64}, {DType::kU64, DType::kU64, DType::kU64, DType::kF64},
      {DType::kF16, DType::kF32, DType::kF32, DType::kF16}, {DType::kBF16, DType::kF32, DType::kF32, DType::kBF16},
      {DType::kF32, DType::kF32, DType::kF32, DType::kF32}, {DType::kF64, DType::kF64, DType::kF64, DType::kF64}};
  for (const auto& row : kTable) {
    EXPECT_EQ(*AccumulatorDType(ReplicaReduceOp::kSum, row.dtype), row.sum);
    EXPECT_EQ(*AccumulatorDType(ReplicaReduceOp::kMean, row.dtype), row.mean);
    EXPECT_EQ(*ReducedDType(ReplicaReduceOp::kSum, row.dtype), row.dtype);
    EXPECT_EQ(*ReducedDType(ReplicaReduceOp::kMean, row.dtype), row.result);
  }
}

// Every subset of axes of [2,3,4] against sums by index.
TEST(ReductionPartTest, AnyAxes) {
  std::vector<int32_t> numbers(24);
  for (int i = 0; i < 24; ++i) numbers[i] = i * i;
  const Tensor value = Tensor::Of<int32_t>({2, 3, 4}, numbers);
  for (int mask = 0; mask < 8; ++mask) {
    std::vector<int64_t> axes;
    Shape kept;
    for (int d = 0; d < 3; ++d) {
      if (mask >> d & 1) axes.push_back(d);
      if (!(mask >> d & 1)) kept.push_back(value.shape().dim(d));
    }
    std::vector<int32_t> want(kept.num_elements());
    for (int i = 0; i < 24; ++i) {
      const int at[] = {i / 12, i / 4 % 3, i % 4};
      int place = 0;
      for (int d = 0; d < 3; ++d) {
        if (!(mask >> d & 1)) place = place * static_cast<int>(value.shape().dim(d)) + at[d];
      }
      want[place] += numbers[i];
    }
    COHORT_ASSERT_OK_AND_ASSIGN(const ReductionPart part, PartOf(ReplicaReduceOp::kSum, value, Axes(axes)));
    EXPECT_TRUE(part.sum.BitwiseEquals(Tensor::Of<int32_t>(kept, want))) << mask << ": " << part.sum;
    EXPECT_EQ(part.count, 24 / kept.num_elements());
  }
}

TEST(ReductionPartTest, EmptyRowsKeepTheOtherDimensions) {
  COHORT_ASSERT_OK_AND_ASSIGN(const ReductionPart part,
                              PartOf(ReplicaReduceOp::kMean, Tensor(DType::kF32, {0, 2}), Over({0})));
  EXPECT_EQ(part.sum.ToString(), "float32 [2] [0, 0]");
  EXPECT_EQ(part.count, 0);
}

TEST(ReductionPartTest, FoldingLeavesTheParts) {
  const Tensor a = Tensor::Of<float>({2}, {1, 2});
  COHORT_ASSERT_OK_AND_ASSIGN(const ReductionPart part, PartOf(ReplicaReduceOp::kSum, a, Axes()));
  COHORT_ASSERT_OK_AND_ASSIGN(const Tensor sum, FoldParts(ReplicaReduceOp::kSum, DType::kF32, {part, part}));
  EXPECT_EQ(sum.ToString(), "float32 [2] [2, 4]");
  EXPECT_EQ(a.ToString(), "float32 [2] [1, 2]");
}

TEST(ReductionPartTest, LargeUnsignedMean) {
  const Tensor big = Tensor::Scalar<uint64_t>(uint64_t{1} << 63);
  COHORT_ASSERT_OK_AND_ASSIGN(const ReductionPart part, PartOf(ReplicaReduceOp::kMean, big, Axes()));
  EXPECT_EQ(FoldParts(ReplicaReduceOp::kMean, DType::kU64, {part})->values<double>()[0], 0x1p63);
}

}  // namespace
}  // namespace cohort
