#include "runtime/executor/step_layout.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/executor/fusion.h"
#include "runtime/graph/op.h"
#include "runtime/graph/optimize.h"

namespace cohort {
namespace {

class LayoutBuilder {
 public:
  explicit LayoutBuilder(Function function) {
    layout_.function = std::move(function);
    parameter_of_.assign(graph().nodes().size(), -1);
    for (size_t i = 0; i < layout_.function.parameters.size(); ++i) {
      parameter_of_[layout_.function.parameters[i].node] = static_cast<int>(i);
    }
  }

  absl::StatusOr<StepLayout> Build(size_t bucket_bytes) {
    for (int id = 0; id < static_cast<int>(graph().nodes().size()); ++id) {
      COHORT_RETURN_IF_ERROR(AddNode(id)) << "function '" << layout_.function.name << "'";
    }
    COHORT_RETURN_IF_ERROR(AddResults()) << "function '" << layout_.function.name << "'";
    KeepAssigned();
    COHORT_RETURN_IF_ERROR(CheckGradients()) << "function '" << layout_.function.name << "'";
    PlaceGradients(bucket_bytes);
    layout_.has_header = HasHeader();
    std::vector<bool> is_float;
    for (const StepValue& value : layout_.values) is_float.push_back(SpecOf(value).dtype == DType::kF32);
    FuseOps(layout_.ops, layout_.values, is_float);
    return std::move(layout_);
  }

 private:
  const Graph& graph() const { return layout_.function.graph; }

  TensorSpec SpecOf(const StepValue& value) const {
    return value.output.node < 0 ? layout_.variables[value.index].spec : graph().spec(value.output);
  }

  int NewValue(StepValue value) {
    layout_.values.push_back(std::move(value));
    return static_cast<int>(layout_.values.size()) - 1;
  }

  int ValueOf(Output output) const { return value_of_.at(output); }

  // The variable behind a handle.
  int VariableOf(Output handle) {
    const Attributes& attributes = graph().node(handle.node).attributes;
    const std::string name = GetAttributeOr<std::string>(attributes, "shared_name", "");
    const auto [it, is_new] = variable_of_.try_emplace(name, static_cast<int>(layout_.variables.size()));
    if (is_new) {
      layout_.variables.push_back({name,
                                   {GetAttributeOr<DType>(attributes, "dtype", DType::kInvalid),
                                    GetAttributeOr<Shape>(attributes, "shape", {})}});
    }
    return it->second;
  }

  // The value that the variable has at this point of the function.
  int CurrentValue(int variable) {
    StepVariable& v = layout_.variables[variable];
    if (v.assigned >= 0) return v.assigned;
    if (v.value < 0) v.value = NewValue({StepValue::Kind::kVariable, variable, {}, {}});
    return v.value;
  }

  // A copy in memory of its own.
  int Copied(int value, const std::string& name) {
    StepValue copy;
    copy.index = layout_.values[value].index;  // whose spec it has, if it is a variable's
    copy.output = layout_.values[value].output;
    const int to = NewValue(std::move(copy));
    layout_.ops.push_back({"_Copy", name, {}, {value}, {to}, {Output{}}});
    return to;
  }

  absl::Status AddNode(int id) {
    const Node& node = graph().node(id);
    if (node.op == "VarHandleOp" || node.op == "NoOp") return absl::OkStatus();
    if (node.op == "Placeholder") return AddParameter(id);
    COHORT_RETURN_IF_ERROR(CheckInputs(node));
    if (node.op == "Const") {
      COHORT_ASSIGN_OR_RETURN(Tensor tensor, GetAttribute<Tensor>(node.attributes, "value"));
      value_of_[{id, 0}] = NewValue({StepValue::Kind::kConstant, 0, {id, 0}, std::move(tensor)});
    } else if (node.op == "Identity" || node.op == "Reshape") {
      value_of_[{id, 0}] = ValueOf(node.inputs[0]);
    } else if (node.op == "ReadVariableOp") {
      value_of_[{id, 0}] = CurrentValue(VariableOf(node.inputs[0]));
    } else if (node.op.starts_with("Assign")) {
      AddAssign(node);
    } else if (node.op == "ApplyGradient") {
      return AddGradient(node);
    } else {
      AddOp(id);
    }
    return absl::OkStatus();
  }

