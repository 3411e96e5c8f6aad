#include "runtime/distribute/batch_split.h"

#include <algorithm>

namespace cohort {

ExampleRange WorkerPart(int64_t examples, int64_t num_workers, int64_t worker) {
  const int64_t base = examples / num_workers;
  const int64_t larger = examples % num_workers;  // workers with one more
  const int64_t begin = worker * base + std::min(worker, larger);
  return {begin, begin + base + (worker < larger ? 1 : 0)};
}

int64_t BatchesPerEpoch(int64_t examples, int64_t global_batch) {
  return examples / global_batch + (examples % global_batch != 0 ? 1 : 0);
}

ExampleRange BatchRange(int64_t batch, int64_t examples, int64_t global_batch) {
  const int64_t begin = std::min(batch * global_batch, examples);
  return {begin, begin + std::min(global_batch, examples - begin)};
}

ExampleRange WorkerBatchRange(int64_t batch, int64_t examples, int64_t global_batch, int64_t num_workers,
                              int64_t worker) {
  const ExampleRange whole = BatchRange(batch, examples, global_batch);
  const ExampleRange part = WorkerPart(whole.size(), num_workers, worker);
  return {whole.begin + part.begin, whole.begin + part.end};
}

int64_t DealtBatches(int64_t batches, int64_t num_workers, int64_t worker) {
  return WorkerPart(batches, num_workers, worker).size();
}

int64_t DealtSteps(int64_t epochs, int64_t examples, int64_t global_batch) {
  return epochs * BatchesPerEpoch(examples, global_batch);
}

}  // namespace cohort
