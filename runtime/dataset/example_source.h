#ifndef COHORT_RUNTIME_DATASET_EXAMPLE_SOURCE_H_
#define COHORT_RUNTIME_DATASET_EXAMPLE_SOURCE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/dataset/iterator.h"

namespace cohort {

// Examples that can be read in any order. Immutable; safe from any thread.
class ExampleSource {
 public:
  virtual ~ExampleSource() = default;
  virtual int64_t size() const = 0;
  // dtype and shape of each component of one example.
  virtual const std::vector<TensorSpec>& example_spec() const = 0;
  // Writes example indices[k] into row k of every component of `batch`, whose tensors hold at least that many examples
  // (of one example: no batch dimension is needed).
  virtual void Read(absl::Span<const int64_t> indices, Element& batch) const = 0;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_DATASET_EXAMPLE_SOURCE_H_
