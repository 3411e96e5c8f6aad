// Section 5: reduce, gather and friends.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "runtime/base/error_kind.h"
#include "runtime/distribute/elementwise.h"
#include "runtime/distribute/gather.h"
#include "runtime/distribute/reduce.h"
#include "runtime/distribute/regroup.h"
#include "runtime/distribute/variable_rules.h"
#include "runtime/tensor/element_type.h"
#include "tests/conformance/values.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::AllOf;
using testing::HasCode;
using ::testing::HasSubstr;
using testing::StatusIs;

constexpr auto kSum = ReplicaReduceOp::kSum;
constexpr auto kMean = ReplicaReduceOp::kMean;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
const Axes kNoAxes;
const Axes kAxis0 = std::vector<int64_t>{0};

Axes Over(std::vector<int64_t> axes) { return axes; }

StrategyShape Mirrored(int replicas) { return {StrategyKind::kMirrored, 1, replicas}; }
StrategyShape MultiWorker(int workers, int replicas) { return {StrategyKind::kMultiWorkerMirrored, workers, replicas}; }
const StrategyShape kDefault{StrategyKind::kDefault, 1, 1};
const StrategyShape kOneDevice{StrategyKind::kOneDevice, 1, 1};
const StrategyShape kPs{StrategyKind::kParameterServer, 1, 1};

Tensor Int(int32_t value) { return Tensor::Scalar<int32_t>(value); }
Tensor Float(float value) { return Tensor::Scalar<float>(value); }

// Of two Mirrored replicas.
std::string Reduced(ReplicaReduceOp op, const Axes& axes, std::vector<Nest> values) {
  return Shown(Reduce(Mirrored(static_cast<int>(values.size())), op, Each(values), axes));
}

TEST(Section5, Rule5x1OpNamesInAnyCase) {
  for (const char* name : {"sum", "Sum", "SUM"}) EXPECT_EQ(*ParseReplicaReduceOp(name), kSum) << name;
  for (const char* name : {"mean", "Mean", "MEAN"}) EXPECT_EQ(*ParseReplicaReduceOp(name), kMean) << name;
  EXPECT_THAT(ParseReplicaReduceOp("min"), StatusIs(kInvalid, HasSubstr("'min'")));
  const auto number = ParseReplicaReduceOp(Nest(5));
  EXPECT_THAT(number, HasCode(kInvalid));
  EXPECT_EQ(ErrorKindOf(number.status()), ErrorKind::kInvalidType);
}

TEST(Section5, Rule5x1AxisIsOptional) {
  EXPECT_EQ(*ParseAxes(Nest()), Axes());
  EXPECT_EQ(*ParseAxes(0), Over({0}));
}

TEST(Section5, Rule5x2NestsAreReducedLeafByLeaf) {
  const Nest value = Nest::Map({{"a", Each({Int(1), Int(2)})}, {"b", Nest::List({Each({Float(1), Float(4)})})}});
  EXPECT_EQ(Shown(Reduce(Mirrored(2), kMean, value, kNoAxes)), "{a: float64 [] [1.5], b: [float32 [] [2.5]]}");
}

TEST(Section5, Rule5x2MeanDividesByReplicasWhateverTheySum) {
  EXPECT_EQ(Reduced(kMean, kNoAxes, {Float(1), Float(2), Float(6)}), "float32 [] [3]");
}

TEST(Section5, Rule5x3EmptyReplicaAddsNothingToSumAndCount) {
  EXPECT_EQ(Reduced(kMean, kAxis0, {Vec<float>({1, 2}), Vec<float>({})}), "float32 [] [1.5]");
  EXPECT_EQ(Reduced(kSum, kAxis0, {Vec<float>({1, 2}), Vec<float>({})}), "float32 [] [3]");
}

TEST(Section5, Rule5x3LastPartialBatchOfFourteen) {  // R16
  const std::vector<Nest> values = {Vec<float>({8, 9, 10, 11}), Vec<float>({12, 13})};
  EXPECT_EQ(Reduced(kMean, kAxis0, values), "float32 [] [10.5]");
  EXPECT_EQ(Reduced(kSum, kAxis0, values), "float32 [] [63]");
  EXPECT_THAT(Reduce(Mirrored(2), kSum, Each(values), kNoAxes),
              StatusIs(kInvalid, AllOf(HasSubstr("[4]"), HasSubstr("[2]"))));
}

