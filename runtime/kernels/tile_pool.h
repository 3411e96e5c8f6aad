#ifndef COHORT_RUNTIME_KERNELS_TILE_POOL_H_
#define COHORT_RUNTIME_KERNELS_TILE_POOL_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "runtime/base/mutex.h"
#include "runtime/base/thread.h"

namespace cohort {

// A fixed number of threads that run the tiles of one kernel at a time. Kernels are cut into tiles by shape alone, and
// a tile's result does not depend on who runs it, so the number of threads never changes bits.
// Used by one thread at a time (the step thread), which takes part in the work. Helpers spin for some microseconds
// between kernels, then sleep.
class TilePool {
 public:
  // `threads` >= 1, the caller's included: 1 starts none.
  explicit TilePool(int threads);
  ~TilePool();
  TilePool(const TilePool&) = delete;
  TilePool& operator=(const TilePool&) = delete;

  int threads() const { return static_cast<int>(helpers_.size()) + 1; }

  // Calls body(tile) once for each tile in [0, tiles) and returns when all are done. One tile, or one thread: a plain
  // loop in order. Does not allocate. tiles < 2^31.
  void ParallelFor(int64_t tiles, absl::FunctionRef<void(int64_t)> body);

 private:
  void Help();
  // Takes tiles of generation `generation` until there are none left.
  void Work(uint32_t generation);

  // Generation of the job in the high half, tiles that nobody has taken yet in the low half: a tile is taken by one
  // exchange that fails if either has changed, so a helper that comes late can take none, neither of its own job nor of
  // the next one while that is being written down. What follows is read only by those who hold a tile.
  std::atomic<uint64_t> ticket_{0};
  std::atomic<const absl::FunctionRef<void(int64_t)>*> body_{nullptr};
  std::atomic<int64_t> tiles_{0};
  std::atomic<int64_t> done_{0};
  std::atomic<int> sleepers_{0};
  std::atomic<bool> stopping_{false};
  int spins_ = 0;
  Mutex mu_;  // only to sleep on
  std::vector<Thread> helpers_;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_KERNELS_TILE_POOL_H_
