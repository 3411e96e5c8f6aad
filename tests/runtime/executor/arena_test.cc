#include "runtime/executor/arena.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace cohort {
namespace {

TEST(ArenaTest, BlocksOfDifferentTimesShareMemory) {
  std::vector<ArenaBlock> blocks = {{100, 0, 1}, {100, 2, 3}, {100, 4, 5}};
  EXPECT_EQ(PackArena(blocks), 128u);
  for (const ArenaBlock& block : blocks) EXPECT_EQ(block.offset, 0u);
}

TEST(ArenaTest, ASmallBlockFillsAGap) {
  // 256 lives throughout; 192 and 64 share what is left of its time.
  std::vector<ArenaBlock> blocks = {{64, 2, 3}, {256, 0, 3}, {192, 0, 1}};
  EXPECT_EQ(PackArena(blocks), 448u);
  EXPECT_EQ(blocks[1].offset, 0u);
  EXPECT_EQ(blocks[2].offset, 256u);
  EXPECT_EQ(blocks[0].offset, 256u);
}

TEST(ArenaTest, NoTwoBlocksOverlapInTimeAndSpace) {
  std::vector<ArenaBlock> blocks;
  uint32_t state = 1;
  const auto next = [&](uint32_t limit) { return (state = state * 1664525u + 1013904223u) >> 8 & (limit - 1); };
  for (int i = 0; i < 300; ++i) {
    const int first = static_cast<int>(next(64));
    blocks.push_back({next(1024), first, first + static_cast<int>(next(16))});
  }
  const size_t bytes = PackArena(blocks);
  for (const ArenaBlock& a : blocks) {
    EXPECT_EQ(a.offset % kArenaAlignment, 0u);
    EXPECT_LE(a.offset + a.bytes, bytes);
    for (const ArenaBlock& b : blocks) {
      if (&a == &b || a.last < b.first || b.last < a.first || a.bytes == 0 || b.bytes == 0) continue;
      EXPECT_TRUE(a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset);
    }
  }
}

}  // namespace
}  // namespace cohort
