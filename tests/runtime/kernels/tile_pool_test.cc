#include "runtime/kernels/tile_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace cohort {
namespace {

TEST(TilePoolTest, RunsEveryTileOnce) {
  for (const int threads : {1, 2, 4}) {
    TilePool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const int tiles : {0, 1, 2, 3, 100}) {
      std::vector<std::atomic<int>> runs(tiles);
      pool.ParallelFor(tiles, [&](int64_t tile) { ++runs[tile]; });
      for (const auto& count : runs) EXPECT_EQ(count, 1) << threads << " threads, " << tiles << " tiles";
    }
  }
}

TEST(TilePoolTest, OneCallIsOverBeforeTheNextBegins) {
  TilePool pool(3);
  int64_t sum = 0;  // written by the caller alone, between calls
  std::vector<int64_t> parts(7);
  for (int64_t round = 0; round < 5000; ++round) {
    pool.ParallelFor(7, [&](int64_t tile) { parts[tile] = round + tile; });
    for (int64_t tile = 0; tile < 7; ++tile) {
      ASSERT_EQ(parts[tile], round + tile);
      sum += parts[tile];
    }
  }
  EXPECT_EQ(sum, 7 * 5000 * 4999 / 2 + 21 * 5000);
}

// A helper that still looks for tiles of a small job while a large one is being set up must not run one of those.
TEST(TilePoolTest, LateHelpersTakeNoTileOfTheNextCall) {
  TilePool pool(4);
  std::vector<std::atomic<int>> runs(9);
  for (int64_t round = 0; round < 50000; ++round) {
    const int64_t tiles = round % 2 == 0 ? 2 : 9;
    pool.ParallelFor(tiles, [&](int64_t tile) { ++runs[tile]; });
    for (int64_t tile = 0; tile < 9; ++tile) ASSERT_EQ(runs[tile].exchange(0), tile < tiles ? 1 : 0) << round;
  }
}

}  // namespace
}  // namespace cohort
