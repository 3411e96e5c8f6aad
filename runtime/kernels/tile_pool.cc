#include "runtime/kernels/tile_pool.h"

#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/base/cpu_count.h"

namespace cohort {
namespace {

constexpr int kSpins = 20000;  // about 20-50 us of pauses: longer than the gap between two kernels of a step

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

TilePool::TilePool(int threads) {
  // With more threads than CPUs a spinning one takes the CPU from one that has work.
  spins_ = threads <= UsableCpuCount() ? kSpins : 0;
  for (int i = 1; i < threads; ++i) {
    helpers_.emplace_back("compute/" + std::to_string(i), [this] { Help(); });
  }
}

TilePool::~TilePool() {
  stopping_ = true;
  { MutexLock lock(&mu_); }  // sleepers look again
  for (Thread& helper : helpers_) helper.Join();
}

void TilePool::ParallelFor(int64_t tiles, absl::FunctionRef<void(int64_t)> body) {
  if (helpers_.empty() || tiles <= 1) {
    for (int64_t tile = 0; tile < tiles; ++tile) body(tile);
    return;
  }
  body_.store(&body, std::memory_order_relaxed);
  tiles_.store(tiles, std::memory_order_relaxed);
  done_.store(0, std::memory_order_relaxed);
  const uint32_t generation = static_cast<uint32_t>(ticket_.load(std::memory_order_relaxed) >> 32) + 1;
  ticket_.store(uint64_t{generation} << 32 | static_cast<uint32_t>(tiles));
  if (sleepers_.load() > 0) {
    MutexLock lock(&mu_);  // on release the sleepers' conditions are looked at
  }
  Work(generation);
  for (int spins = 0; done_.load(std::memory_order_acquire) != tiles; ++spins) {
    if (spins < spins_) {
      Pause();
    } else {
      std::this_thread::yield();  // the helper that runs the last tile may share this CPU
    }
  }
}

void TilePool::Work(uint32_t generation) {
  uint64_t ticket = ticket_.load(std::memory_order_acquire);
  while (static_cast<uint32_t>(ticket >> 32) == generation) {
    const int64_t left = static_cast<uint32_t>(ticket);
    if (left == 0) return;
    if (!ticket_.compare_exchange_weak(ticket, ticket - 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
      continue;
    }
    // The job cannot end without this tile: until it is done, body and number of tiles are this job's.
    const int64_t tile = tiles_.load(std::memory_order_relaxed) - left;
    (*body_.load(std::memory_order_relaxed))(tile);
    done_.fetch_add(1, std::memory_order_release);
    ticket = ticket_.load(std::memory_order_acquire);
  }
}

void TilePool::Help() {
  uint32_t seen = 0;
  const auto has_news = [&] { return stopping_.load() || static_cast<uint32_t>(ticket_.load() >> 32) != seen; };
  while (!stopping_.load()) {
    int spins = 0;
    while (!has_news() && spins < spins_) {
      Pause();
      ++spins;
    }
    if (!has_news()) {
      ++sleepers_;
      {
        MutexLock lock(&mu_);
        mu_.AwaitWithDeadline(has_news, absl::Now() + absl::Seconds(10));
      }
      --sleepers_;
      continue;
    }
    seen = static_cast<uint32_t>(ticket_.load(std::memory_order_acquire) >> 32);
    Work(seen);
  }
}

}  // namespace cohort
