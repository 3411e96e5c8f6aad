#ifndef COHORT_RUNTIME_DISTRIBUTE_REBATCH_H_
#define COHORT_RUNTIME_DISTRIBUTE_REBATCH_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/distribute/batch_split.h"

namespace cohort {

// How global batches become batches of replicas where the semantics are tf.distribute's to the letter (rules 7.5-7.7).
// G is the global batch size, W the number of workers, R the replicas of each, N = W R, w a worker. Pure functions.

// The sizes in which worker w cuts its stream of examples, in turn: G div N each, the first G mod N one more, rotated
// left by w R. So in every step all workers together take G. 7, 2, 2: [2,2,2,1] for w = 0, [2,1,2,2] for w = 1.
std::vector<int64_t> RebatchSizes(int64_t global_batch, int64_t num_workers, int64_t replicas_per_worker,
                                  int64_t worker);

// Cuts a stream of rows by a list of sizes, in turn; one of them must be positive.
class RebatchCursor {
 public:
  explicit RebatchCursor(std::vector<int64_t> sizes) : sizes_(std::move(sizes)) {}

  // Rows that must be known to be there, or not, before Next can tell: at least 1 where a round begins.
  int64_t wanted() const;
  // The size of the next batch, of the `left` rows that remain (or at least wanted()): a shorter one at the end; none
  // when nothing is left for a batch that wants some, or a round would begin. (tf.distribute gives one more empty batch
  // when the round begins with a size 0.)
  std::optional<int64_t> Next(int64_t left);

 private:
  std::vector<int64_t> sizes_;
  size_t turn_ = 0;
};

// All batches of a stream of `rows`.
std::vector<ExampleRange> RebatchRanges(int64_t rows, std::vector<int64_t> sizes);

// The rule for batches of unknown size, and for sharding by data: a batch of `rows` in `pieces` parts of
// ceil(rows / pieces), the last ones shorter or empty. 4 in 3: 2, 2, 0.
ExampleRange SplitPiece(int64_t rows, int64_t pieces, int64_t piece);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DISTRIBUTE_REBATCH_H_
