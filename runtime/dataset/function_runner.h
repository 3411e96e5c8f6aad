#ifndef COHORT_RUNTIME_DATASET_FUNCTION_RUNNER_H_
#define COHORT_RUNTIME_DATASET_FUNCTION_RUNNER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/dataset/iterator.h"

namespace cohort {

// Runs the functions that Map and Filter name. Equal arguments give equal results. Safe from any thread.
class FunctionRunner {
 public:
  virtual ~FunctionRunner() = default;

  // Specs of the results for arguments of these specs. NotFound: no such function. InvalidArgument: it does not take
  // such arguments.
  virtual absl::StatusOr<std::vector<TensorSpec>> ResultSpecs(const std::string& function,
                                                              const std::vector<TensorSpec>& arguments) const = 0;
  // Writes `results`, in their memory where that fits, as DatasetIterator::Next does.
  virtual absl::Status Run(const std::string& function, const Element& arguments, Element& results) const = 0;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_DATASET_FUNCTION_RUNNER_H_
