#ifndef COHORT_RUNTIME_DISTRIBUTE_BATCH_SPLIT_H_
#define COHORT_RUNTIME_DISTRIBUTE_BATCH_SPLIT_H_

#include <cstdint>

namespace cohort {

// How the examples of an epoch become global batches, and a global batch the parts of the workers. Pure functions; N is
// the number of examples of an epoch, G the global batch size, W the number of workers (or replicas), w one of them.

// Positions [begin, end) in an epoch.
struct ExampleRange {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
  friend bool operator==(const ExampleRange&, const ExampleRange&) = default;
};

// Worker w's part of a batch of `examples`, as positions in the batch: contiguous, in rank order, examples div W each,
// the first (examples mod W) workers one more. 7 over 3 workers: [0,3) [3,5) [5,7). A part may be empty.
ExampleRange WorkerPart(int64_t examples, int64_t num_workers, int64_t worker);

// ceil(N / G).
int64_t BatchesPerEpoch(int64_t examples, int64_t global_batch);

// Batch b of an epoch, from 0: [bG, min((b + 1)G, N)).
ExampleRange BatchRange(int64_t batch, int64_t examples, int64_t global_batch);

// Worker w's part of batch b as positions in the epoch: every worker has a part in every batch, and a short last batch
// is split as evenly as a full one.
ExampleRange WorkerBatchRange(int64_t batch, int64_t examples, int64_t global_batch, int64_t num_workers,
                              int64_t worker);

// Dealing for a parameter server: each step of a worker takes a whole batch; batch b of an epoch goes to worker b mod
// W.

// Steps of worker w in one epoch of `batches`; summed over the workers: `batches`.
int64_t DealtBatches(int64_t batches, int64_t num_workers, int64_t worker);

// Steps of all workers together in `epochs` epochs: E * ceil(N / G).
int64_t DealtSteps(int64_t epochs, int64_t examples, int64_t global_batch);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DISTRIBUTE_BATCH_SPLIT_H_
