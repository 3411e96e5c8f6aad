#ifndef COHORT_RUNTIME_GRAPH_DATASET_DEF_H_
#define COHORT_RUNTIME_GRAPH_DATASET_DEF_H_

#include <string>
#include <vector>

#include "runtime/tensor/attributes.h"

namespace cohort {

// A tree of data-set nodes, executed on the workers (runtime/dataset). Integers are int64; what is in brackets may be
// left out.
//
// Sources that can be read in any order; their elements are single examples:
//   FashionMnist  [split = "train" or "test"], [examples: only the first N; 0: all], [directory of the four files]
//   Synthetic     examples, [shape = [28,28,1]], [classes = 10], [seed]: made up, learnable {images, labels}
//   Range         [start], stop, [step]: int64 []
//   FromTensorSlices  tensor_0, [tensor_1, ...]: tensors whose rows are the examples, one component each
//   Npy, Idx      paths: a list of files, one component each
//   Npz           path, [keys: which arrays; all, in the archive's order]
// Sources that are read from their start. files: a list of names and patterns (runtime/dataset/file_pattern.h), in this
// order; [num_file_shards, file_index: only files file_index, file_index + num_file_shards, ...]; [compression =
// "AUTO", "NONE", "GZIP" or "ZLIB"]:
//   TFRecord      files, [skip_damaged]: string []
//   TextLines     files: string []
//   FixedLengthRecords  files, record_bytes, [header_bytes], [footer_bytes]: string []
//   Csv           files, columns: a list of types ("float32", "int64", "string", ...), [defaults: for each column
//   "=VALUE"
//                 or "": a field must not be empty], [header: the first row is none], [delimiter = ","]
// Transformations, of one input each, of examples or of batches:
//   Shuffle       [seed], [reshuffle_each_iteration = true]: a permutation keyed by (seed, epoch), the same for any
//   number
//                 of workers; a source that is read from its start is held in memory for it. With [buffer_size]:
//                 through a buffer of so many elements
//   Take, Skip    count
//   Shard         num_shards, index: elements index, index + num_shards, ...
//   Repeat        [count; -1: without end]: each repetition is an epoch to the Shuffle below it
//   Enumerate     [start]: the element's number before its components
//   Cache         keeps the elements of epoch 0 in memory and gives them in every epoch
//   Map, Filter   function: by name; Filter's gives one bool []
//   ParseExample  keys, types, [defaults]: lists; from serialised tf.train.Examples the features `keys` as components
//   of
//                 types like "float32 [28,28]", "int64 []", "string [?]" (any number of values), "uint8 [28,28]" (the
//                 bytes of a string); defaults as of Csv
//   Prefetch      buffer_size: elements made ahead by a thread of their own
// Batches, of examples; the last one of an epoch may be smaller, unless [drop_remainder] is true:
//   Batch         batch_size
//   PaddedBatch   batch_size, [padding_value: double]: examples of several shapes, filled up to the largest of the
//   batch GlobalBatch   batch_size = G, num_workers = W, index = w: worker w's part of global batch b, examples
//                 [bG + start_w, bG + end_w) of runtime/distribute's split. A part may hold nothing; every worker gets
//                 as many batches as every other.
//   DealtBatch    batch_size = G, num_workers = W, index = w: the whole batches w, w + W, w + 2W, ...
// Of batches:
//   Unbatch       their rows
//   Rebatch       batch_sizes: the rows cut anew by these sizes, in turn (runtime/distribute/rebatch.h)
//   LegacyRebatch num_replicas: each batch in so many pieces
// Of several inputs:
//   Zip           the components of an element of each; as long as the shortest
//   Concatenate   one after the other
//   Interleave    cycle_length, [block_length]: that many elements of each of cycle_length inputs, in turn
struct DatasetDef {
  std::string kind;
  Attributes attributes;
  std::vector<DatasetDef> inputs;

  std::string ToString() const;  // one line a node, indented
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_GRAPH_DATASET_DEF_H_
