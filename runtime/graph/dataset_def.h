#ifndef COHORT_RUNTIME_GRAPH_DATASET_DEF_H_
#define COHORT_RUNTIME_GRAPH_DATASET_DEF_H_

#include <string>
#include <vector>

#include "runtime/tensor/attributes.h"

namespace cohort {

// A tree of data-set nodes, executed on the workers (runtime/dataset). Integers are int64; what is in brackets may be
// left out.
//
// Sources, whose elements are single examples {images, labels}:
//   FashionMnist  [split = "train" or "test"], [examples: only the first N; 0: all], [directory of the four files]
//   Synthetic     examples, [shape = [28,28,1]], [classes = 10], [seed]: made up, learnable
// Transformations, of one input each, of examples or of batches:
//   Shuffle       [seed]: a permutation keyed by (seed, epoch), the same for any number of workers
//   Take, Skip    count
//   Shard         num_shards, index: elements index, index + num_shards, ...
//   Repeat        [count; -1: without end]: each repetition is an epoch to the Shuffle below it
//   Prefetch      buffer_size: elements made ahead by a thread of their own
// Batches, of examples; the last one of an epoch may be smaller, unless [drop_remainder] is true:
//   Batch         batch_size
//   GlobalBatch   batch_size = G, num_workers = W, index = w: worker w's part of global batch b, examples
//                 [bG + start_w, bG + end_w) of runtime/distribute's split. A part may hold nothing; every worker gets
//                 as many batches as every other.
//   DealtBatch    batch_size = G, num_workers = W, index = w: the whole batches w, w + W, w + 2W, ...
struct DatasetDef {
  std::string kind;
  Attributes attributes;
  std::vector<DatasetDef> inputs;

  std::string ToString() const;  // one line a node, indented
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_GRAPH_DATASET_DEF_H_
