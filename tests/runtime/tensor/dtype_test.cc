#include "runtime/tensor/dtype.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/tensor/element_type.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::IsOkAndHolds;
using ::cohort::testing::StatusIs;
using ::testing::HasSubstr;

TEST(DTypeTest, NamesReadBack) {
  for (const DType dtype :
       {DType::kF32, DType::kF64, DType::kI32, DType::kU8, DType::kI16, DType::kI8, DType::kString, DType::kI64,
        DType::kBool, DType::kBF16, DType::kU16, DType::kF16, DType::kResource, DType::kU32, DType::kU64}) {
    EXPECT_THAT(ParseDType(DTypeName(dtype)), IsOkAndHolds(dtype));
  }
  EXPECT_EQ(DTypeName(DType::kBF16), "bfloat16");
  EXPECT_THAT(ParseDType("float33"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'float33'")));
}

TEST(DTypeTest, SizesAreThoseOfTheElementTypes) {
#define COHORT_EXPECT_SIZE(T, dtype) EXPECT_EQ(DTypeSize(dtype), sizeof(T)) << DTypeName(dtype);
  COHORT_FOR_EACH_ELEMENT_TYPE(COHORT_EXPECT_SIZE)
#undef COHORT_EXPECT_SIZE
  EXPECT_EQ(DTypeSize(DType::kString), 0u);
  EXPECT_EQ(DTypeSize(DType::kResource), 0u);
  EXPECT_EQ(DTypeSize(DType::kInvalid), 0u);
}

TEST(DTypeTest, BoolIsNeitherFloatingNorInteger) {
  EXPECT_FALSE(IsFloating(DType::kBool));
  EXPECT_FALSE(IsInteger(DType::kBool));
  EXPECT_TRUE(IsFloating(DType::kF16));
  EXPECT_TRUE(IsInteger(DType::kU64));
}

TEST(DTypeTest, DispatchFindsTheElementType) {
  DType seen = DType::kInvalid;
  EXPECT_TRUE(DispatchElementType(DType::kU16, [&](auto zero) { seen = kDTypeOf<decltype(zero)>; }));
  EXPECT_EQ(seen, DType::kU16);
  EXPECT_FALSE(DispatchElementType(DType::kString, [](auto) {}));
}

}  // namespace
}  // namespace cohort
