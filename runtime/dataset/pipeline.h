#ifndef COHORT_RUNTIME_DATASET_PIPELINE_H_
#define COHORT_RUNTIME_DATASET_PIPELINE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/dataset/example_source.h"
#include "runtime/dataset/index_chain.h"
#include "runtime/distribute/batch_split.h"
#include "runtime/graph/dataset_def.h"

namespace cohort {

// How examples become batches.
struct Batching {
  int64_t batch_size = 0;  // 0: not batched, each element is one example
  bool drop_remainder = false;
  int64_t num_workers = 1;  // this worker's part of each batch
  int64_t worker = 0;

  int64_t Batches(int64_t examples) const;  // IndexChain::kEndless of endless examples
  ExampleRange Positions(int64_t batch, int64_t examples) const;
  int64_t MaxRows() const;
};

// A data set as arithmetic over a random-access source: batch p of an epoch -> its number `batches.At(epoch, p)` -> its
// positions -> the source's indices `examples.At(epoch, position)`. A row is copied once, from the source into the
// batch.
struct Pipeline {
  std::unique_ptr<ExampleSource> source;
  IndexChain examples{0};
  Batching batching;
  IndexChain batches{0};  // of the batches, once batched
  int64_t prefetch = 0;   // elements made ahead; the largest of the definition's, wherever it stands

  bool batched() const { return batching.batch_size > 0; }
  IndexChain& elements() { return batched() ? batches : examples; }
};

// Whether a definition is such arithmetic: sources that can be read in any order and transformations that only choose
// and order. The others are streams (runtime/dataset/stream.h).
bool IsPipeline(const DatasetDef& definition);
// The kinds of nodes that a pipeline may have.
std::vector<absl::string_view> PipelineKinds();

// InvalidArgument: an unknown node or attribute, or values that make no sense; names the node. Else as the source says.
absl::StatusOr<Pipeline> MakePipeline(const DatasetDef& definition, const IteratorContext& context);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DATASET_PIPELINE_H_
