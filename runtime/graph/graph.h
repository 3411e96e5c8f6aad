#ifndef COHORT_RUNTIME_GRAPH_GRAPH_H_
#define COHORT_RUNTIME_GRAPH_GRAPH_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/graph/attributes.h"
#include "runtime/tensor/tensor_spec.h"

namespace cohort {

// One output of one node.
struct Output {
  int node = -1;
  int index = 0;
  friend bool operator==(const Output&, const Output&) = default;
};

// An operation. `op` is a row of the op table (runtime/graph/ops).
struct Node {
  std::string op;
  std::string name;  // unique in its graph
  std::vector<Output> inputs;
  std::vector<int> control_inputs;  // nodes that must have run before
  Attributes attributes;
  std::vector<TensorSpec> outputs;  // inferred when the node was added
};

// Operations in topological order: a node's inputs stand before it. Knows variables only as handles (VarHandleOp nodes
// with attributes shared_name, dtype, shape; output dtype kResource), never where they live. Not thread-safe.
class Graph {
 public:
  // Appends a node and infers its outputs' dtypes and shapes. Returns its id. An empty name gives the op's name made
  // unique. InvalidArgument names node, op, and the shapes or dtypes that do not fit; NotFound: no such op.
  absl::StatusOr<int> AddNode(absl::string_view op, absl::string_view name, std::vector<Output> inputs,
                              Attributes attributes = {}, std::vector<int> control_inputs = {});

  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(int id) const { return nodes_[id]; }
  const TensorSpec& spec(Output output) const { return nodes_[output.node].outputs[output.index]; }

 private:
  std::vector<Node> nodes_;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_GRAPH_GRAPH_H_
