#include "runtime/tensor/attributes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::IsOkAndHolds;
using ::cohort::testing::StatusIs;
using ::testing::HasSubstr;

TEST(AttributesTest, GetNamesWhatIsWrong) {
  const Attributes attributes = {{"padding", std::string("SAME")}, {"axis", int64_t{3}}};
  EXPECT_THAT(GetAttribute<int64_t>(attributes, "axis"), IsOkAndHolds(3));
  EXPECT_THAT(GetAttribute<bool>(attributes, "keep"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("'keep'")));
  EXPECT_THAT(GetAttribute<bool>(attributes, "axis"),
              StatusIs(absl::StatusCode::kInvalidArgument, "attribute 'axis' is a int, not a bool"));
  EXPECT_EQ(GetAttributeOr<int64_t>(attributes, "axis", 1), 3);
  EXPECT_EQ(GetAttributeOr<int64_t>(attributes, "keep", 1), 1);
  EXPECT_EQ(GetAttributeOr<bool>(attributes, "axis", true), true);
}

TEST(AttributesTest, PrintsEveryType) {
  EXPECT_EQ(AttributesToString({}), "");
  EXPECT_EQ(AttributesToString({{"a", true},
                                {"b", int64_t{3}},
                                {"c", 0.5},
                                {"d", std::string("it's\n")},
                                {"e", DType::kF32},
                                {"f", Shape{Shape::kUnknown, 2}},
                                {"g", std::vector<int64_t>{1, 2}},
                                {"h", std::vector<std::string>{"x"}},
                                {"i", Tensor::Scalar(1.0f)}}),
            "{a=true, b=3, c=0.5, d='it\\'s\\n', e=float32, f=[?,2], g={1, 2}, h={'x'}, i=float32 [] [1]}");
}

TEST(AttributesTest, FloatsAreToldFromIntegers) {
  EXPECT_EQ(AttributeToString(2.0), "2.0");
  EXPECT_EQ(AttributeToString(1e300), "1e+300");
  EXPECT_EQ(AttributeToString(int64_t{2}), "2");
}

TEST(AttributesTest, LongTensorsDifferByTheirHash) {
  Tensor a = Tensor::Zeros(DType::kF32, {100}), b = Tensor::Zeros(DType::kF32, {100});
  EXPECT_EQ(AttributeToString(a), AttributeToString(b));
  b.mutable_values<float>()[99] = 1;
  EXPECT_NE(AttributeToString(a), AttributeToString(b));
}

}  // namespace
}  // namespace cohort
