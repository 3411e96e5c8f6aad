#include "tests/testing/reference_interpreter.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/tensor/element_type.h"
#include "tests/testing/reference_ops.h"

namespace cohort::testing {

Array Array::Of(const Tensor& tensor) {
  Array array{tensor.shape(), {}};
  DispatchElementType(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (const T v : tensor.values<T>()) {
      if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
        array.values.push_back(static_cast<float>(v));
      } else {
        array.values.push_back(static_cast<double>(v));
      }
    }
  });
  return array;
}

Tensor Array::To(DType dtype) const {
  Tensor tensor(dtype, shape);
  DispatchElementType(dtype, [&](auto zero) {
    using T = decltype(zero);
    size_t i = 0;
    for (T& v : tensor.mutable_values<T>()) {
      if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
        v = T(static_cast<float>(values[i++]));
      } else {
        v = static_cast<T>(values[i++]);
      }
    }
  });
  return tensor;
}

namespace {

class Run {
 public:
  Run(ReferenceInterpreter& interpreter, const Function& function) : interpreter_(interpreter), function_(function) {}

  absl::StatusOr<std::vector<Array>> Evaluate(std::vector<Array> arguments) {
    if (arguments.size() != function_.parameters.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "function '", function_.name, "' has ", function_.parameters.size(), " parameters, not ", arguments.size()));
    }
    values_.resize(function_.graph.nodes().size());
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Parameter& parameter = function_.parameters[i];
      if (!arguments[i].shape.IsCompatibleWith(function_.graph.spec({parameter.node, 0}).shape)) {
        return absl::InvalidArgumentError(
            absl::StrCat("parameter '", parameter.name, "' got ", arguments[i].shape.ToString()));
      }
      values_[parameter.node] = {std::move(arguments[i])};
    }
    for (size_t id = 0; id < values_.size(); ++id) {
      const Node& node = function_.graph.nodes()[id];
      COHORT_RETURN_IF_ERROR(Evaluate(node, values_[id])) << "node '" << node.name << "' (" << node.op << ")";
      COHORT_RETURN_IF_ERROR(Check(node, values_[id])) << "node '" << node.name << "' (" << node.op << ")";
    }
    std::vector<Array> results;
    for (const Result& r : function_.results) results.push_back(values_[r.output.node][r.output.index]);
    return results;
  }

 private:
  // A shape that inference did not foresee is an error of inference.
  static absl::Status Check(const Node& node, const std::vector<Array>& outputs) {
    for (size_t i = 0; i < outputs.size() && node.op != "VarHandleOp"; ++i) {
      if (outputs[i].shape.IsCompatibleWith(node.outputs[i].shape)) continue;
      return absl::InvalidArgumentError(absl::StrCat("output ", i, " became ", outputs[i].shape.ToString(),
                                                     ", but was inferred as ", node.outputs[i].ToString()));
    }
    return absl::OkStatus();
  }

  absl::Status Evaluate(const Node& node, std::vector<Array>& outputs) {
    if (node.op == "Placeholder" || node.op == "VarHandleOp" || node.op == "NoOp") {
      if (node.op == "VarHandleOp") outputs = {Array{}};
      return absl::OkStatus();
    }
    std::vector<Array> inputs;
    for (const Output input : node.inputs) inputs.push_back(values_[input.node][input.index]);
    if (node.op == "ReplicaId") {
      outputs = {Array{{}, {static_cast<double>(interpreter_.replica_id)}}};
      return absl::OkStatus();
    }
    if (node.op == "PartitionedCall") return Call(node, std::move(inputs), outputs);
    if (!node.inputs.empty() && function_.graph.node(node.inputs[0].node).op == "VarHandleOp") {
      return Access(node, inputs, outputs);
    }
    const auto it = ReferenceOps().find(node.op);
    if (it == ReferenceOps().end()) return absl::UnimplementedError("the reference interpreter has no such op");
    COHORT_ASSIGN_OR_RETURN(outputs, it->second(node, inputs));
    return absl::OkStatus();
  }

  absl::Status Call(const Node& node, std::vector<Array> inputs, std::vector<Array>& outputs) {
    const std::string name = GetAttributeOr<std::string>(node.attributes, "f", "");
    if (interpreter_.library == nullptr || !interpreter_.library->contains(name)) {
      return absl::NotFoundError(absl::StrCat("no function '", name, "'"));
    }
    Run callee(interpreter_, interpreter_.library->at(name));
    COHORT_ASSIGN_OR_RETURN(outputs, callee.Evaluate(std::move(inputs)));
    return absl::OkStatus();
  }

  // Ops on a variable.
  absl::Status Access(const Node& node, const std::vector<Array>& inputs, std::vector<Array>& outputs) {
    const Attributes& handle = function_.graph.node(node.inputs[0].node).attributes;
    const std::string name = GetAttributeOr<std::string>(handle, "shared_name", "");
    const DType dtype = GetAttributeOr<DType>(handle, "dtype", DType::kInvalid);
    if (node.op == "ApplyGradient") {
      interpreter_.gradients.emplace_back(name, inputs[1].To(dtype));
      return absl::OkStatus();
    }
    if (node.op == "AssignVariableOp") {
      interpreter_.variables[name] = inputs[1].To(dtype);
      return absl::OkStatus();
    }
    const auto it = interpreter_.variables.find(name);
    if (it == interpreter_.variables.end()) {
      return absl::FailedPreconditionError(absl::StrCat("variable '", name, "' has no value"));
    }
    Array value = Array::Of(it->second);
    if (node.op == "ReadVariableOp") {
      outputs = {std::move(value)};
      return absl::OkStatus();
    }
    const double sign = node.op == "AssignSubVariableOp" ? -1 : 1;
    for (size_t i = 0; i < value.values.size(); ++i) value.values[i] += sign * inputs[1].values[i];
    it->second = value.To(dtype);
    return absl::OkStatus();
  }

  ReferenceInterpreter& interpreter_;
  const Function& function_;
  std::vector<std::vector<Array>> values_;  // by node
};

}  // namespace

absl::StatusOr<std::vector<Tensor>> ReferenceInterpreter::Run(const Function& function,
                                                              absl::Span<const Tensor> arguments) {
  gradients.clear();
  std::vector<Array> arrays;
  for (const Tensor& t : arguments) arrays.push_back(Array::Of(t));
  COHORT_ASSIGN_OR_RETURN(const std::vector<Array> results, testing::Run(*this, function).Evaluate(std::move(arrays)),
                          _ << "function '" << function.name << "'");
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < results.size(); ++i) {
    tensors.push_back(results[i].To(function.graph.spec(function.results[i].output).dtype));
  }
  return tensors;
}

std::vector<std::string> ReferenceInterpreter::Ops() {
  std::vector<std::string> names = {"Placeholder",         "NoOp",           "PartitionedCall",  "ReplicaId",
                                    "VarHandleOp",         "ReadVariableOp", "AssignVariableOp", "AssignAddVariableOp",
                                    "AssignSubVariableOp", "ApplyGradient"};
  for (const auto& [name, op] : ReferenceOps()) names.push_back(name);
  return names;
}

}  // namespace cohort::testing
