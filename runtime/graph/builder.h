#ifndef COHORT_RUNTIME_GRAPH_BUILDER_H_
#define COHORT_RUNTIME_GRAPH_BUILDER_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/graph/function.h"

namespace cohort {

class FunctionBuilder;

// A symbolic tensor: one output of a node of the function that is being traced. The functions in runtime/graph/ops.h
// compute with it. Copies freely; must not outlive its builder. Invalid (default-made, or after an error) it has an
// invalid dtype and rank 0, and whatever is made from it is invalid too.
struct Value {
  FunctionBuilder* builder = nullptr;
  Output output;

  bool valid() const { return output.node >= 0; }
  TensorSpec spec() const;
  DType dtype() const { return spec().dtype; }
  Shape shape() const { return spec().shape; }
};

// Traces a function: every call appends nodes. The first error sticks, later calls do nothing, and Finish() returns it,
// so that tracing code reads like math. Used by one thread at a time.
class FunctionBuilder {
 public:
  // `library`: the functions that it may call; must outlive the builder.
  explicit FunctionBuilder(std::string name, const FunctionLibrary* library = nullptr);
  FunctionBuilder(const FunctionBuilder&) = delete;
  FunctionBuilder& operator=(const FunctionBuilder&) = delete;

  // The next parameter. Unknown dimensions are allowed.
  Value AddParameter(absl::string_view name, TensorSpec spec);
  // The handle of a variable; the same name gives the same handle, and must come with the same spec.
  Value Variable(absl::string_view name, TensorSpec spec);
  void AddResult(absl::string_view name, Value value, ResultRole role = ResultRole::kFetch);

  // The variable's value at this point of the function: one read per variable, unless an assignment stands between.
  // Reads and assignments of a variable are ordered by control inputs.
  Value ReadVariable(Value handle);
  // op: AssignVariableOp, AssignAddVariableOp or AssignSubVariableOp.
  void AssignVariable(absl::string_view op, Value handle, Value value);
  // What the commit does with `gradient`, the sum over this replica's examples. `optimizer`: attributes "optimizer"
  // ("sgd", "momentum", "adagrad", "adam") and its hyperparameters. Reads never see its effect within the step.
  void ApplyGradient(Value handle, Value gradient, Attributes optimizer);

  // Any op: its node, or its first output. Invalid after an error.
  int AddNode(absl::string_view op, absl::Span<const Value> inputs, Attributes attributes = {},
              absl::string_view name = "", std::vector<int> control_inputs = {});
  Value Add(absl::string_view op, absl::Span<const Value> inputs, Attributes attributes = {},
            absl::string_view name = "");
  Value OutputOf(int node, int index) { return node < 0 ? Value{this, {}} : Value{this, {node, index}}; }

  const Graph& graph() const { return function_.graph; }
  const absl::Status& status() const { return status_; }
  void Fail(absl::Status status);  // as if a call had failed

  // The function, or the first error with the function's name before it. The builder is empty afterwards.
  absl::StatusOr<Function> Finish();

 private:
  struct VariableState {
    Value read;                    // of the present value; invalid: none yet
    int last_write = -1;           // node
    std::vector<int> reads_since;  // nodes that read after it
  };

  Function function_;
  absl::Status status_;
  absl::flat_hash_map<std::string, Value> handles_;    // by variable
  absl::flat_hash_map<int, VariableState> variables_;  // by handle node
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_GRAPH_BUILDER_H_
