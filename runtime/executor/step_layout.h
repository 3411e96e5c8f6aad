#ifndef COHORT_RUNTIME_EXECUTOR_STEP_LAYOUT_H_
#define COHORT_RUNTIME_EXECUTOR_STEP_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/graph/function.h"
#include "runtime/optimizer/optimizer.h"

namespace cohort {

// A value that the step computes with. Values that are the same memory (Reshape, ReadVariableOp) are one.
struct StepValue {
  enum class Kind { kOp, kParameter, kConstant, kVariable };
  Kind kind = Kind::kOp;
  int index = 0;               // of the parameter or variable
  Output output;               // whose spec it has; node -1: that of variable `index`
  Tensor constant;             // kConstant
  bool kept = false;           // read after compute: a result, or a value to be assigned
  int64_t bucket_offset = -1;  // elements from the start of the buckets; -1: not a gradient
};

// An operation to run. Several nodes may have become one, whose op's name then begins with '_'.
struct StepOp {
  std::string op;
  std::string name;
  Attributes attributes;
  std::vector<int> inputs, outputs;  // values
  std::vector<Output> input_specs;   // per input: whose spec it has here (after a Reshape); node -1: the value's own
};

struct StepVariable {
  std::string name;
  TensorSpec spec;
  int value = -1;     // its value at the start of the step; -1: never read
  int assigned = -1;  // the value that the commit stores; -1: none
};

struct StepGradient {
  int variable = -1;
  int value = -1;  // lies in a bucket
  OptimizerDef optimizer;
  int64_t offset = 0, count = 0;  // in the buckets
};

// Gradients that are reduced together: consecutive elements.
struct StepBucket {
  std::string name;  // "grads/0"
  int64_t offset = 0, count = 0;
};

struct StepResult {
  std::string name;
  ResultRole role = ResultRole::kFetch;
  int value = -1;
  Output output;  // for its shape: a Reshape's, where `value` is its input
};

// What a function's step is, before the batch size is known: operations in the order in which they run, where gradients
// lie, what is reduced and what is committed. All ranks that run the same function have the same layout.
struct StepLayout {
  Function function;  // inlined and optimized
  std::vector<StepValue> values;
  std::vector<StepOp> ops;
  std::vector<StepVariable> variables;
  std::vector<StepGradient> gradients;  // in order of readiness
  std::vector<StepBucket> buckets;
  std::vector<StepResult> results;
  int64_t bucket_elements = 0;
  // Whether the ranks have anything to tell each other at the end of a step: not if the function only computes, from
  // nothing but variables and constants, what stays on its replica.
  bool has_header = true;

  // One line for each collective, in order.
  std::string CollectivesText() const;
};

// library: where calls in `function` lead. bucket_bytes: gradients fill a bucket up to this size, larger ones have
// their own.
// InvalidArgument: gradients that are not float32, two gradients of one variable or a gradient beside an assignment,
// gradients without a kExamples result.
absl::StatusOr<StepLayout> MakeStepLayout(const Function& function, const FunctionLibrary& library,
                                          size_t bucket_bytes);

}  // namespace cohort

#endif  // COHORT_RUNTIME_EXECUTOR_STEP_LAYOUT_H_
