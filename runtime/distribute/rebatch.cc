#include "runtime/distribute/rebatch.h"

#include <algorithm>
#include <utility>

namespace cohort {

std::vector<int64_t> RebatchSizes(int64_t global_batch, int64_t num_workers, int64_t replicas_per_worker,
                                  int64_t worker) {
  const int64_t replicas = num_workers * replicas_per_worker;
  std::vector<int64_t> sizes(replicas, global_batch / replicas);
  for (int64_t i = 0; i < global_batch % replicas; ++i) ++sizes[i];
  std::rotate(sizes.begin(), sizes.begin() + worker * replicas_per_worker, sizes.end());
  return sizes;
}

int64_t RebatchCursor::wanted() const { return std::max<int64_t>(sizes_[turn_], turn_ == 0 ? 1 : 0); }

std::optional<int64_t> RebatchCursor::Next(int64_t left) {
  if (left == 0 && wanted() > 0) return std::nullopt;
  const int64_t size = std::min(sizes_[turn_], left);
  turn_ = (turn_ + 1) % sizes_.size();
  return size;
}

std::vector<ExampleRange> RebatchRanges(int64_t rows, std::vector<int64_t> sizes) {
  std::vector<ExampleRange> ranges;
  RebatchCursor cursor(std::move(sizes));
  int64_t begin = 0;
  while (const std::optional<int64_t> size = cursor.Next(rows - begin)) {
    ranges.push_back({begin, begin + *size});
    begin += *size;
  }
  return ranges;
}

ExampleRange SplitPiece(int64_t rows, int64_t pieces, int64_t piece) {
  const int64_t size = rows / pieces + (rows % pieces != 0 ? 1 : 0);
  const int64_t begin = std::min(rows, piece * size);
  return {begin, std::min(rows, begin + size)};
}

}  // namespace cohort
