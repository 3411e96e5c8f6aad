#ifndef COHORT_RUNTIME_GRAPH_GRAPH_H_
#define COHORT_RUNTIME_GRAPH_GRAPH_H_

#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/tensor/attributes.h"
#include "runtime/tensor/tensor_spec.h"

namespace cohort {

struct Function;
using FunctionLibrary = std::map<std::string, Function>;

// One output of one node.
struct Output {
  int node = -1;
  int index = 0;
  friend bool operator==(const Output&, const Output&) = default;
  friend auto operator<=>(const Output&, const Output&) = default;
};

// An operation. `op` is a row of the op table (runtime/graph/op.h).
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
  // unique. InvalidArgument names node, op, and the shapes or dtypes that do not fit; NotFound: no such op, or the
  // function of a PartitionedCall.
  absl::StatusOr<int> AddNode(absl::string_view op, absl::string_view name, std::vector<Output> inputs,
                              Attributes attributes = {}, std::vector<int> control_inputs = {});

  // Where the nodes added from now on look for the functions they call. Must outlive the adding; null: none.
  void set_library(const FunctionLibrary* library) { library_ = library; }
  const FunctionLibrary* library() const { return library_; }

  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(int id) const { return nodes_[id]; }
  int FindNode(absl::string_view name) const;  // -1 if there is none
  const TensorSpec& spec(Output output) const { return nodes_[output.node].outputs[output.index]; }

 private:
  std::string UniqueName(absl::string_view op);

  std::vector<Node> nodes_;
  absl::flat_hash_map<std::string, int> ids_;       // by name
  absl::flat_hash_map<std::string, int> suffixes_;  // the next to try, by op
  const FunctionLibrary* library_ = nullptr;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_GRAPH_GRAPH_H_