TEST(Section5, Rule5x4AxisOutOfRangeForEitherOp) {
  for (const auto op : {kSum, kMean}) {
    for (const int64_t axis : {1, -2}) {
      EXPECT_THAT(Reduce(Mirrored(2), op, Each({Vec<float>({1, 2}), Vec<float>({1, 2})}), Over({axis})),
                  StatusIs(kInvalid, AllOf(HasSubstr("out of range"), HasSubstr("rank 1"))));
    }
  }
}

TEST(Section5, Rule5x4AxesThatAreNoIntegers) {
  for (const Nest& axis : {Nest("x"), Nest(1.5), Nest(true), Nest::List({0, 1.5})}) {
    const auto axes = ParseAxes(axis);
    EXPECT_THAT(axes, HasCode(kInvalid)) << axis.ToString();
    EXPECT_EQ(ErrorKindOf(axes.status()), ErrorKind::kInvalidType);
  }
}

TEST(Section5, Rule5x4TupleAndTensorAxes) {
  EXPECT_EQ(*ParseAxes(Nest::Tuple({0, -1})), Over({0, -1}));
  EXPECT_EQ(*ParseAxes(Tensor::Scalar<int64_t>(1)), Over({1}));
  const Tensor value = Tensor::Of<int32_t>({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(Reduced(kSum, Over({0, -1}), {value, value}), "int32 [2] [28, 44]");
  EXPECT_EQ(Reduced(kSum, Over({0, -3}), {value, value}), "INVALID_ARGUMENT");  // twice
}

TEST(Section5, Rule5x5ShapesMustAgreeAfterTheAxis) {
  EXPECT_THAT(Reduce(Mirrored(2), kSum, Each({Vec<float>({0, 1, 2, 3}), Vec<float>({4, 5})}), kNoAxes),
              StatusIs(kInvalid, AllOf(HasSubstr("[4]"), HasSubstr("[2]"), HasSubstr("replica 1"), HasSubstr("axis"))));
  const Tensor wide = Tensor::Of<float>({1, 2}, {1, 2}), narrow = Tensor::Of<float>({1, 1}, {1});
  EXPECT_EQ(Reduced(kMean, kAxis0, {wide, narrow}), "INVALID_ARGUMENT");
  EXPECT_THAT(Reduce(Mirrored(2), kSum, Each({Int(1), Float(1)}), kNoAxes),
              StatusIs(kInvalid, AllOf(HasSubstr("int32"), HasSubstr("float32"))));
}

TEST(Section5, Rule5x6SumNoneOfReplicaIds) { EXPECT_EQ(Reduced(kSum, kNoAxes, {Int(0), Int(1)}), "int32 [] [1]"); }

TEST(Section5, Rule5x6FourPlusFourElements) {
  const std::vector<Nest> values = {Vec<float>({0, 1, 2, 3}), Vec<float>({4, 5, 6, 7})};
  EXPECT_EQ(Reduced(kSum, kNoAxes, values), "float32 [4] [4, 6, 8, 10]");
  EXPECT_EQ(Reduced(kSum, kAxis0, values), "float32 [] [28]");
  EXPECT_EQ(Reduced(kMean, kNoAxes, values), "float32 [4] [2, 3, 4, 5]");
  EXPECT_EQ(Reduced(kMean, kAxis0, values), "float32 [] [3.5]");
}

TEST(Section5, Rule5x6MeanAxis0UnequalBatches) {
  EXPECT_EQ(Reduced(kMean, kAxis0, {Vec<float>({0, 1, 2, 3}), Vec<float>({4, 5})}), "float32 [] [2.5]");
}

TEST(Section5, Rule5x6TwoPlusOneElements) {
  const std::vector<Nest> values = {Vec<float>({5, 6}), Vec<float>({7})};
  EXPECT_EQ(Reduced(kSum, kAxis0, values), "float32 [] [18]");
  EXPECT_EQ(Reduced(kMean, kAxis0, values), "float32 [] [6]");
}

TEST(Section5, Rule5x6Int32OneAndTwoElements) {
  const std::vector<Nest> values = {Vec<int32_t>({0}), Vec<int32_t>({1, 1})};
  EXPECT_EQ(Reduced(kMean, kAxis0, values), "float64 [] [0.6666666666666666]");
  EXPECT_EQ(Reduced(kSum, kAxis0, values), "int32 [] [2]");
}

TEST(Section5, Rule5x6MeanOfEmptyReplica) {
  EXPECT_EQ(Reduced(kMean, kAxis0, {Vec<float>({1, 2}), Vec<float>({})}), "float32 [] [1.5]");
}

TEST(Section5, Rule5x6MeanOfNothingIsNaN) {
  COHORT_ASSERT_OK_AND_ASSIGN(const Nest mean,
                              Reduce(Mirrored(2), kMean, Each({Vec<float>({}), Vec<float>({})}), kAxis0));
  EXPECT_TRUE(std::isnan(mean.tensor().values<float>()[0]));
}

TEST(Section5, Rule5x6MatrixOnEachReplica) {
  const Tensor matrix = Tensor::Of<float>({2, 2}, {1, 2, 3, 4});
  for (int n : {1, 2, 3, 5}) {
    const std::vector<Nest> values(n, matrix);
    EXPECT_EQ(Reduced(kSum, kAxis0, values), absl::StrCat("float32 [2] [", 4 * n, ", ", 6 * n, "]"));
    EXPECT_EQ(Reduced(kMean, kAxis0, values), "float32 [2] [2, 3]");
    EXPECT_EQ(Reduced(kSum, Over({0, 1}), values), absl::StrCat("float32 [] [", 10 * n, "]"));
    EXPECT_EQ(Reduced(kMean, Over({0, 1}), values), "float32 [] [2.5]");
  }
}

TEST(Section5, Rule5x6MeanOfLastAxis) {
  EXPECT_EQ(Reduced(kMean, Over({-1}), {Tensor::Of<float>({1, 2}, {1, 3}), Tensor::Of<float>({1, 2}, {5, 7})}),
            "float32 [1] [4]");
}

TEST(Section5, Rule5x6MeanAxis1OfRank1) {
  EXPECT_EQ(Reduced(kMean, Over({1}), {Vec<float>({1, 2}), Vec<float>({1, 2})}), "INVALID_ARGUMENT");
}

TEST(Section5, Rule5x7DefaultAndOneDeviceGiveTheValueBack) {
  for (const StrategyShape& strategy : {kDefault, kOneDevice}) {
    for (const auto op : {kSum, kMean}) {
      EXPECT_EQ(Shown(Reduce(strategy, op, Vec<int32_t>({1, 2}), kNoAxes)), "int32 [2] [1, 2]");
    }
    EXPECT_EQ(Shown(Reduce(strategy, kSum, Vec<int32_t>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), kAxis0)), "int32 [] [45]");
    EXPECT_EQ(Shown(Reduce(strategy, kMean, Vec<int32_t>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), kAxis0)), "float64 [] [4.5]");
  }
}

