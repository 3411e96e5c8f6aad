#include "runtime/executor/fusion.h"

#include <algorithm>
#include <string>

namespace cohort {
namespace {

// What an op that may take others in has taken so far.
bool Has(const StepOp& op, const std::string& attribute) { return op.attributes.contains(attribute); }

class Fuser {
 public:
  Fuser(std::vector<StepOp>& ops, const std::vector<StepValue>& values, const std::vector<bool>& is_float)
      : ops_(ops), values_(values), is_float_(is_float), uses_(values.size(), 0), producer_(values.size(), -1) {}

  void Run() {
    for (size_t i = 0; i < ops_.size(); ++i) {
      for (const int input : ops_[i].inputs) ++uses_[input];
      for (const int output : ops_[i].outputs) producer_[output] = static_cast<int>(i);
    }
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (TakeIn(static_cast<int>(i))) ops_[i].op.clear();
    }
    std::erase_if(ops_, [](const StepOp& op) { return op.op.empty(); });
  }

 private:
  bool TakeIn(int index) {
    const StepOp& op = ops_[index];
    if (op.op == "BiasAdd") return Append(index, "_bias", {"MatMul", "Conv2D"});
    if (op.op == "Relu") return Append(index, "_relu", {"MatMul", "Conv2D"});
    if (op.op == "ReluGrad") return Append(index, "_mask", {"MatMul", "Conv2DBackpropInput", "MaxPoolGrad"});
    return false;
  }

  // The op that makes the first input of ops_[index] does its work too, if that is possible.
  bool Append(int index, const std::string& what, std::initializer_list<absl::string_view> able) {
    const StepOp& op = ops_[index];
    const int link = op.inputs[0];
    const int at = producer_[link];
    if (at < 0 || uses_[link] != 1 || values_[link].kept || !is_float_[link]) return false;
    if (values_[link].bucket_offset >= 0) return false;
    StepOp& producer = ops_[at];
    absl::string_view base = producer.op;
    if (base.substr(0, 6) == "_Fused") base.remove_prefix(6);
    if (std::find(able.begin(), able.end(), base) == able.end()) return false;
    if (Has(producer, what) || Has(producer, "_mask") || (what == "_bias" && Has(producer, "_relu"))) return false;
    // Behind a Reshape elements are the same, but the last dimension, which a bias runs along, is not; nor is the shape
    // that an image's gradient is computed by.
    const bool reshaped = op.input_specs[0] != values_[link].output;
    if (reshaped && (what == "_bias" || base == "Conv2DBackpropInput")) return false;
    if (op.inputs.size() > 1) {
      // The second operand must be there when the producer runs.
      if (producer_[op.inputs[1]] >= at) return false;
      producer.inputs.push_back(op.inputs[1]);
      producer.input_specs.push_back(op.input_specs[1]);
    }
    producer.op = "_Fused" + std::string(base);
    producer.attributes[what] = true;
    producer.outputs[0] = op.outputs[0];
    producer_[op.outputs[0]] = at;
    return true;
  }

  std::vector<StepOp>& ops_;
  const std::vector<StepValue>& values_;
  const std::vector<bool>& is_float_;
  std::vector<int> uses_, producer_;
};

}  // namespace

void FuseOps(std::vector<StepOp>& ops, const std::vector<StepValue>& values, const std::vector<bool>& is_float) {
  Fuser(ops, values, is_float).Run();
}

}  // namespace cohort
