// What groups compute: rule 9.3, on every backend.
#include <numeric>
#include <string>
#include <vector>

#include "runtime/collective/in_process/in_process_collectives.h"
#include "tests/runtime/collective/world.h"
#include "tests/testing/status_matchers.h"

namespace cohort::testing {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

class CollectivesTest : public ::testing::TestWithParam<Backend> {};

INSTANTIATE_TEST_SUITE_P(Backends, CollectivesTest, ::testing::Values(Backend::kInProcess, Backend::kGrpc),
                         [](const auto& test) { return std::string(BackendName(test.param)); });

TEST_P(CollectivesTest, Rule9x3AllReduceAndAMeanThatDividesAfterwards) {
  World world(GetParam(), 4);
  world.Run([](Communicator& comm) {
    std::vector<float> value = {comm.rank() + 1.0f};
    COHORT_ASSERT_OK(comm.AllReduce(Span(value), ReduceOp::kSum, Call("sum")));
    EXPECT_EQ(value[0], 10);
    EXPECT_EQ(value[0] / static_cast<float>(comm.world_size()), 2.5);
  });
}

TEST_P(CollectivesTest, Rule9x3AllGatherOfEqualLengths) {
  World world(GetParam(), 3);
  world.Run([](Communicator& comm) {
    std::vector<int32_t> input = {10 * comm.rank(), 10 * comm.rank() + 1};
    std::vector<int32_t> output(6);
    COHORT_ASSERT_OK(comm.AllGather(Span(input), Span(output), Call("gather")));
    EXPECT_EQ(output, (std::vector<int32_t>{0, 1, 10, 11, 20, 21}));
  });
}

TEST_P(CollectivesTest, Rule9x3AllGatherOfOtherLengthsNeedsPadding) {
  World world(GetParam(), 2);
  world.Run([](Communicator& comm) {
    std::vector<float> input(comm.rank() + 1), output(2 * input.size());
    EXPECT_THAT(comm.AllGather(Span(input), Span(output), Call("gather")), StatusIs(kInvalid));
  });
}

TEST_P(CollectivesTest, Rule9x3Broadcast) {
  for (const int size : {1, 2, 3}) {
    World world(GetParam(), size);
    world.Run([](Communicator& comm) {
      std::vector<int64_t> value = {comm.rank() == 0 ? int64_t{7} : int64_t{-1}};
      COHORT_ASSERT_OK(comm.Broadcast(Span(value), 0, Call("broadcast")));
      EXPECT_EQ(value[0], 7);
    });
  }
}

TEST_P(CollectivesTest, Rule9x3EveryNumericType) {
  World world(GetParam(), 2);
  world.Run([](Communicator& comm) {
    for (const DType dtype : {DType::kBF16, DType::kF16, DType::kF32, DType::kF64, DType::kI8, DType::kU8, DType::kI16,
                              DType::kU16, DType::kI32, DType::kU32, DType::kI64, DType::kU64, DType::kBool}) {
      std::vector<int64_t> zeros(2);
      COHORT_EXPECT_OK(comm.AllReduce({zeros.data(), 2, dtype}, ReduceOp::kSum, Call("sum"))) << dtype;
    }
  });
}

TEST_P(CollectivesTest, Rule9x3TextIsNoNumber) {
  World world(GetParam(), 2);
  world.Run([](Communicator& comm) {
    EXPECT_THAT(comm.AllReduce({nullptr, 1, DType::kString}, ReduceOp::kSum, Call("text")), StatusIs(kInvalid));
  });
}

TEST(GroupTest, Rule9x3GroupHasAtLeastOneMember) {
  InProcessCollectives collectives{ExchangeOptions()};
  EXPECT_THAT(collectives.Join(GroupSpec{}, absl::Now() + absl::Seconds(5)), StatusIs(kInvalid));
}

}  // namespace
}  // namespace cohort::testing