TEST(Section5, Rule5x7OneMirroredReplica) { EXPECT_EQ(Shown(Reduce(Mirrored(1), kSum, 5.0, kNoAxes)), "5"); }

TEST(Section5, Rule5x7PlainValueOnSeveralMirroredReplicas) {
  EXPECT_EQ(Shown(Reduce(Mirrored(2), kMean, 5.0, kNoAxes)), "5");
  for (const Nest& value : {Nest(5.0), Nest(Float(5)), Nest(5)}) {
    EXPECT_THAT(Reduce(Mirrored(2), kSum, value, kNoAxes),
                StatusIs(kInvalid, AllOf(HasSubstr("non-DistributedValues"), HasSubstr("cannot be reduced"))));
  }
}

TEST(Section5, Rule5x7ZerosSumToZeros) {
  EXPECT_EQ(Shown(Reduce(Mirrored(2), kSum, Vec<float>({0, 0}), kNoAxes)), "float32 [2] [0, 0]");
  EXPECT_EQ(Shown(Reduce(Mirrored(2), kSum, 0, kNoAxes)), "0");
}

TEST(Section5, Rule5x7EveryReplicaReducesItsCopy) {
  EXPECT_EQ(Shown(Reduce(Mirrored(2), kSum, Vec<float>({1, 2}), kAxis0)), "float32 [] [6]");
  EXPECT_EQ(Shown(Reduce(Mirrored(2), kMean, Vec<float>({1, 2}), kAxis0)), "float32 [] [1.5]");
}

