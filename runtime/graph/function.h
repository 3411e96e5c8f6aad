#ifndef COHORT_RUNTIME_GRAPH_FUNCTION_H_
#define COHORT_RUNTIME_GRAPH_FUNCTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/graph/graph.h"

namespace cohort {

// What becomes of a result at the end of a step. The last three ride in the step header: they are summed over the
// replicas of the group, so that every rank knows the same.
enum class ResultRole {
  kFetch,      // goes back to the caller, or stays as a handle
  kExamples,   // int64 scalar: examples in this replica's batch; the denominator of loss, metrics and gradients
  kLossSum,    // float scalar: sum of the losses of those examples
  kMetricSum,  // float or int64 scalar: a sum over those examples ("correct")
};

struct Parameter {
  std::string name;
  int node = -1;  // a Placeholder node
};

struct Result {
  std::string name;
  Output output;
  ResultRole role = ResultRole::kFetch;
};

// A graph with a signature: what a step runs on each replica.
//
// Gradients: `ApplyGradient(handle, gradient)` nodes (attributes: the optimizer's name and hyperparameters, see
// runtime/optimizer) name what the commit does. `gradient` is the SUM over this replica's examples; the step reduces it
// over the replicas and divides it once, by the header's count of examples.
struct Function {
  std::string name;
  Graph graph;
  std::vector<Parameter> parameters;
  std::vector<Result> results;

  // Handles of the variables that the function reads or writes, in order of first use (VarHandleOp nodes).
  std::vector<int> VariableNodes() const;
  // A text of the whole function, a line per node; equal functions give equal texts.
  std::string ToString() const;
  uint64_t Hash() const;  // FNV-1a of the text: identifies the function on every machine
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_GRAPH_FUNCTION_H_
