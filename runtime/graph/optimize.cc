#include "runtime/graph/optimize.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status_macros.h"
#include "runtime/graph/op.h"

namespace cohort {
namespace {

// Copies nodes into a new graph; remembers what became of each output and node.
class Rewriter {
 public:
  Rewriter(const Function& source, const FunctionLibrary* library) : source_(source) {
    result_.name = source.name;
    result_.graph.set_library(library);
  }

  Output Mapped(Output output) const {
    const auto it = replaced_.find(output);
    return it != replaced_.end() ? it->second : Output{nodes_.at(output.node), output.index};
  }
  std::vector<Output> Mapped(const std::vector<Output>& outputs) const {
    std::vector<Output> mapped;
    for (const Output output : outputs) mapped.push_back(Mapped(output));
    return mapped;
  }
  // Control inputs whose nodes were dropped or merged away vanish or follow.
  std::vector<int> MappedControls(const Node& node) const {
    std::vector<int> mapped;
    for (const int id : node.control_inputs) {
      const auto it = nodes_.find(id);
      if (it != nodes_.end() && std::find(mapped.begin(), mapped.end(), it->second) == mapped.end()) {
        mapped.push_back(it->second);
      }
    }
    return mapped;
  }

  absl::Status Copy(int id, Attributes attributes) {
    const Node& node = source_.graph.node(id);
    COHORT_ASSIGN_OR_RETURN(nodes_[id], result_.graph.AddNode(node.op, node.name, Mapped(node.inputs),
                                                              std::move(attributes), MappedControls(node)));
    return absl::OkStatus();
  }
  void Replace(Output output, Output by) { replaced_[output] = by; }
  void MapNode(int id, int to) { nodes_[id] = to; }
  Graph& graph() { return result_.graph; }

  Function Finish() {
    for (const Parameter& p : source_.parameters) result_.parameters.push_back({p.name, nodes_.at(p.node)});
    for (const Result& r : source_.results) result_.results.push_back({r.name, Mapped(r.output), r.role});
    result_.graph.set_library(nullptr);
    return std::move(result_);
  }

 private:
  const Function& source_;
  Function result_;
  absl::flat_hash_map<int, int> nodes_;
  std::map<Output, Output> replaced_;
};

// Nodes that a result, a parameter or an effect needs.
std::vector<bool> LiveNodes(const Function& function) {
  const std::vector<Node>& nodes = function.graph.nodes();
  std::vector<bool> live(nodes.size(), false);
  for (const Parameter& parameter : function.parameters) live[parameter.node] = true;
  for (const Result& result : function.results) live[result.output.node] = true;
  for (size_t i = nodes.size(); i-- > 0;) {
    if (FindOp(nodes[i].op)->effect == Effect::kChanges) live[i] = true;
    if (!live[i]) continue;
    for (const Output input : nodes[i].inputs) live[input.node] = true;
    // An order among nodes is no reason to run them: only effects are, and those live anyway.
  }
  return live;
}

// Nodes with equal keys compute the same. Long tensors are told apart by their hash first; SameConstants decides.
std::string Key(const Node& node, const std::vector<Output>& inputs) {
  return absl::StrCat(
      node.op, AttributesToString(node.attributes), "(",
      absl::StrJoin(inputs, ",", [](std::string* s, Output o) { absl::StrAppend(s, o.node, ":", o.index); }), ")");
}

bool SameConstants(const Node& a, const Node& b) {
  if (a.op != "Const") return true;
  return GetAttributeOr<Tensor>(a.attributes, "value", {})
      .BitwiseEquals(GetAttributeOr<Tensor>(b.attributes, "value", {}));
}

// Puts the body of called functions in place of calls.
class Inliner {
 public:
  Inliner(const FunctionLibrary& library, Graph& graph) : library_(library), graph_(graph) {}

  // Copies `function`'s nodes; `arguments` stand for its parameters (empty: they stay parameters). Returns where each
  // of its nodes' outputs went.
  absl::StatusOr<std::vector<std::vector<Output>>> Copy(const Function& function, absl::Span<const Output> arguments,
                                                        const std::string& prefix, const std::vector<int>& after) {
    std::vector<std::vector<Output>> outputs(function.graph.nodes().size());
    std::vector<std::vector<int>> made(outputs.size());  // nodes that stand for the source's node
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Node& node = function.graph.nodes()[i];
      const int argument = prefix.empty() ? -1 : ParameterOf(function, static_cast<int>(i));
      if (argument >= 0) {
        outputs[i] = {arguments[argument]};
        continue;
      }
      std::vector<Output> inputs;
      for (const Output input : node.inputs) inputs.push_back(outputs[input.node][input.index]);
      std::vector<int> controls = after;
      for (const int c : node.control_inputs) controls.insert(controls.end(), made[c].begin(), made[c].end());
      if (node.op == "PartitionedCall") {
        const int first = static_cast<int>(graph_.nodes().size());
        COHORT_ASSIGN_OR_RETURN(outputs[i], Call(node, inputs, prefix, controls));
        for (int n = first; n < static_cast<int>(graph_.nodes().size()); ++n) {
          if (FindOp(graph_.node(n).op)->stateful()) made[i].push_back(n);
        }
        continue;
      }
      COHORT_ASSIGN_OR_RETURN(const int id, graph_.AddNode(node.op, prefix + node.name, std::move(inputs),
                                                           node.attributes, Controls(node, std::move(controls))));
      made[i] = {id};
      for (int o = 0; o < static_cast<int>(node.outputs.size()); ++o) outputs[i].push_back({id, o});
    }
    return outputs;
  }

