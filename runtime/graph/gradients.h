#ifndef COHORT_RUNTIME_GRAPH_GRADIENTS_H_
#define COHORT_RUNTIME_GRAPH_GRADIENTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/graph/builder.h"

namespace cohort {

enum class Unconnected {
  kError,  // InvalidArgument lists those of `xs` that `y` does not depend on
  kZeros,  // their gradients are zeros
};

// d sum(y) / d x for each x, as nodes added to the builder: reverse-mode differentiation of the graph that was traced
// so far. y: floating, of any shape. xs: floating values, or handles of variables (the sum over all reads of them).
// Where a value is used more than once its gradients are added, later uses first. InvalidArgument names the node: an op
// without a gradient on the way from an x to y; x unconnected. An error that sticks to the builder is returned as well.
absl::StatusOr<std::vector<Value>> Gradients(FunctionBuilder& builder, Value y, absl::Span<const Value> xs,
                                             Unconnected unconnected = Unconnected::kError);

}  // namespace cohort

#endif  // COHORT_RUNTIME_GRAPH_GRADIENTS_H_
