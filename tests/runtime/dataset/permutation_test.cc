#include "runtime/dataset/permutation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace cohort {
namespace {

std::vector<int64_t> Order(int64_t n, uint64_t key) {
  const Permutation permutation(n, key);
  std::vector<int64_t> order;
  for (int64_t i = 0; i < n; ++i) order.push_back(permutation(i));
  return order;
}

TEST(PermutationTest, EveryNumberComesOnce) {
  for (int64_t n : {1, 2, 3, 5, 8, 10, 99, 100, 101, 1000, 60000}) {
    for (uint64_t key : {uint64_t{0}, uint64_t{1}, EpochKey(7, 3)}) {
      std::vector<bool> seen(n, false);
      for (const int64_t value : Order(n, key)) {
        ASSERT_GE(value, 0);
        ASSERT_LT(value, n);
        ASSERT_FALSE(seen[value]) << value << " twice, n=" << n;
        seen[value] = true;
      }
    }
  }
}

TEST(PermutationTest, WorksUpToItsLimit) {
  const Permutation permutation(int64_t{1} << 62, 1);
  for (int64_t i : {int64_t{0}, int64_t{1}, (int64_t{1} << 62) - 1}) {
    EXPECT_GE(permutation(i), 0);
    EXPECT_LT(permutation(i), int64_t{1} << 62);
  }
}

TEST(PermutationTest, OrdersOfSeedsAndEpochsDiffer) {
  const std::vector<int64_t> order = Order(1000, EpochKey(0, 0));
  EXPECT_EQ(order, Order(1000, EpochKey(0, 0)));
  EXPECT_NE(order, Order(1000, EpochKey(0, 1)));
  EXPECT_NE(order, Order(1000, EpochKey(1, 0)));
  EXPECT_NE(Order(1000, EpochKey(1, 0)), Order(1000, EpochKey(0, 1)));
}

// The rank correlation of a random order with the identity has deviation 1 / sqrt(n - 1) = 0.004; so has that of
// neighbours. Five deviations.
TEST(PermutationTest, NeitherFollowsTheFileNorItself) {
  constexpr int64_t kN = 60000;
  const std::vector<int64_t> order = Order(kN, EpochKey(0, 0));
  const double mean = (kN - 1) / 2.0;
  const double variance = (static_cast<double>(kN) * kN - 1) / 12.0;
  double with_place = 0, with_next = 0;
  for (int64_t i = 0; i < kN; ++i) {
    with_place += (order[i] - mean) * (i - mean);
    with_next += (order[i] - mean) * (order[(i + 1) % kN] - mean);
  }
  EXPECT_LT(std::abs(with_place / kN / variance), 0.02);
  EXPECT_LT(std::abs(with_next / kN / variance), 0.02);
}

// The values are a promise: an order kept in a checkpoint as (seed, epoch, place) must come back.
TEST(PermutationTest, ValuesNeverChange) {
  EXPECT_THAT(Order(10, EpochKey(0, 0)), ::testing::ElementsAre(3, 8, 4, 9, 5, 0, 7, 6, 2, 1));
}

}  // namespace
}  // namespace cohort