TEST(Section5, Rule5x7MirroredValues) {
  const Nest value = MirrorOver(2, Float(3));
  EXPECT_EQ(Shown(Reduce(Mirrored(2), kMean, value, kNoAxes)), "float32 [] [3]");
  EXPECT_THAT(Reduce(Mirrored(2), kSum, value, kNoAxes), HasCode(kInvalid));
}

TEST(Section5, Rule5x7PlainValueIsEachWorkersContribution) {
  EXPECT_EQ(Shown(Reduce(MultiWorker(2, 1), kSum, Float(1), kNoAxes)), "float32 [] [2]");
  EXPECT_EQ(Shown(Reduce(MultiWorker(3, 1), kSum, Float(1), kNoAxes)), "float32 [] [3]");
  EXPECT_EQ(Shown(Reduce(MultiWorker(2, 1), kMean, Float(1), kNoAxes)), "float32 [] [1]");
  // One worker: as Mirrored.
  EXPECT_EQ(Shown(Reduce(MultiWorker(1, 2), kMean, Float(1), kNoAxes)), "float32 [] [1]");
  EXPECT_EQ(Shown(Reduce(MultiWorker(1, 2), kSum, Float(1), kNoAxes)), "INVALID_ARGUMENT");
}

TEST(Section5, Rule5x7ParameterServerGivesTheValueBack) {
  for (const auto op : {kSum, kMean}) EXPECT_EQ(Shown(Reduce(kPs, op, Float(4), kNoAxes)), "float32 [] [4]");
}

TEST(Section5, Rule5x8SumKeepsTheDType) {
  EXPECT_EQ(Reduced(kSum, kNoAxes, {Int(3), Int(4)}), "int32 [] [7]");
  EXPECT_EQ(Reduced(kSum, kNoAxes, {Tensor::Scalar<int8_t>(100), Tensor::Scalar<int8_t>(100)}), "int8 [] [-56]");
}

