#ifndef COHORT_RUNTIME_GRAPH_OPTIMIZE_H_
#define COHORT_RUNTIME_GRAPH_OPTIMIZE_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/graph/function.h"

namespace cohort {

// The same function with less to do: Identity nodes bypassed, equal pure nodes merged, nodes dropped that neither a
// result nor an effect needs. Parameters, results, effects, their order and the names of the nodes that stay are kept.
// `library`: needed if the function calls others.
absl::StatusOr<Function> Optimize(const Function& function, const FunctionLibrary* library = nullptr);

// The same function, node for node, for parameters of the given specs (a batch that is known by now): dtypes and shapes
// are inferred anew. InvalidArgument names the parameter and both specs if one does not fit.
absl::StatusOr<Function> Specialize(const Function& function, absl::Span<const TensorSpec> parameters,
                                    const FunctionLibrary* library = nullptr);

// The same function with each PartitionedCall replaced by the nodes of the function it calls, at any depth; their names
// get the call's name and "/" in front. NotFound: no such function; InvalidArgument: functions that call each other in
// a circle.
absl::StatusOr<Function> Inline(const Function& function, const FunctionLibrary& library);

}  // namespace cohort

#endif  // COHORT_RUNTIME_GRAPH_OPTIMIZE_H_
