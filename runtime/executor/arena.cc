#include "runtime/executor/arena.h"

#include <algorithm>
#include <numeric>

namespace cohort {

size_t PackArena(std::vector<ArenaBlock>& blocks) {
  std::vector<int> order(blocks.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return blocks[a].bytes > blocks[b].bytes; });
  std::vector<const ArenaBlock*> placed;  // by offset
  size_t end = 0;
  for (const int id : order) {
    ArenaBlock& block = blocks[id];
    const size_t bytes = (block.bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
    size_t offset = 0;
    for (const ArenaBlock* other : placed) {
      if (other->last < block.first || block.last < other->first) continue;
      if (offset + bytes <= other->offset) break;  // a gap before it that is large enough
      offset =
          std::max(offset, (other->offset + other->bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment);
    }
    block.offset = offset;
    end = std::max(end, offset + bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), &block,
                                   [](const ArenaBlock* a, const ArenaBlock* b) { return a->offset < b->offset; }),
                  &block);
  }
  return end;
}

}  // namespace cohort
