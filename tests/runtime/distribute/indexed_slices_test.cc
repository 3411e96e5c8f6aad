#include "runtime/distribute/indexed_slices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/tensor/element_type.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::AllOf;
using testing::HasCode;
using ::testing::HasSubstr;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

IndexedSlices Slices(std::vector<float> values, std::vector<int32_t> rows, Shape dense) {
  Shape shape = dense;
  shape.set_dim(0, static_cast<int64_t>(rows.size()));
  return {Tensor::Of<float>(shape, values), Tensor::Of<int32_t>({static_cast<int64_t>(rows.size())}, rows), dense};
}

TEST(IndexedSlicesTest, DuplicatesMergeInOrderAndRowsAscend) {
  const IndexedSlices slices = Slices({1, 2, 3, 4, 5, 6, 7, 8}, {7, 2, 7, 0}, {9, 2});
  EXPECT_EQ(MergeDuplicates(slices)->ToString(),
            "IndexedSlices(values=float32 [3,2] [7, 8, 3, 4, 6, 8], indices=int32 [3] [0, 2, 7], dense_shape=[9,2])");
}

TEST(IndexedSlicesTest, HalfPrecisionMergesInFloat32RoundedOnce) {
  const auto bf = [](float x) { return BFloat16(x); };
  const IndexedSlices slices{Tensor::Of<BFloat16>({4}, {bf(256), bf(1), bf(1), bf(2)}),
                             Tensor::Of<int64_t>({4}, {5, 5, 5, 5}), Shape{6}};
  EXPECT_EQ(MergeDuplicates(slices)->values.ToString(), "bfloat16 [1] [260]");
  EXPECT_EQ(ToDense(slices)->ToString(), "bfloat16 [6] [0, 0, 0, 0, 0, 260]");
}

TEST(IndexedSlicesTest, NoRows) {
  const IndexedSlices none = Slices({}, {}, {3, 2});
  EXPECT_EQ(MergeDuplicates(none)->values.shape(), (Shape{0, 2}));
  EXPECT_EQ(ToDense(none)->ToString(), "float32 [3,2] [0, 0, 0, 0, 0, 0]");
  EXPECT_EQ(ConcatSlices({none, Slices({1, 2}, {1}, {3, 2})})->values.shape(), (Shape{1, 2}));
}

TEST(IndexedSlicesTest, WhatDoesNotFitIsNamed) {
  EXPECT_THAT(Validate(Slices({1, 2}, {3}, {3, 2})),
              StatusIs(kInvalid, AllOf(HasSubstr("index 3"), HasSubstr("[0, 3)"))));
  EXPECT_THAT(Validate(Slices({1, 2}, {-1}, {3, 2})), StatusIs(kInvalid, HasSubstr("index -1")));
  IndexedSlices other = Slices({1, 2}, {1}, {3, 2});
  other.dense_shape = Shape{3, 3};
  EXPECT_THAT(Validate(other), StatusIs(kInvalid, AllOf(HasSubstr("[3,3]"), HasSubstr("[1,2]"))));
  other = Slices({1, 2}, {1}, {3, 2});
  other.indices = Tensor::Of<float>({1}, {1});
  EXPECT_THAT(Validate(other), StatusIs(kInvalid, HasSubstr("float32")));
}

TEST(IndexedSlicesTest, PartsMustAgree) {
  const IndexedSlices one = Slices({1, 2}, {1}, {3, 2});
  EXPECT_THAT(ConcatSlices({one, Slices({1, 2}, {1}, {4, 2})}),
              StatusIs(kInvalid, AllOf(HasSubstr("[3,2]"), HasSubstr("[4,2]"), HasSubstr("replica 1"))));
  EXPECT_THAT(ConcatSlices({}), HasCode(kInvalid));
}

}  // namespace
}  // namespace cohort