TEST(Section5, Rule5x8MeanOfEveryDType) {
  for (const DType dtype : {DType::kI8, DType::kU8, DType::kI16, DType::kU16, DType::kI32, DType::kU32, DType::kI64,
                            DType::kU64, DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    const Tensor a = CastTo(Vec<int64_t>({3}), dtype), b = CastTo(Vec<int64_t>({4}), dtype);
    const DType want = IsFloating(dtype) ? dtype : DTypeSize(dtype) <= 2 ? DType::kF32 : DType::kF64;
    EXPECT_EQ(Reduced(kMean, kNoAxes, {a, b}), absl::StrCat(DTypeName(want), " [1] [3.5]"));
    EXPECT_EQ(Reduced(kMean, kAxis0, {a, b}), absl::StrCat(DTypeName(want), " [] [3.5]"));
    EXPECT_EQ(Reduced(kSum, kNoAxes, {a, b}), absl::StrCat(DTypeName(dtype), " [1] [7]"));
  }
}

TEST(Section5, Rule5x8NoMeanOfStringsAndBool) {
  for (const Nest& value : {Nest(Tensor::Scalar<bool>(true)), Nest(Tensor::OfStrings({}, {"x"})), Nest("x")}) {
    const auto mean = Reduce(Mirrored(2), kMean, Each({value, value}), kNoAxes);
    EXPECT_THAT(mean, HasCode(kInvalid));
    EXPECT_EQ(ErrorKindOf(mean.status()), ErrorKind::kInvalidType);
  }
}

TEST(Section5, Rule5x8MeanOfIntegersDoesNotWrap) {
  EXPECT_EQ(Reduced(kMean, kNoAxes, {Vec<int8_t>({100}), Vec<int8_t>({100})}), "float32 [1] [100]");
  const int32_t big = 2147483647;
  EXPECT_EQ(Reduced(kMean, kNoAxes, {Int(big), Int(big)}), "float64 [] [2147483647]");
}

TEST(Section5, Rule5x8MeanOfIntegersOpenCase) {  // R18
  EXPECT_EQ(Reduced(kMean, kNoAxes, {Vec<int32_t>({3}), Vec<int32_t>({4})}), "float64 [1] [3.5]");
  EXPECT_EQ(Reduced(kMean, kAxis0, {Vec<int32_t>({1, 2}), Vec<int32_t>({4})}), "float64 [] [2.3333333333333335]");
  const Tensor threes = Vec<int32_t>({3, 3, 3, 3, 3}), fours = Vec<int32_t>({4, 4, 4, 4, 4});
  EXPECT_EQ(Reduced(kMean, kNoAxes, {threes, fours}), "float64 [5] [3.5, 3.5, 3.5, 3.5, 3.5]");
}

TEST(Section5, Rule5x9FoldsInReplicaOrder) {  // R20
  for (int run = 0; run < 20; ++run) {
    EXPECT_EQ(Reduced(kSum, kNoAxes, {Vec<float>({1e8}), Vec<float>({1}), Vec<float>({-1e8}), Vec<float>({1})}),
              "float32 [1] [1]");
  }
}

TEST(Section5, Rule5x9HalfPrecisionSumsInFloat32RoundedOnce) {  // R19
  const auto half = [](float x) { return Nest(Vec<Float16>({Float16(x)})); };
  EXPECT_EQ(Reduced(kMean, kNoAxes, {half(60000), half(40032)}), "float16 [1] [50016]");
  COHORT_ASSERT_OK_AND_ASSIGN(const Nest sum, Reduce(Mirrored(2), kSum, Each({half(60000), half(40032)}), kNoAxes));
  EXPECT_EQ(sum.ToString(), "float16 [1] [inf]");
  EXPECT_FALSE(AllFinite(sum.tensor()));
  const auto bf = [](float x) { return Nest(Vec<BFloat16>({BFloat16(x)})); };
  EXPECT_EQ(Reduced(kSum, kNoAxes, {bf(256), bf(1), bf(1), bf(2)}), "bfloat16 [1] [260]");
  EXPECT_EQ(
      Reduced(kSum, kAxis0, {Vec<BFloat16>({BFloat16(256), BFloat16(1)}), Vec<BFloat16>({BFloat16(1), BFloat16(2)})}),
      "bfloat16 [] [260]");
}

TEST(Section5, Rule5x10ResultIsMirroredOverTheDestinations) {
  COHORT_ASSERT_OK_AND_ASSIGN(const Nest sum, Reduce(Mirrored(2), kSum, Each({Int(1), Int(2)}), kNoAxes));
  EXPECT_EQ(Shown(MirrorOver(2, sum)), "Mirrored:{0: int32 [] [3], 1: int32 [] [3]}");
  EXPECT_EQ(Shown(MirrorOver(1, sum)), "int32 [] [3]");
}

TEST(Section5, Rule5x11BatchIsTheReductionsInOrder) {
  const std::vector<Nest> batch = {Each({Int(1), Int(2)}), Each({Float(1), Float(4)})};
  COHORT_ASSERT_OK_AND_ASSIGN(const Nest all, Reduce(Mirrored(2), kSum, Nest::List(batch), kNoAxes));
  for (size_t i = 0; i < batch.size(); ++i) {
    EXPECT_EQ(Shown(all.children()[i]), Shown(Reduce(Mirrored(2), kSum, batch[i], kNoAxes)));
  }
}

IndexedSlices Rows(std::vector<float> values, std::vector<int64_t> rows, Shape dense) {
  Shape shape = dense;
  shape.set_dim(0, rows.size());
  return {Tensor::Of<float>(shape, values), Tensor::Of<int64_t>({static_cast<int64_t>(rows.size())}, rows), dense};
}

TEST(Section5, Rule5x12SparseValuesConcatenate) {
  const Nest value = Each({Rows({1, 2}, {1}, {3, 2}), Rows({3, 4}, {1}, {3, 2})});
  COHORT_ASSERT_OK_AND_ASSIGN(const Nest sum, Reduce(Mirrored(2), kSum, value, kNoAxes));
  EXPECT_EQ(sum.ToString(),
            "IndexedSlices(values=float32 [2,2] [1, 2, 3, 4], indices=int64 [2] [1, 1], dense_shape=[3,2])");
  EXPECT_EQ(Shown(ToDense(sum.sparse())), "float32 [3,2] [0, 0, 4, 6, 0, 0]");
  COHORT_ASSERT_OK_AND_ASSIGN(const Nest mean, Reduce(Mirrored(2), kMean, value, kNoAxes));
  EXPECT_EQ(mean.ToString(),
            "IndexedSlices(values=float32 [2,2] [0.5, 1, 1.5, 2], indices=int64 [2] [1, 1], dense_shape=[3,2])");
}

TEST(Section5, Rule5x12SparseGradientsOfTwoReplicas) {  // R23
  const Shape table{4, 3};
  const Nest value = Each({Rows({1, 1, 1, 1, 1, 1}, {0, 1}, table), Rows({1, 1, 1, 1, 1, 1}, {0, 2}, table)});
  COHORT_ASSERT_OK_AND_ASSIGN(const Nest sum, Reduce(Mirrored(2), kSum, value, kNoAxes));
  EXPECT_EQ(Shown(ToDense(sum.sparse())), "float32 [4,3] [2, 2, 2, 1, 1, 1, 1, 1, 1, 0, 0, 0]");
  COHORT_ASSERT_OK_AND_ASSIGN(const Nest mean, Reduce(Mirrored(2), kMean, value, kNoAxes));
  EXPECT_EQ(Shown(ToDense(mean.sparse())), "float32 [4,3] [1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0, 0, 0]");
  const IndexedSlices twice = Rows({1, 1, 1, 1, 1, 1}, {0, 0}, table);
  EXPECT_EQ(MergeDuplicates(twice)->ToString(),
            "IndexedSlices(values=float32 [1,3] [2, 2, 2], indices=int64 [1] [0], dense_shape=[4,3])");
}

TEST(Section5, Rule5x12LargeTableIsNeverMadeDense) {  // R23: 10 rows of 1,000,000 are merged in the memory of 20
  const Shape table{1000000, 16};
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < 10; ++i) rows.push_back(99991 * i);
  const IndexedSlices part = Rows(std::vector<float>(160, 1), rows, table);
  COHORT_ASSERT_OK_AND_ASSIGN(const IndexedSlices sum, ReduceSlices(kSum, std::vector<IndexedSlices>{part, part}));
  COHORT_ASSERT_OK_AND_ASSIGN(const IndexedSlices merged, MergeDuplicates(sum));
  EXPECT_LT(sum.values.num_bytes() + sum.indices.num_bytes(), 64u << 10);
  EXPECT_EQ(RowsOf(merged), rows);
  EXPECT_EQ(merged.values.values<float>()[159], 2);
}

