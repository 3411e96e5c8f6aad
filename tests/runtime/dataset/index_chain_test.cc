#include "runtime/dataset/index_chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<int64_t> Indices(IndexChain& chain, int64_t epoch = 0) {
  std::vector<int64_t> indices;
  for (int64_t p = 0; p < chain.size(); ++p) indices.push_back(chain.At(epoch, p).index);
  return indices;
}

TEST(IndexChainTest, TakeSkipAndShardChoose) {
  IndexChain chain(20);
  chain.Skip(3);
  chain.Take(10);
  EXPECT_THAT(Indices(chain), ElementsAre(3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
  chain.Shard(4, 1);
  EXPECT_THAT(Indices(chain), ElementsAre(4, 8, 12));
  chain.Skip(5);
  EXPECT_THAT(Indices(chain), IsEmpty());
}

TEST(IndexChainTest, ShardsTogetherHaveEverythingOnce) {
  for (int64_t index = 0; index < 3; ++index) {
    IndexChain chain(10);
    chain.Shard(3, index);
    EXPECT_EQ(chain.size(), index == 0 ? 4 : 3);
    EXPECT_EQ(chain.At(0, chain.size() - 1).index, index == 0 ? 9 : 6 + index);
  }
}

TEST(IndexChainTest, RepetitionsAreEpochsOfWhatTheyRepeat) {
  IndexChain once(5);
  COHORT_ASSERT_OK(once.Shuffle(1));
  IndexChain twice = once;
  twice.Repeat(2);
  std::vector<int64_t> want = Indices(once, 2);
  for (const int64_t index : Indices(once, 3)) want.push_back(index);
  EXPECT_EQ(Indices(twice, 1), want);
  EXPECT_EQ(twice.At(1, 7).epoch, 3);
}

TEST(IndexChainTest, EndlessOnesGoOn) {
  IndexChain chain(3);
  chain.Repeat(-1);
  EXPECT_EQ(chain.size(), IndexChain::kEndless);
  EXPECT_EQ(chain.At(0, 3'000'001).index, 1);
  EXPECT_EQ(chain.Shuffle(0).code(), absl::StatusCode::kInvalidArgument);
  chain.Shard(2, 1);
  EXPECT_EQ(chain.size(), IndexChain::kEndless);
  chain.Take(4);
  EXPECT_THAT(Indices(chain), ElementsAre(1, 0, 2, 1));
}

TEST(IndexChainTest, NothingRepeatedIsNothing) {
  IndexChain chain(0);
  chain.Repeat(-1);
  EXPECT_EQ(chain.size(), 0);
  IndexChain never(4);
  never.Repeat(0);
  EXPECT_EQ(never.size(), 0);
}

}  // namespace
}  // namespace cohort
