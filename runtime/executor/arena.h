#ifndef COHORT_RUNTIME_EXECUTOR_ARENA_H_
#define COHORT_RUNTIME_EXECUTOR_ARENA_H_

#include <cstddef>
#include <vector>

namespace cohort {

inline constexpr size_t kArenaAlignment = 64;

// A block of memory that is needed from launch `first` to launch `last`, both included.
struct ArenaBlock {
  size_t bytes = 0;
  int first = 0, last = 0;
  size_t offset = 0;  // result: a multiple of kArenaAlignment
};

// Gives each block a place such that blocks needed at the same time do not overlap, the largest first, each at the
// lowest place that is free. Returns the bytes that all of them need.
size_t PackArena(std::vector<ArenaBlock>& blocks);

}  // namespace cohort

#endif  // COHORT_RUNTIME_EXECUTOR_ARENA_H_