TEST(Section5, Rule5x13UpdateSelectsTheComponentsArguments) {
  VariableState v{"v", VariableKind::kMirrored, VariableAggregation::kNone, Mirrored(2), {Float(1), Float(1)}};
  const Nest args = Nest::Tuple({Each({2.0, 3.0}), 10.0});
  for (int k = 0; k < 2; ++k) {
    COHORT_ASSERT_OK_AND_ASSIGN(const Nest mine, SelectReplica(k, args));
    for (const Nest& arg : mine.children()) {
      COHORT_ASSERT_OK_AND_ASSIGN(v.components, AssignInUpdate(v, AssignOp::kAdd, k, arg));
    }
  }
  EXPECT_EQ(Shown(v.components), "float32 [] [13] | float32 [] [14]");
}

TEST(Section5, Rule5x14ReduceThenUpdate) {
  const struct {
    VariableState v;
    std::string want;
  } kTable[] = {
      {{"v", VariableKind::kMirrored, VariableAggregation::kNone, Mirrored(2), {Float(0), Float(0)}},
       "float32 [] [2] | float32 [] [2]"},
      {{"v", VariableKind::kAggregating, VariableAggregation::kNone, {StrategyKind::kCentralStorage, 1, 2}, {Float(0)}},
       "float32 [] [2]"},
      {{"v", VariableKind::kPlain, VariableAggregation::kNone, kOneDevice, {Float(0)}}, "float32 [] [1]"},
  };
  for (const auto& row : kTable) {
    const std::vector<Nest> ones(row.v.strategy.num_replicas(), 1.0);
    COHORT_ASSERT_OK_AND_ASSIGN(const Nest grouped, Regroup(ones, Wrap::kAlways));
    COHORT_ASSERT_OK_AND_ASSIGN(
        const Nest sum,
        Reduce(row.v.strategy, kSum, row.v.strategy.num_replicas() == 1 ? grouped.children()[0] : grouped, kNoAxes));
    EXPECT_EQ(Shown(AssignCrossReplica(row.v, AssignOp::kAssign, sum)), row.want);
  }
}

TEST(Section5, Rule5x15BroadcastIsMirroredOrBare) {
  EXPECT_EQ(Shown(MirrorOver(2, Float(1))), "Mirrored:{0: float32 [] [1], 1: float32 [] [1]}");
  EXPECT_EQ(Shown(MirrorOver(1, Float(1))), "float32 [] [1]");
}