  // Values are memory: strings have none, and handles are none.
  absl::Status CheckValue(Output output, absl::string_view what) const {
    const TensorSpec& spec = graph().spec(output);
    if (DTypeSize(spec.dtype) > 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(what, " is ", spec.ToString(), ": a step computes with numbers and bool only"));
  }

  absl::Status CheckInputs(const Node& node) const {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (graph().node(node.inputs[i].node).op == "VarHandleOp" && i == 0 && FindOp(node.op)->inputs[0] == 'R')
        continue;
      COHORT_RETURN_IF_ERROR(CheckValue(node.inputs[i], absl::StrCat("node '", node.name, "': input ", i)));
    }
    return absl::OkStatus();
  }

  absl::Status AddParameter(int id) {
    if (parameter_of_[id] < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("placeholder '", graph().node(id).name, "' is none of the function's parameters"));
    }
    value_of_[{id, 0}] = NewValue({StepValue::Kind::kParameter, parameter_of_[id], {id, 0}, {}});
    return absl::OkStatus();
  }

  void AddOp(int id) {
    const Node& node = graph().node(id);
    StepOp op{node.op, node.name, node.attributes, {}, {}, node.inputs};
    // These are words between fusion and kernels; what a graph says by them means something else.
    std::erase_if(op.attributes, [](const auto& attribute) { return attribute.first.starts_with("_"); });
    for (const Output input : node.inputs) op.inputs.push_back(ValueOf(input));
    for (int i = 0; i < static_cast<int>(node.outputs.size()); ++i) {
      op.outputs.push_back(value_of_[{id, i}] = NewValue({StepValue::Kind::kOp, 0, {id, i}, {}}));
    }
    layout_.ops.push_back(std::move(op));
  }

  // The new value is computed beside the old one; the commit stores it.
  void AddAssign(const Node& node) {
    const int variable = VariableOf(node.inputs[0]);
    const int value = ValueOf(node.inputs[1]);
    if (node.op == "AssignVariableOp") {
      // A variable's memory may be overwritten before this commit reads it.
      const bool is_variable = layout_.values[value].kind == StepValue::Kind::kVariable;
      layout_.variables[variable].assigned = is_variable ? Copied(value, node.name) : value;
      return;
    }
    const int old = CurrentValue(variable);
    const int sum = NewValue({StepValue::Kind::kOp, variable, {}, {}});
    const std::string op = node.op == "AssignAddVariableOp" ? "AddV2" : "Sub";
    layout_.ops.push_back({op, node.name, {}, {old, value}, {sum}, {Output{}, node.inputs[1]}});
    layout_.variables[variable].assigned = sum;
  }

  absl::Status AddGradient(const Node& node) {
    StepGradient gradient;
    gradient.variable = VariableOf(node.inputs[0]);
    gradient.value = ValueOf(node.inputs[1]);
    COHORT_ASSIGN_OR_RETURN(gradient.optimizer, ParseOptimizer(node.attributes));
    const StepVariable& variable = layout_.variables[gradient.variable];
    if (variable.spec.dtype != DType::kF32) {
      return absl::InvalidArgumentError(absl::StrCat("variable '", variable.name, "' is ", variable.spec.ToString(),
                                                     ": gradients can be applied to float32 variables only"));
    }
    for (const StepGradient& other : layout_.gradients) {
      if (other.variable == gradient.variable) {
        return absl::InvalidArgumentError(
            absl::StrCat("variable '", variable.name, "' has two gradients: add them up before they are applied"));
      }
    }
    gradient.count = variable.spec.shape.num_elements();
    layout_.gradients.push_back(gradient);
    return absl::OkStatus();
  }

  absl::Status AddResults() {
    for (const Result& result : layout_.function.results) {
      COHORT_RETURN_IF_ERROR(CheckValue(result.output, absl::StrCat("result '", result.name, "'")));
      int value = ValueOf(result.output);
      // What is not computed by this step can change before somebody fetches it.
      if (result.role == ResultRole::kFetch && layout_.values[value].kind != StepValue::Kind::kOp) {
        value = Copied(value, result.name);
      }
      layout_.values[value].kept = true;
      layout_.results.push_back({result.name, result.role, value, result.output});
    }
    return absl::OkStatus();
  }

  void KeepAssigned() {
    for (const StepVariable& variable : layout_.variables) {
      if (variable.assigned >= 0) layout_.values[variable.assigned].kept = true;
    }
  }

