#include "runtime/graph/builder.h"

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/graph/result_spec.h"

namespace cohort {

TensorSpec Value::spec() const { return valid() ? builder->graph().spec(output) : TensorSpec{}; }

FunctionBuilder::FunctionBuilder(std::string name, const FunctionLibrary* library) {
  function_.name = std::move(name);
  function_.graph.set_library(library);
}

Value FunctionBuilder::AddParameter(absl::string_view name, TensorSpec spec) {
  const Value value = Add("Placeholder", {}, {{"dtype", spec.dtype}, {"shape", spec.shape}}, name);
  if (value.valid()) function_.parameters.push_back({std::string(name), value.output.node});
  return value;
}

Value FunctionBuilder::Variable(absl::string_view name, TensorSpec spec) {
  if (const auto it = handles_.find(name); it != handles_.end()) {
    const Attributes& attributes = graph().node(it->second.output.node).attributes;
    const TensorSpec present{GetAttributeOr<DType>(attributes, "dtype", DType::kInvalid),
                             GetAttributeOr<Shape>(attributes, "shape", {})};
    if (!(present == spec)) {
      Fail(absl::InvalidArgumentError(absl::StrCat("variable '", name, "' is asked for as ", spec.ToString(),
                                                   ", but was ", present.ToString(), " before")));
    }
    return it->second;
  }
  const Value handle =
      Add("VarHandleOp", {}, {{"shared_name", std::string(name)}, {"dtype", spec.dtype}, {"shape", spec.shape}}, name);
  if (handle.valid()) handles_.emplace(name, handle);
  return handle;
}

void FunctionBuilder::AddResult(absl::string_view name, Value value, ResultRole role) {
  if (!status_.ok()) return;
  if (!value.valid() || value.builder != this) {
    return Fail(absl::InvalidArgumentError(absl::StrCat("result '", name, "' is no value of this function")));
  }
  if (absl::Status status = CheckResultSpec(name, role, value.spec()); !status.ok()) return Fail(std::move(status));
  for (const Result& result : function_.results) {
    if (result.name == name)
      return Fail(absl::InvalidArgumentError(absl::StrCat("two results are named '", name, "'")));
  }
  function_.results.push_back({std::string(name), value.output, role});
}

Value FunctionBuilder::ReadVariable(Value handle) {
  if (!handle.valid() || !status_.ok()) return Add("ReadVariableOp", {handle});
  VariableState& state = variables_[handle.output.node];
  if (state.read.valid()) return state.read;
  std::vector<int> after;
  if (state.last_write >= 0) after.push_back(state.last_write);
  const int node = AddNode("ReadVariableOp", {handle}, {}, "", std::move(after));
  if (node >= 0) {
    state.read = OutputOf(node, 0);
    state.reads_since.push_back(node);
  }
  return OutputOf(node, 0);
}

void FunctionBuilder::AssignVariable(absl::string_view op, Value handle, Value value) {
  if (!handle.valid() || !status_.ok()) {
    AddNode(op, {handle, value});
    return;
  }
  VariableState& state = variables_[handle.output.node];
  std::vector<int> after = std::move(state.reads_since);
  if (state.last_write >= 0) after.push_back(state.last_write);
  state = VariableState{{}, AddNode(op, {handle, value}, {}, "", std::move(after)), {}};
}

void FunctionBuilder::ApplyGradient(Value handle, Value gradient, Attributes optimizer) {
  AddNode("ApplyGradient", {handle, gradient}, std::move(optimizer));
}

int FunctionBuilder::AddNode(absl::string_view op, absl::Span<const Value> inputs, Attributes attributes,
                             absl::string_view name, std::vector<int> control_inputs) {
  if (!status_.ok()) return -1;
  std::vector<Output> outputs;
  outputs.reserve(inputs.size());
  for (const Value& input : inputs) {
    if (!input.valid() || input.builder != this) {
      Fail(absl::InvalidArgumentError(
          absl::StrCat("node '", name, "' (", op, "): input ", outputs.size(), " is no value of this function")));
      return -1;
    }
    outputs.push_back(input.output);
  }
  absl::StatusOr<int> node =
      function_.graph.AddNode(op, name, std::move(outputs), std::move(attributes), std::move(control_inputs));
  if (node.ok()) return *node;
  Fail(node.status());
  return -1;
}

Value FunctionBuilder::Add(absl::string_view op, absl::Span<const Value> inputs, Attributes attributes,
                           absl::string_view name) {
  return OutputOf(AddNode(op, inputs, std::move(attributes), name), 0);
}

void FunctionBuilder::Fail(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
}

absl::StatusOr<Function> FunctionBuilder::Finish() {
  COHORT_RETURN_IF_ERROR(status_) << "function '" << function_.name << "'";
  function_.graph.set_library(nullptr);
  handles_.clear();
  variables_.clear();
  return std::move(function_);
}

}  // namespace cohort
