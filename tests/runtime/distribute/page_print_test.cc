#include "runtime/distribute/page_print.h"

#include <gtest/gtest.h>

namespace cohort {
namespace {

TEST(PagePrintTest, Tensors) {
  EXPECT_EQ(PagePrint(Tensor::Scalar<int32_t>(1)), "<tf.Tensor: shape=(), dtype=int32, numpy=1>");
  EXPECT_EQ(PagePrint(Tensor::Scalar<float>(6)), "<tf.Tensor: shape=(), dtype=float32, numpy=6.0>");
  EXPECT_EQ(PagePrint(Tensor::Scalar<bool>(true)), "<tf.Tensor: shape=(), dtype=bool, numpy=True>");
  EXPECT_EQ(PagePrint(Tensor::Of<int64_t>({1}, {2})), "<tf.Tensor: shape=(1,), dtype=int64, numpy=array([2])>");
  EXPECT_EQ(PagePrint(Tensor::Of<float>({2, 2}, {1, 2.5, -3, 4})),
            "<tf.Tensor: shape=(2, 2), dtype=float32, numpy=array([[1., 2.5], [-3., 4.]], dtype=float32)>");
  EXPECT_EQ(PagePrint(Tensor(DType::kF32, {0})),
            "<tf.Tensor: shape=(0,), dtype=float32, numpy=array([], dtype=float32)>");
  EXPECT_EQ(PagePrint(Tensor::OfStrings({1}, {"x"})),
            "<tf.Tensor: shape=(1,), dtype=string, numpy=array([b'x'], dtype=object)>");
}

TEST(PagePrintTest, LongArraysEnd) {
  const std::string text = PagePrint(Tensor::Zeros(DType::kI64, {10, 10}));
  EXPECT_NE(text.find("0, 0, 0, ...], ...]"), std::string::npos) << text;
}

TEST(PagePrintTest, ListOfPerReplica) {
  const auto element = [](int64_t a, int64_t b) {
    return Nest::PerReplica({Tensor::Of<int64_t>({1}, {a}), Tensor::Of<int64_t>({1}, {b})});
  };
  EXPECT_EQ(PagePrint(Nest::List({element(0, 2), element(4, 6)})),
            "[PerReplica:{\n"
            "  0: <tf.Tensor: shape=(1,), dtype=int64, numpy=array([0])>,\n"
            "  1: <tf.Tensor: shape=(1,), dtype=int64, numpy=array([2])>\n"
            "}, PerReplica:{\n"
            "  0: <tf.Tensor: shape=(1,), dtype=int64, numpy=array([4])>,\n"
            "  1: <tf.Tensor: shape=(1,), dtype=int64, numpy=array([6])>\n"
            "}]");
}

TEST(PagePrintTest, HostValues) {
  EXPECT_EQ(PagePrint(Nest::Tuple({4})), "(4,)");
  EXPECT_EQ(PagePrint(Nest::Map({{"a", 2.0}, {"b", true}, {"c", Nest()}, {"d", "x"}})),
            "{'a': 2.0, 'b': True, 'c': None, 'd': 'x'}");
}

TEST(PagePrintTest, MirroredVariable) {
  const Tensor one = Tensor::Scalar<float>(1);
  EXPECT_EQ(PagePrintDistributedVariable("MirroredVariable", "Variable", {one, one}),
            "MirroredVariable:{\n"
            "  0: <tf.Variable 'Variable:0' shape=() dtype=float32, numpy=1.0>,\n"
            "  1: <tf.Variable 'Variable/replica_1:0' shape=() dtype=float32, numpy=1.0>\n"
            "}");
}

}  // namespace
}  // namespace cohort
