#ifndef COHORT_RUNTIME_DATASET_ITERATOR_H_
#define COHORT_RUNTIME_DATASET_ITERATOR_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/graph/dataset_def.h"
#include "runtime/tensor/tensor.h"

namespace cohort {

class FileSystem;
class FunctionRunner;

// One element of a data set: its components ("images", "labels"), all with the same first dimension once batched.
using Element = std::vector<Tensor>;

// What DatasetIterator::cardinality says beside numbers.
inline constexpr int64_t kEndlessCardinality = -1;
inline constexpr int64_t kUnknownCardinality = -2;  // only reading it all would tell

// Where an iterator stands: before element `element` of epoch `epoch`, both from 0. That is all there is to save: what
// follows depends on the definition and this alone, shuffle buffers included.
struct DatasetPosition {
  int64_t epoch = 0;
  int64_t element = 0;

  friend bool operator==(const DatasetPosition&, const DatasetPosition&) = default;
};

// Walks a data set once per epoch. Used by one thread at a time.
class DatasetIterator {
 public:
  virtual ~DatasetIterator() = default;
  // dtype and shape of each component; the batch dimension is unknown.
  virtual const std::vector<TensorSpec>& element_spec() const = 0;
  // How often Next says true in one epoch. Equal on all workers for "GlobalBatch"; each worker's own share when batches
  // are dealt. Of files it is counted when first asked for, by walking over their records.
  virtual int64_t cardinality() const = 0;

  // The next element into `element`, in the memory of the tensors it has: elements used in turn allocate nothing after
  // their first round, and may come back with each other's memory. A tensor of which somebody holds a copy is left to
  // him and replaced. False at the end of the epoch. A batch may hold 0 examples.
  absl::StatusOr<bool> Next(Element& element);
  // Back to the start of an epoch: a shuffle's order is keyed by its number.
  absl::Status Reset(int64_t epoch) { return Seek({epoch, 0}); }
  // To any position; one behind the end is the end. Sources that can be read in any order, and files where that is
  // possible, go there directly; what only reading tells (Filter, Unbatch, Interleave) is read again from the start of
  // the epoch, or from here if the position lies ahead.
  absl::Status Seek(const DatasetPosition& position);
  const DatasetPosition& position() const { return position_; }

 protected:
  // Only after a DoSeek.
  virtual absl::StatusOr<bool> DoNext(Element& element) = 0;
  // position() is where the iterator stood.
  virtual absl::Status DoSeek(const DatasetPosition& to) = 0;

  // Whether `to` can be reached from here by calls of Next.
  bool IsAhead(const DatasetPosition& to) const;
  // A DoSeek for iterators that can only read: `restart` goes to the start of an epoch.
  absl::Status SeekByNext(const DatasetPosition& to, absl::FunctionRef<absl::Status(int64_t epoch)> restart);

 private:
  DatasetPosition position_;
  bool valid_ = false;  // stands at position_; not before the first Seek nor after an error
};

// What data sets need from around them; both outlive the iterators.
struct IteratorContext {
  const FileSystem* files = nullptr;          // null: the machine's, without a root
  const FunctionRunner* functions = nullptr;  // null: Map and Filter are refused
};

// At the start of epoch 0.
// NotFound: a file, naming it and, for the packaged data sets, the package that brings it. InvalidArgument: a bad
// definition.
absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeIterator(const DatasetDef& definition,
                                                              const IteratorContext& context = {});

}  // namespace cohort

#endif  // COHORT_RUNTIME_DATASET_ITERATOR_H_
