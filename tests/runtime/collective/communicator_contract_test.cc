// What every backend's Communicator computes. Inputs are small integers, so that every result is exact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/base/mutex.h"
#include "runtime/tensor/element_type.h"
#include "tests/runtime/collective/world.h"
#include "tests/testing/status_matchers.h"

namespace cohort::testing {
namespace {

class CommunicatorContractTest : public ::testing::TestWithParam<std::tuple<Backend, int>> {
 protected:
  Backend backend() const { return std::get<0>(GetParam()); }
  int size() const { return std::get<1>(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Backends, CommunicatorContractTest,
                         ::testing::Combine(::testing::Values(Backend::kInProcess, Backend::kGrpc),
                                            ::testing::Values(1, 2, 3, 4, 5)),
                         [](const auto& test) {
                           return std::string(BackendName(std::get<0>(test.param))) + "Of" +
                                  std::to_string(std::get<1>(test.param));
                         });

// Small values that 16-bit floats hold exactly: rank r puts 1 + (i + r) mod 7 at i.
int Input(int rank, int64_t i) { return static_cast<int>(1 + (i + rank) % 7); }

int64_t Expected(ReduceOp op, int size, int64_t i) {
  int64_t result = Input(0, i);
  for (int r = 1; r < size; ++r) {
    const int64_t next = Input(r, i);
    if (op == ReduceOp::kSum) result += next;
    if (op == ReduceOp::kProd) result *= next;
    if (op == ReduceOp::kMin) result = std::min(result, next);
    if (op == ReduceOp::kMax) result = std::max(result, next);
  }
  return result;
}

template <typename T>
void CheckAllReduce(World& world, int64_t count, ReduceOp op) {
  world.Run([&](Communicator& comm) {
    std::vector<T> values(count);
    for (int64_t i = 0; i < count; ++i) values[i] = T(Input(comm.rank(), i));
    COHORT_ASSERT_OK(comm.AllReduce(Span(values), op, Call("g")));
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; ++i) wrong += values[i] == T(Expected(op, comm.world_size(), i)) ? 0 : 1;
    EXPECT_EQ(wrong, 0) << DTypeName(kDTypeOf<T>) << " [" << count << "], op " << static_cast<int>(op);
  });
}

TEST_P(CommunicatorContractTest, AllReduceOfEveryCount) {
  World world(backend(), size());
  for (const int64_t count : {0, 1, size() - 1, size(), size() + 1, 1000, 300007}) {
    CheckAllReduce<float>(world, count, ReduceOp::kSum);
  }
}

TEST_P(CommunicatorContractTest, AllReduceOfEveryDTypeAndOp) {
  World world(backend(), size(), {.piece_bytes = 4096, .small_bytes = 512});
  for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMin, ReduceOp::kMax, ReduceOp::kProd}) {
    for (const int64_t count : {17, 5003}) {
      CheckAllReduce<float>(world, count, op);
      CheckAllReduce<double>(world, count, op);
      CheckAllReduce<int32_t>(world, count, op);
      CheckAllReduce<int64_t>(world, count, op);
      CheckAllReduce<uint32_t>(world, count, op);
      CheckAllReduce<uint64_t>(world, count, op);
      CheckAllReduce<int16_t>(world, count, op);
      CheckAllReduce<uint16_t>(world, count, op);
      CheckAllReduce<int8_t>(world, count, op);  // products wrap
      CheckAllReduce<uint8_t>(world, count, op);
      CheckAllReduce<Float16>(world, count, op);
      CheckAllReduce<BFloat16>(world, count, op);
    }
  }
}

TEST_P(CommunicatorContractTest, AllReduceOfBoolIsOrAndAnd) {
  World world(backend(), size());
  world.Run([&](Communicator& comm) {
    bool any[2] = {comm.rank() == 0, false};
    COHORT_ASSERT_OK(comm.AllReduce({any, 2, DType::kBool}, ReduceOp::kSum, Call("any")));
    EXPECT_TRUE(any[0]);
    EXPECT_FALSE(any[1]);
    bool all[2] = {comm.rank() != 0, true};
    COHORT_ASSERT_OK(comm.AllReduce({all, 2, DType::kBool}, ReduceOp::kProd, Call("all")));
    EXPECT_FALSE(all[0]);
    EXPECT_TRUE(all[1]);
  });
}

// Cutting never changes bits: random floats, every way to cut gives what folding in rank order gives.
TEST_P(CommunicatorContractTest, PiecesOfAnySizeGiveEqualBits) {
  constexpr int64_t kCount = 10007;
  std::vector<std::vector<float>> inputs(size(), std::vector<float>(kCount));
  std::mt19937 random(1);
  for (std::vector<float>& input : inputs) {
    for (float& value : input) value = static_cast<float>(random()) / 1000.0f - 1e6f;
  }
  std::vector<float> want = inputs[0];
  for (int r = 1; r < size(); ++r) {
    for (int64_t i = 0; i < kCount; ++i) want[i] += inputs[r][i];
  }
  for (const int64_t piece : {4, 1, 100, 1000, 4097, 65536}) {
    World world(backend(), size(), {.piece_bytes = piece == 1 ? int64_t{37} : piece * 4, .small_bytes = 64});
    world.Run([&](Communicator& comm) {
      std::vector<float> values = inputs[comm.rank()];
      if (piece == 4) values.resize(500);
      const size_t bytes = values.size() * sizeof(float);
      COHORT_ASSERT_OK(comm.AllReduce(Span(values), ReduceOp::kSum, Call("g")));
      EXPECT_EQ(std::memcmp(values.data(), want.data(), bytes), 0) << "pieces of " << piece;
    });
  }
}

TEST_P(CommunicatorContractTest, BroadcastFromEveryRoot) {
  World world(backend(), size(), {.piece_bytes = 40000});
  for (int root = 0; root < size(); ++root) {
    for (const int64_t count : {0, 1, 1000, 70001}) {
      world.Run([&](Communicator& comm) {
        std::vector<int32_t> values(count, -1);
        if (comm.rank() == root) {
          for (int64_t i = 0; i < count; ++i) values[i] = static_cast<int32_t>(i + root);
        }
        COHORT_ASSERT_OK(comm.Broadcast(Span(values), root, Call("init")));
        for (int64_t i = 0; i < count; ++i) ASSERT_EQ(values[i], i + root);
      });
    }
  }
}

TEST_P(CommunicatorContractTest, AllGatherInRankOrder) {
  World world(backend(), size(), {.piece_bytes = 40000});
  for (const int64_t count : {0, 1, 1000, 30011}) {
    world.Run([&](Communicator& comm) {
      std::vector<int64_t> input(count);
      for (int64_t i = 0; i < count; ++i) input[i] = 100 * i + comm.rank();
      std::vector<int64_t> output(count * size(), -1);
      COHORT_ASSERT_OK(comm.AllGather(Span(input), Span(output), Call("all")));
      for (int r = 0; r < size(); ++r) {
        for (int64_t i = 0; i < count; ++i) ASSERT_EQ(output[r * count + i], 100 * i + r);
      }
    });
  }
}

TEST_P(CommunicatorContractTest, AllGatherInPlace) {
  World world(backend(), size());
  world.Run([&](Communicator& comm) {
    std::vector<float> output(2 * size(), -1);
    float* const own = output.data() + 2 * comm.rank();
    own[0] = own[1] = static_cast<float>(comm.rank());
    COHORT_ASSERT_OK(comm.AllGather({own, 2, DType::kF32}, Span(output), Call("all")));
    for (int i = 0; i < 2 * size(); ++i) EXPECT_EQ(output[i], i / 2);
  });
}

TEST_P(CommunicatorContractTest, NobodyPassesABarrierBeforeAllCame) {
  World world(backend(), size());
  Mutex mu;
  int came = 0;
  for (int round = 1; round <= 20; ++round) {
    world.Run([&](Communicator& comm) {
      {
        MutexLock lock(&mu);
        ++came;
      }
      COHORT_ASSERT_OK(comm.Barrier(Call("b")));
      MutexLock lock(&mu);
      EXPECT_EQ(came, round * size());
    });
  }
}

TEST_P(CommunicatorContractTest, ManyCallsOfAllKindsInOneOrder) {
  World world(backend(), size());
  world.Run([&](Communicator& comm) {
    const float sum = static_cast<float>(size() * (size() + 1) / 2);
    std::vector<float> small(8);
    std::vector<float> large(50000);
    std::vector<float> gathered(8 * size());
    for (int step = 1; step <= 30; ++step) {
      std::fill(small.begin(), small.end(), comm.rank() + 1);
      std::fill(large.begin(), large.end(), comm.rank() + 1);
      COHORT_ASSERT_OK(comm.AllReduce(Span(large), ReduceOp::kSum, Call("large")));
      COHORT_ASSERT_OK(comm.AllReduce(Span(small), ReduceOp::kSum, Call("small")));
      COHORT_ASSERT_OK(comm.AllGather(Span(small), Span(gathered), Call("gather")));
      COHORT_ASSERT_OK(comm.Broadcast(Span(large), step % size(), Call("broadcast")));
      COHORT_ASSERT_OK(comm.Barrier(Call("barrier")));
      ASSERT_THAT(small, ::testing::Each(sum));
      ASSERT_THAT(gathered, ::testing::Each(sum));
      ASSERT_EQ(large.front(), sum);
      ASSERT_EQ(large.back(), sum);
    }
  });
}

class BackendTest : public ::testing::TestWithParam<Backend> {};
INSTANTIATE_TEST_SUITE_P(Backends, BackendTest, ::testing::Values(Backend::kInProcess, Backend::kGrpc),
                         [](const auto& test) { return BackendName(test.param); });

TEST_P(BackendTest, AMillionElementsOnThreeRanks) {
  World world(GetParam(), 3);
  CheckAllReduce<float>(world, 1000003, ReduceOp::kSum);
  EXPECT_GE(world.comm(0).bytes_sent(), 4 * 1000003 * 4 / 3 - 64);  // 2 (n - 1) / n of the buffer
  EXPECT_LE(world.comm(0).bytes_sent(), 4 * 1000003 * 4 / 3 + 64);
}

// 1e8 + 1 is 1e8 in float32, so the order of additions shows.
TEST_P(BackendTest, FoldsInRankOrder) {
  World world(GetParam(), 4);
  for (const int64_t count : {1, 40000}) {
    world.Run([&](Communicator& comm) {
      const float mine[] = {1e8f, 1.0f, -1e8f, 1.0f};
      std::vector<float> values(count, mine[comm.rank()]);
      COHORT_ASSERT_OK(comm.AllReduce(Span(values), ReduceOp::kSum, Call("g")));
      EXPECT_THAT(values, ::testing::Each(1.0f));
    });
  }
}

TEST_P(BackendTest, HalfPrecisionSumsInFloatAndRoundsOnce) {
  World world(GetParam(), 4);
  for (const int64_t count : {1, 80000}) {
    world.Run([&](Communicator& comm) {
      const float mine[] = {256, 1, 1, 2};  // rounded after each addition: 258
      std::vector<BFloat16> values(count, BFloat16(mine[comm.rank()]));
      COHORT_ASSERT_OK(comm.AllReduce(Span(values), ReduceOp::kSum, Call("g")));
      for (const BFloat16 value : values) ASSERT_EQ(static_cast<float>(value), 260.0f);
    });
  }
}

TEST_P(BackendTest, Float16AboveItsRangeIsInfinity) {
  World world(GetParam(), 2);
  world.Run([&](Communicator& comm) {
    std::vector<Float16> values = {Float16(comm.rank() == 0 ? 60000.0f : 40032.0f)};
    COHORT_ASSERT_OK(comm.AllReduce(Span(values), ReduceOp::kSum, Call("g")));
    EXPECT_EQ(static_cast<float>(values[0]), std::numeric_limits<float>::infinity());
  });
}

}  // namespace
}  // namespace cohort::testing