 private:
  static int ParameterOf(const Function& function, int node) {
    for (size_t p = 0; p < function.parameters.size(); ++p) {
      if (function.parameters[p].node == node) return static_cast<int>(p);
    }
    return -1;
  }

  // What surrounds a call is ordered with the effects inside, not with its pure nodes.
  static std::vector<int> Controls(const Node& node, std::vector<int> controls) {
    if (!FindOp(node.op)->stateful()) return {};
    std::sort(controls.begin(), controls.end());
    controls.erase(std::unique(controls.begin(), controls.end()), controls.end());
    return controls;
  }

  absl::StatusOr<std::vector<Output>> Call(const Node& call, absl::Span<const Output> arguments,
                                           const std::string& prefix, const std::vector<int>& after) {
    const std::string name = GetAttributeOr<std::string>(call.attributes, "f", "");
    const auto function = library_.find(name);
    if (function == library_.end()) {
      return absl::NotFoundError(absl::StrCat("node '", call.name, "' calls '", name, "', which does not exist"));
    }
    if (std::find(active_.begin(), active_.end(), name) != active_.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("functions call each other in a circle: ", absl::StrJoin(active_, " -> "), " -> ", name));
    }
    active_.push_back(name);
    COHORT_ASSIGN_OR_RETURN(const auto outputs,
                            Copy(function->second, arguments, absl::StrCat(prefix, call.name, "/"), after));
    active_.pop_back();
    std::vector<Output> results;
    for (const Result& r : function->second.results) results.push_back(outputs[r.output.node][r.output.index]);
    return results;
  }

  const FunctionLibrary& library_;
  Graph& graph_;
  std::vector<std::string> active_;  // functions whose bodies are being copied
};

}  // namespace

absl::StatusOr<Function> Optimize(const Function& function, const FunctionLibrary* library) {
  const std::vector<bool> live = LiveNodes(function);
  Rewriter rewriter(function, library);
  absl::flat_hash_map<std::string, int> known;  // new node, by key
  for (size_t i = 0; i < live.size(); ++i) {
    if (!live[i]) continue;
    const int id = static_cast<int>(i);
    const Node& node = function.graph.node(id);
    if (node.op == "Identity") {
      // A parameter or variable may be a result directly: results are copied out anyway.
      const Output source = rewriter.Mapped(node.inputs[0]);
      rewriter.Replace({id, 0}, source);
      rewriter.MapNode(id, source.node);
      continue;
    }
    const bool pure = FindOp(node.op)->effect == Effect::kNone;
    const std::string key = pure ? Key(node, rewriter.Mapped(node.inputs)) : "";
    if (const auto it = known.find(key);
        pure && it != known.end() && SameConstants(node, rewriter.graph().node(it->second))) {
      rewriter.MapNode(id, it->second);
      continue;
    }
    COHORT_RETURN_IF_ERROR(rewriter.Copy(id, node.attributes)) << "function '" << function.name << "'";
    if (pure) known.emplace(key, static_cast<int>(rewriter.graph().nodes().size()) - 1);
  }
  // Merging can leave nodes behind that only merged ones needed; they were live, so all of them have twins that stay.
  return rewriter.Finish();
}

absl::StatusOr<Function> Specialize(const Function& function, absl::Span<const TensorSpec> parameters,
                                    const FunctionLibrary* library) {
  if (parameters.size() != function.parameters.size()) {
    return absl::InvalidArgumentError(absl::StrCat("function '", function.name, "' has ", function.parameters.size(),
                                                   " parameters, not ", parameters.size()));
  }
  Rewriter rewriter(function, library);
  absl::flat_hash_map<int, const TensorSpec*> given;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const TensorSpec& declared = function.graph.spec({function.parameters[i].node, 0});
    if (declared.dtype != parameters[i].dtype || !declared.shape.IsCompatibleWith(parameters[i].shape)) {
      return absl::InvalidArgumentError(absl::StrCat("parameter '", function.parameters[i].name, "' of function '",
                                                     function.name, "' is ", declared.ToString(), ", but got ",
                                                     parameters[i].ToString()));
    }
    given[function.parameters[i].node] = &parameters[i];
  }
  for (int id = 0; id < static_cast<int>(function.graph.nodes().size()); ++id) {
    Attributes attributes = function.graph.node(id).attributes;
    if (const auto it = given.find(id); it != given.end()) attributes["shape"] = it->second->shape;
    COHORT_RETURN_IF_ERROR(rewriter.Copy(id, std::move(attributes))) << "function '" << function.name << "'";
  }
  return rewriter.Finish();
}

absl::StatusOr<Function> Inline(const Function& function, const FunctionLibrary& library) {
  Function result;
  result.name = function.name;
  COHORT_ASSIGN_OR_RETURN(const auto outputs, Inliner(library, result.graph).Copy(function, {}, "", {}),
                          _ << "function '" << function.name << "'");
  for (const Parameter& p : function.parameters) result.parameters.push_back({p.name, outputs[p.node][0].node});
  for (const Result& r : function.results) {
    result.results.push_back({r.name, outputs[r.output.node][r.output.index], r.role});
  }
  return result;
}

}  // namespace cohort
