#ifndef COHORT_RUNTIME_VARIABLE_INITIALIZER_H_
#define COHORT_RUNTIME_VARIABLE_INITIALIZER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "runtime/graph/program.h"
#include "runtime/tensor/tensor.h"

namespace cohort {

// A variable's first value: a pure function of its definition and the program's seed, the same bits on every task.
// Random values are computed in double and rounded to float32, then to the variable's dtype.
// InvalidArgument names the variable: a shape or dtype that its initializer cannot fill.
absl::StatusOr<Tensor> InitialValue(const VariableDef& variable, uint64_t seed);

}  // namespace cohort

#endif  // COHORT_RUNTIME_VARIABLE_INITIALIZER_H_
