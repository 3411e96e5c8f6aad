#include "runtime/graph/function.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/hash.h"

namespace cohort {
namespace {

absl::string_view RoleName(ResultRole role) {
  switch (role) {
    case ResultRole::kFetch:
      return "fetch";
    case ResultRole::kExamples:
      return "examples";
    case ResultRole::kLossSum:
      return "loss_sum";
    case ResultRole::kMetricSum:
      return "metric_sum";
  }
  return "?";
}

std::string Text(Output output) { return absl::StrCat("%", output.node, ":", output.index); }

void AppendNode(std::string& out, int id, const Node& node) {
  absl::StrAppend(&out, "  %", id, " = ", node.op, AttributesToString(node.attributes), "(",
                  absl::StrJoin(node.inputs, ", ", [](std::string* s, Output o) { *s += Text(o); }), ")");
  if (!node.control_inputs.empty()) {
    absl::StrAppend(&out, " after ", absl::StrJoin(node.control_inputs, ", ", [](std::string* s, int n) {
      absl::StrAppend(s, "%", n);
    }));
  }
  absl::StrAppend(&out, " -> ",
                  absl::StrJoin(node.outputs, ", ", [](std::string* s, const TensorSpec& t) { *s += t.ToString(); }),
                  "  '", node.name, "'\n");
}

}  // namespace

std::vector<int> Function::VariableNodes() const {
  std::vector<int> handles;
  for (const Node& node : graph.nodes()) {
    for (const Output input : node.inputs) {
      if (graph.node(input.node).op != "VarHandleOp") continue;
      if (std::find(handles.begin(), handles.end(), input.node) == handles.end()) handles.push_back(input.node);
    }
  }
  return handles;
}

std::string Function::ToString() const {
  std::string out = absl::StrCat(
      "function '", name, "' (",
      absl::StrJoin(parameters, ", ",
                    [](std::string* s, const Parameter& p) { absl::StrAppend(s, "'", p.name, "' %", p.node); }),
      ") {\n");
  for (size_t i = 0; i < graph.nodes().size(); ++i) AppendNode(out, static_cast<int>(i), graph.nodes()[i]);
  for (const Result& result : results) {
    absl::StrAppend(&out, "  return '", result.name, "' ", RoleName(result.role), " ", Text(result.output), "\n");
  }
  return out + "}\n";
}

uint64_t Function::Hash() const { return Fnv1a64(ToString()); }

}  // namespace cohort
