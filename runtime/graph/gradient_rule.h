#ifndef COHORT_RUNTIME_GRAPH_GRADIENT_RULE_H_
#define COHORT_RUNTIME_GRAPH_GRADIENT_RULE_H_

#include <vector>

#include "runtime/graph/builder.h"

namespace cohort {

// What a gradient rule sees: a node, and the gradients of its outputs. The rule adds nodes through `builder`.
struct GradientContext {
  FunctionBuilder* builder = nullptr;
  int node = -1;
  std::vector<Value> inputs;
  std::vector<Value> outputs;
  std::vector<Value> output_gradients;  // like the outputs; invalid where none flows
  std::vector<bool> needed;             // per input: whether its gradient is wanted
  Attributes attributes;

  const Value& dy() const { return output_gradients[0]; }
};

// Whether every element is known to be 1 (a chain of OnesLike, Identity, Reshape, broadcasts), as at the start of a
// backward pass: a product with it is not worth a node.
bool IsOnes(Value value);
// gradient * factor, elementwise and of equal shapes; `factor` itself if the gradient is ones.
Value Scaled(Value gradient, Value factor);
// Undoes broadcasting: `gradient` summed over the dimensions that `target` has not or has as 1.
Value SumLike(Value gradient, Value target);

}  // namespace cohort

#endif  // COHORT_RUNTIME_GRAPH_GRADIENT_RULE_H_
