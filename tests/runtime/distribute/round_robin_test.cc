#include "runtime/distribute/round_robin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace cohort {
namespace {

using ::testing::ElementsAre;

std::vector<int64_t> Deal(int64_t num_ps, int count) {
  RoundRobin placement(num_ps);
  std::vector<int64_t> servers;
  for (int i = 0; i < count; ++i) servers.push_back(placement.Next());
  return servers;
}

TEST(RoundRobinTest, VariablesGoToServersInTurn) {
  EXPECT_THAT(Deal(2, 5), ElementsAre(0, 1, 0, 1, 0));
  EXPECT_THAT(Deal(3, 4), ElementsAre(0, 1, 2, 0));
  EXPECT_THAT(Deal(1, 3), ElementsAre(0, 0, 0));
}

TEST(RoundRobinTest, EachShardCounts) {
  RoundRobin placement(2);
  EXPECT_EQ(placement.Next(), 0);  // t, rows 0-4
  EXPECT_EQ(placement.Next(), 1);  // t, rows 5-9
  EXPECT_EQ(placement.Next(), 0);  // s
}

}  // namespace
}  // namespace cohort