  bool HasHeader() const {
    const auto assigned = [](const StepVariable& variable) { return variable.assigned >= 0; };
    const auto summed = [](const StepResult& result) { return result.role != ResultRole::kFetch; };
    const auto exchanged = [](const StepOp& op) { return op.op == "AllReduce"; };
    return !layout_.function.parameters.empty() || !layout_.gradients.empty() ||
           std::ranges::any_of(layout_.variables, assigned) || std::ranges::any_of(layout_.results, summed) ||
           std::ranges::any_of(layout_.ops, exchanged);
  }

  absl::Status CheckGradients() const {
    if (layout_.gradients.empty()) return absl::OkStatus();
    for (const StepGradient& gradient : layout_.gradients) {
      const StepVariable& variable = layout_.variables[gradient.variable];
      if (variable.assigned >= 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("variable '", variable.name, "' is assigned and has a gradient in the same step"));
      }
    }
    for (const StepResult& result : layout_.results) {
      if (result.role == ResultRole::kExamples) return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        "it applies gradients, but no result counts the examples they are sums over (role kExamples)");
  }

  // Orders gradients by readiness and gives each a place in a bucket: its op writes there.
  void PlaceGradients(size_t bucket_bytes) {
    // A reduction overwrites the bucket, so what else is read afterwards must lie elsewhere.
    for (StepGradient& gradient : layout_.gradients) {
      const StepValue& value = layout_.values[gradient.value];
      if (value.kind != StepValue::Kind::kOp || value.kept || value.bucket_offset >= 0) {
        gradient.value = Copied(gradient.value, "gradient of " + layout_.variables[gradient.variable].name);
      }
      layout_.values[gradient.value].bucket_offset = 0;
    }
    std::vector<int> ready(layout_.values.size(), -1);
    for (size_t i = 0; i < layout_.ops.size(); ++i) {
      for (const int output : layout_.ops[i].outputs) ready[output] = static_cast<int>(i);
    }
    std::stable_sort(layout_.gradients.begin(), layout_.gradients.end(),
                     [&](const StepGradient& a, const StepGradient& b) { return ready[a.value] < ready[b.value]; });
    const int64_t limit = std::max<int64_t>(1, static_cast<int64_t>(bucket_bytes / sizeof(float)));
    int64_t end = 0;
    for (StepGradient& gradient : layout_.gradients) {
      gradient.offset = (end + 15) / 16 * 16;  // 64 bytes: gradients start at a cache line
      const bool fits =
          !layout_.buckets.empty() && gradient.offset + gradient.count - layout_.buckets.back().offset <= limit;
      if (!fits) layout_.buckets.push_back({absl::StrCat("grads/", layout_.buckets.size()), gradient.offset, 0});
      end = gradient.offset + gradient.count;
      layout_.buckets.back().count = end - layout_.buckets.back().offset;
      layout_.values[gradient.value].bucket_offset = gradient.offset;
    }
    layout_.bucket_elements = end;
  }

  StepLayout layout_;
  std::vector<int> parameter_of_;
  std::map<Output, int> value_of_;
  std::map<std::string, int> variable_of_;
};

}  // namespace

std::string StepLayout::CollectivesText() const {
  std::string text;
  for (const StepOp& op : ops) {
    if (op.op != "AllReduce") continue;
    const StepValue& value = values[op.outputs[0]];
    absl::StrAppend(&text, op.name, " ", GetAttributeOr<std::string>(op.attributes, "reduction", "SUM"), " ",
                    function.graph.spec(value.output).ToString(), "\n");
  }
  for (const StepBucket& bucket : buckets) {
    absl::StrAppend(&text, bucket.name, " SUM ", TensorSpec{DType::kF32, Shape{bucket.count}}.ToString(), "\n");
  }
  if (!has_header) return text;
  int64_t metrics = 0;
  for (const StepResult& result : results) metrics += result.role == ResultRole::kMetricSum;
  absl::StrAppend(&text, "header SUM ", TensorSpec{DType::kF64, Shape{5 + metrics}}.ToString(), "\n");
  return text;
}

absl::StatusOr<StepLayout> MakeStepLayout(const Function& function, const FunctionLibrary& library,
                                          size_t bucket_bytes) {
  COHORT_ASSIGN_OR_RETURN(const Function flat, Inline(function, library));
  COHORT_ASSIGN_OR_RETURN(Function optimized, Optimize(flat));
  return LayoutBuilder(std::move(optimized)).Build(bucket_bytes);
}

}  // namespace cohort
