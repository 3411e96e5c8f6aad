#ifndef COHORT_RUNTIME_DATASET_ITERATOR_H_
#define COHORT_RUNTIME_DATASET_ITERATOR_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/graph/dataset_def.h"
#include "runtime/tensor/tensor.h"

namespace cohort {

// One element of a data set: its components ("images", "labels"), all with the same first dimension once batched.
using Element = std::vector<Tensor>;

// Walks a data set once per epoch. Used by one thread at a time.
class DatasetIterator {
 public:
  virtual ~DatasetIterator() = default;
  // dtype and shape of each component; the batch dimension is unknown.
  virtual const std::vector<TensorSpec>& element_spec() const = 0;
  // The next element into `element`, in the memory of the tensors it has: elements used in turn allocate nothing after
  // their first round, and may come back with each other's memory. A tensor of which somebody holds a copy is left to
  // him and replaced. False at the end of the epoch. A batch may hold 0 examples.
  virtual absl::StatusOr<bool> Next(Element& element) = 0;
  // Back to the start, of epoch `epoch` (from 0): a shuffle's permutation is keyed by it.
  virtual absl::Status Reset(int64_t epoch) = 0;
  // How often Next says true in one epoch; -1: without end. Equal on all workers for "GlobalBatch"; each worker's own
  // share when batches are dealt.
  virtual int64_t cardinality() const = 0;
};

// At the start of epoch 0. What the elements are depends on the definition, the epoch and the position alone.
// NotFound: a file, naming it and, for the packaged data sets, the package that brings it. InvalidArgument: a bad
// definition.
absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeIterator(const DatasetDef& definition);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DATASET_ITERATOR_H_