TEST(Section5, Rule5x16LocalResults) {
  EXPECT_EQ(Shown(LocalResults(2, Each({1, 2}))), "1 | 2");
  EXPECT_EQ(Shown(LocalResults(2, Nest::Map({{"a", Each({1, 2})}, {"b", 5}}))), "{a: 1, b: 5} | {a: 2, b: 5}");
  EXPECT_EQ(Shown(LocalResults(2, Nest::List({Each({1, 2})}))), "[1] | [2]");
  EXPECT_EQ(Shown(LocalResults(2, Nest::Tuple({Each({1, 2}), 3}))), "(1, 3) | (2, 3)");
  EXPECT_EQ(Shown(LocalResults(2, 5)), "5");
  const ObjectRef variable{std::make_shared<const int>(0), 2, -1, "v"};
  EXPECT_EQ(Shown(LocalResults(2, variable)), "v component 0 | v component 1");
  EXPECT_THAT(LocalResults(2, Nest::List({Each({1, 2, 3})})), StatusIs(kInvalid, HasSubstr("[0]")));
}

TEST(Section5, Rule5x17UnwrapIsLocalResults) { EXPECT_EQ(Shown(LocalResults(1, Each({4}))), "4"); }

std::string Gathered(const StrategyShape& strategy, const Nest& value, int64_t axis) {
  return Shown(Gather(strategy, value, axis));
}

TEST(Section5, Rule5x18GatherRowsOfUnequalNumbers) {
  const Nest value = Each({Tensor::Of<int32_t>({1, 1}, {1}), Tensor::Of<int32_t>({2, 1}, {2, 3})});
  EXPECT_EQ(Gathered(Mirrored(2), value, 0), "int32 [3,1] [1, 2, 3]");
}

TEST(Section5, Rule5x18GatherColumns) {
  const Nest value = Each({Tensor::Of<int32_t>({1, 2}, {1, 2}), Tensor::Of<int32_t>({1, 1}, {3})});
  EXPECT_EQ(Gathered(Mirrored(2), value, 1), "int32 [1,3] [1, 2, 3]");
  EXPECT_EQ(Gathered(Mirrored(2), value, -1), "int32 [1,3] [1, 2, 3]");
  EXPECT_THAT(Gather(Mirrored(2), value, 0), StatusIs(kInvalid, AllOf(HasSubstr("[1,2]"), HasSubstr("[1,1]"))));
  EXPECT_EQ(Gathered(Mirrored(2), value, 2), "INVALID_ARGUMENT");
}

TEST(Section5, Rule5x18NoScalarsNoSparseNoOtherRanks) {
  EXPECT_EQ(Gathered(Mirrored(2), Each({Int(1), Int(2)}), 0), "INVALID_ARGUMENT");
  EXPECT_EQ(Gathered(Mirrored(2), Each({Vec<float>({1}), Tensor::Of<float>({1, 1}, {1})}), 0), "INVALID_ARGUMENT");
  const IndexedSlices rows = Rows({1}, {0}, {2, 1});
  EXPECT_EQ(Gathered(Mirrored(2), Each({rows, rows}), 0), "UNIMPLEMENTED");
}

TEST(Section5, Rule5x18PlainTensorComesBack) {
  EXPECT_EQ(Gathered(Mirrored(2), Vec<int32_t>({1, 2}), 0), "int32 [2] [1, 2]");
  EXPECT_EQ(Gathered(kOneDevice, Vec<int32_t>({1, 2}), 0), "int32 [2] [1, 2]");
}

TEST(Section5, Rule5x18WorkersInReplicaOrder) {
  EXPECT_EQ(Gathered(MultiWorker(2, 1), Each({Vec<int32_t>({0}), Vec<int32_t>({1, 1})}), 0), "int32 [3] [0, 1, 1]");
}

TEST(Section5, Rule5x18NestsLeafByLeaf) {
  const Nest value = Nest::List({Each({Vec<int32_t>({1}), Vec<int32_t>({2})}), Vec<float>({7})});
  EXPECT_EQ(Gathered(Mirrored(2), value, 0), "[int32 [2] [1, 2], float32 [1] [7]]");
}

