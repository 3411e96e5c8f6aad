#ifndef COHORT_TESTS_TESTING_REFERENCE_INTERPRETER_H_
#define COHORT_TESTS_TESTING_REFERENCE_INTERPRETER_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/graph/function.h"
#include "runtime/tensor/tensor.h"

namespace cohort::testing {

// An array in double precision: what the interpreter computes with, whatever the dtype. Integers are exact up to 2^53.
struct Array {
  Shape shape;
  std::vector<double> values;

  static Array Of(const Tensor& tensor);  // any number or bool
  // Rounded to `dtype` (integers towards zero).
  Tensor To(DType dtype) const;
};

// Evaluates functions node by node in the plainest way, in double precision (only Cast rounds to its target), written
// independently of the kernels. One replica: AllReduce gives its input.
class ReferenceInterpreter {
 public:
  std::map<std::string, Tensor> variables;  // by shared_name; assignments replace them
  // What the ApplyGradient nodes of the last run got, in order.
  std::vector<std::pair<std::string, Tensor>> gradients;
  int replica_id = 0;
  const FunctionLibrary* library = nullptr;

  // The results, in order, in their declared dtypes. InvalidArgument names the node: missing variables, labels out of
  // range, shapes that fit at no run.
  absl::StatusOr<std::vector<Tensor>> Run(const Function& function, absl::Span<const Tensor> arguments);

  // Ops that it knows.
  static std::vector<std::string> Ops();
};

}  // namespace cohort::testing

#endif  // COHORT_TESTS_TESTING_REFERENCE_INTERPRETER_H_
