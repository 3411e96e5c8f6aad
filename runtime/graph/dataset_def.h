#ifndef COHORT_RUNTIME_GRAPH_DATASET_DEF_H_
#define COHORT_RUNTIME_GRAPH_DATASET_DEF_H_

#include <string>
#include <vector>

#include "runtime/graph/attributes.h"

namespace cohort {

// A tree of data-set nodes, executed on the workers (runtime/dataset). Sources today: "FashionMnist" (attributes: split
// "train" or "test", examples: take only the first N), "Synthetic" (examples, shape, classes, seed). Transformations:
// "Shuffle" (seed: a permutation keyed by (seed, epoch), the same for any number of workers), "Batch" (batch_size,
// drop_remainder), "Shard" (num_shards, index), "Repeat" (count), "Prefetch" (buffer_size), and "GlobalBatch"
// (batch_size = G, num_workers = W, index = w): worker w's part of global batch b, examples
// [bG + start_w, bG + end_w) of runtime/distribute's split; the last batch of an epoch may be smaller, down to nothing,
// and every worker gets as many batches as every other.
struct DatasetDef {
  std::string kind;
  Attributes attributes;
  std::vector<DatasetDef> inputs;

  std::string ToString() const;  // one line a node, indented
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_GRAPH_DATASET_DEF_H_
