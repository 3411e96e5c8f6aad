#include "runtime/graph/graph.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "runtime/base/status_macros.h"
#include "runtime/graph/op.h"

namespace cohort {
namespace {

absl::string_view TypeClassName(TypeClass type) {
  switch (type) {
    case TypeClass::kNumber:
      return "a number";
    case TypeClass::kNumberOrBool:
      return "a number or bool";
    case TypeClass::kFloating:
      return "floating";
    case TypeClass::kAny:
      break;
  }
  return "anything";
}

bool Fits(DType dtype, TypeClass type) {
  switch (type) {
    case TypeClass::kNumber:
      return IsFloating(dtype) || IsInteger(dtype);
    case TypeClass::kNumberOrBool:
      return IsFloating(dtype) || IsInteger(dtype) || dtype == DType::kBool;
    case TypeClass::kFloating:
      return IsFloating(dtype);
    case TypeClass::kAny:
      break;
  }
  return true;
}

absl::Status CheckEdges(const Graph& graph, const Node& node) {
  const int size = static_cast<int>(graph.nodes().size());
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const auto [id, index] = node.inputs[i];
    if (id < 0 || id >= size || index < 0 || index >= static_cast<int>(graph.node(id).outputs.size())) {
      return absl::InvalidArgumentError(absl::StrCat("input ", i, " is output ", index, " of node ", id,
                                                     ", which does not exist (yet): the graph has ", size, " nodes"));
    }
  }
  for (const int id : node.control_inputs) {
    if (id < 0 || id >= size) return absl::InvalidArgumentError(absl::StrCat("control input ", id, " does not exist"));
  }
  return absl::OkStatus();
}

// Number and dtypes of the inputs against the row's signature.
absl::Status CheckInputs(const Graph& graph, const Node& node, const OpDef& op) {
  if (op.inputs == "*") return absl::OkStatus();
  if (node.inputs.size() != op.inputs.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("it takes ", op.inputs.size(), " inputs and got ", node.inputs.size()));
  }
  int first_of_type = -1;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const DType dtype = graph.spec(node.inputs[i]).dtype;
    const auto wrong = [&](absl::string_view wanted) {
      return absl::InvalidArgumentError(
          absl::StrCat("input ", i, " is ", graph.spec(node.inputs[i]).ToString(), ", but must be ", wanted));
    };
    switch (op.inputs[i]) {
      case 'I':
        if (dtype != DType::kI32 && dtype != DType::kI64) return wrong("int32 or int64");
        break;
      case 'R':
        if (dtype != DType::kResource) return wrong("the handle of a variable");
        break;
      case 'T':
        if (!Fits(dtype, op.type)) return wrong(TypeClassName(op.type));
        if (first_of_type < 0) first_of_type = static_cast<int>(i);
        if (dtype != graph.spec(node.inputs[first_of_type]).dtype) {
          return wrong(absl::StrCat("of the dtype of input ", first_of_type, ", ",
                                    graph.spec(node.inputs[first_of_type]).ToString()));
        }
        break;
      default:
        break;
    }
  }
  return absl::OkStatus();
}

// Every attribute is known and of its type, and none is missing.
absl::Status CheckAttributes(const Attributes& attributes, const OpDef& op) {
  size_t known = 0;
  for (absl::string_view rule : absl::StrSplit(op.attributes, ',', absl::SkipEmpty())) {
    const bool optional = absl::ConsumeSuffix(&rule, "?");
    const std::pair<absl::string_view, absl::string_view> name_type = absl::StrSplit(rule, absl::MaxSplits(':', 1));
    const auto it = attributes.find(std::string(name_type.first));
    if (it == attributes.end()) {
      if (optional) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("attribute '", name_type.first, "' (", name_type.second, ") is missing"));
    }
    ++known;
    if (AttributeTypeName(it->second) != name_type.second) {
      return absl::InvalidArgumentError(absl::StrCat("attribute '", name_type.first, "' is a ",
                                                     AttributeTypeName(it->second), ", but must be a ",
                                                     name_type.second));
    }
  }
  if (known == attributes.size()) return absl::OkStatus();
  for (const auto& [name, value] : attributes) {
    if (absl::StartsWith(name, "_") ||
        absl::StrContains(absl::StrCat(",", op.attributes), absl::StrCat(",", name, ":"))) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat("it has no attribute '", name, "'; it has ",
                                                   op.attributes.empty() ? absl::string_view("none") : op.attributes));
  }
  return absl::OkStatus();
}

// Past here sizes are multiplied without asking: what no machine can hold is a wrong shape.
absl::Status CheckSize(const TensorSpec& spec) {
  constexpr int64_t kMostBytes = int64_t{1} << 47;
  int64_t bytes = std::max<int64_t>(static_cast<int64_t>(DTypeSize(spec.dtype)), 1);
  for (const int64_t d : spec.shape.dims()) {
    if (d < Shape::kUnknown) return absl::InvalidArgumentError(absl::StrCat("dimension ", d, " in its output"));
    if (d > 0 && (__builtin_mul_overflow(bytes, d, &bytes) || bytes > kMostBytes)) {
      return absl::InvalidArgumentError(absl::StrCat("its output, ", spec.ToString(), ", is larger than 2^47 bytes"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TensorSpec>> Infer(const Graph& graph, const Node& node, const OpDef& op) {
  COHORT_RETURN_IF_ERROR(CheckEdges(graph, node));
  COHORT_RETURN_IF_ERROR(CheckInputs(graph, node, op));
  COHORT_RETURN_IF_ERROR(CheckAttributes(node.attributes, op));
  COHORT_ASSIGN_OR_RETURN(std::vector<TensorSpec> outputs, op.shape(InferenceContext(graph, node)));
  if (op.num_outputs >= 0 && static_cast<int>(outputs.size()) != op.num_outputs) {
    return absl::InternalError(absl::StrCat("its shape rule gave ", outputs.size(), " outputs"));
  }
  for (const TensorSpec& output : outputs) COHORT_RETURN_IF_ERROR(CheckSize(output));
  return outputs;
}

}  // namespace

absl::StatusOr<int> Graph::AddNode(absl::string_view op, absl::string_view name, std::vector<Output> inputs,
                                   Attributes attributes, std::vector<int> control_inputs) {
  const OpDef* def = FindOp(op);
  if (def == nullptr) return absl::NotFoundError(absl::StrCat("node '", name, "': there is no op '", op, "'"));
  if (!name.empty() && ids_.contains(name)) {
    return absl::InvalidArgumentError(
        absl::StrCat("node '", name, "' (", op, "): the name is taken by a ", nodes_[ids_.at(name)].op));
  }
  Node node{std::string(op),       name.empty() ? UniqueName(op) : std::string(name),
            std::move(inputs),     std::move(control_inputs),
            std::move(attributes), {}};
  COHORT_ASSIGN_OR_RETURN(node.outputs, Infer(*this, node, *def), _ << "node '" << node.name << "' (" << op << ")");
  const int id = static_cast<int>(nodes_.size());
  ids_.emplace(node.name, id);
  nodes_.push_back(std::move(node));
  return id;
}

int Graph::FindNode(absl::string_view name) const {
  const auto it = ids_.find(name);
  return it == ids_.end() ? -1 : it->second;
}

std::string Graph::UniqueName(absl::string_view op) {
  int& suffix = suffixes_[op];
  while (true) {
    std::string name = suffix == 0 ? std::string(op) : absl::StrCat(op, "_", suffix);
    ++suffix;
    if (!ids_.contains(name)) return name;
  }
}

}  // namespace cohort