TEST(Section5, Rule5x18GatherOfUnequalLengths) {  // R22
  const Tensor two = Tensor::Of<float>({2, 2}, {1, 2, 3, 4}), one = Tensor::Of<float>({1, 2}, {5, 6});
  EXPECT_EQ(Gathered(Mirrored(2), Each({two, one}), 0), "float32 [3,2] [1, 2, 3, 4, 5, 6]");
  EXPECT_EQ(GatheredShape(std::vector<Shape>{{8}, {8}}, 0)->ToString(), "[16]");
  EXPECT_EQ(GatheredShape(std::vector<Shape>{{8}, {4}}, 0)->ToString(), "[12]");
  EXPECT_EQ(Gathered(Mirrored(2), Each({two, Tensor(DType::kF32, {0, 2})}), 0), "float32 [2,2] [1, 2, 3, 4]");
  EXPECT_THAT(Gather(Mirrored(2), Each({two, one}), 1),
              StatusIs(kInvalid, AllOf(HasSubstr("[2,2]"), HasSubstr("[1,2]"))));
}

TEST(Section5, Rule5x19AllReduceOfReplicaIds) { EXPECT_EQ(Shown(AllReduce(kSum, {Int(0), Int(1)})), "int32 [] [1]"); }

TEST(Section5, Rule5x19AllReduceOfAPair) {
  const std::vector<Nest> pairs = {Nest::Tuple({Float(1), Vec<float>({39, 2})}),
                                   Nest::Tuple({Float(3), Vec<float>({3, 41})})};
  EXPECT_EQ(Shown(AllReduce(kSum, pairs)), "(float32 [] [4], float32 [2] [42, 43])");
  EXPECT_EQ(Shown(AllReduce(kMean, pairs)), "(float32 [] [2], float32 [2] [21, 21.5])");
}

TEST(Section5, Rule5x19GradientIsAnAllReduceWithTheSameOp) {
  // y = all_reduce(SUM, 2x): each replica's dy is 1, so d(2x) = all_reduce(SUM, 1) = 2 and dx = 2 * 2.
  COHORT_ASSERT_OK_AND_ASSIGN(const Nest upstream, AllReduce(kSum, {Float(1), Float(1)}));
  EXPECT_EQ(2 * upstream.tensor().values<float>()[0], 4);
}

TEST(Section5, Rule5x19AllGather) {
  EXPECT_EQ(Shown(AllGather({Vec<int32_t>({1, 2, 3}), Vec<int32_t>({1, 2, 3})}, 0)), "int32 [6] [1, 2, 3, 1, 2, 3]");
  EXPECT_EQ(Shown(AllGather({Tensor::Of<int32_t>({1, 2}, {1, 2}), Tensor::Of<int32_t>({2, 2}, {3, 4, 5, 6})}, 0)),
            "int32 [3,2] [1, 2, 3, 4, 5, 6]");
}

TEST(Section5, Rule5x19ReplicasMustGiveOneStructureShapeAndDType) {
  EXPECT_THAT(AllReduce(kSum, {Nest::List({Float(1)}), Nest::List({Float(1), Float(2)})}),
              StatusIs(kInvalid, HasSubstr("structure mismatch")));
  EXPECT_THAT(AllReduce(kSum, {Nest::List({Vec<float>({1})}), Nest::List({Vec<float>({1, 2})})}),
              StatusIs(kInvalid, AllOf(HasSubstr("[0]: "), HasSubstr("[1]"), HasSubstr("[2]"))));
  EXPECT_THAT(AllReduce(kSum, {Float(1), Int(1)}), HasCode(kInvalid));
  EXPECT_EQ(Shown(AllReduce(kMean, {Int(1), Int(2)})), "float64 [] [1.5]");
}

TEST(Section5, Rule5x20ValuesFromAFunctionAreAlwaysPerReplica) {
  const auto values = [](const StrategyShape& strategy, int worker, auto value_fn) {
    std::vector<Nest> made;
    for (const int id : ReplicaIdsOf(strategy, worker)) made.push_back(value_fn(id));
    return Shown(Regroup(made, Wrap::kAlways));
  };
  EXPECT_EQ(values(Mirrored(2), 0, [](int) { return 2; }), "PerReplica:{0: 2, 1: 2}");
  EXPECT_EQ(values(Mirrored(2), 0, [](int id) { return 3.0 - id; }), "PerReplica:{0: 3, 1: 2}");
  EXPECT_EQ(values(MultiWorker(2, 1), 1, [](int id) { return id; }), "PerReplica:{0: 1}");
}

}  // namespace
}  // namespace cohort
