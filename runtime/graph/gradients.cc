#include "runtime/graph/gradients.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status_macros.h"
#include "runtime/graph/gradient_rule.h"
#include "runtime/graph/op.h"
#include "runtime/graph/ops.h"

namespace cohort {
namespace {

class BackwardPass {
 public:
  BackwardPass(FunctionBuilder& builder, Value y) : builder_(builder), y_(y) {}

  absl::StatusOr<std::vector<Value>> Run(absl::Span<const Value> xs, Unconnected unconnected) {
    COHORT_RETURN_IF_ERROR(Check(xs));
    MarkNodesThatDependOn(xs);
    sums_[y_.output] = OnesLike(y_);
    for (int node = y_.output.node; node >= 0; --node) {
      COHORT_RETURN_IF_ERROR(Visit(node));
      COHORT_RETURN_IF_ERROR(builder_.status());
    }
    return Collect(xs, unconnected);
  }

 private:
  const Node& node(int id) const { return builder_.graph().node(id); }

  absl::Status Check(absl::Span<const Value> xs) const {
    COHORT_RETURN_IF_ERROR(builder_.status());
    if (!y_.valid() || y_.builder != &builder_) return absl::InvalidArgumentError("y is no value of this function");
    if (!IsFloating(y_.dtype())) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", node(y_.output.node).name, "' is ", y_.spec().ToString(), "; only floats have gradients"));
    }
    for (const Value& x : xs) {
      if (!x.valid() || x.builder != &builder_) return absl::InvalidArgumentError("an x is no value of this function");
      if (!IsFloating(x.dtype()) && x.dtype() != DType::kResource) {
        return absl::InvalidArgumentError(
            absl::StrCat("'", node(x.output.node).name, "' is ", x.spec().ToString(), "; only floats have gradients"));
      }
    }
    return absl::OkStatus();
  }

  // Only on the way from an x to y are gradients worth computing.
  void MarkNodesThatDependOn(absl::Span<const Value> xs) {
    depends_.assign(y_.output.node + 1, false);
    for (const Value& x : xs) {
      if (x.output.node < static_cast<int>(depends_.size())) depends_[x.output.node] = true;
    }
    for (size_t id = 0; id < depends_.size(); ++id) {
      for (const Output input : node(static_cast<int>(id)).inputs) {
        if (depends_[input.node]) depends_[id] = true;
      }
    }
  }

  // Hands the gradients of a node's outputs, complete by now, on to its inputs.
  absl::Status Visit(int id) {
    const Node& forward = node(id);
    if (!depends_[id] || forward.inputs.empty()) return absl::OkStatus();
    GradientContext context{&builder_, id, {}, {}, {}, {}, forward.attributes};
    bool any_input = false, any_gradient = false;
    for (const Output input : forward.inputs) {
      context.inputs.push_back({&builder_, input});
      context.needed.push_back(depends_[input.node]);
      any_input |= depends_[input.node];
    }
    for (int i = 0; i < static_cast<int>(forward.outputs.size()); ++i) {
      const auto sum = sums_.find({id, i});
      context.outputs.push_back({&builder_, {id, i}});
      context.output_gradients.push_back(sum == sums_.end() ? Value() : sum->second);
      any_gradient |= sum != sums_.end();
    }
    if (!any_input || !any_gradient) return absl::OkStatus();
    return Apply(context, absl::StrCat("gradient of '", forward.name, "' (", forward.op, ")"));
  }

  absl::Status Apply(const GradientContext& context, const std::string& what) {
    const GradientRule rule = FindOp(node(context.node).op)->gradient;
    if (rule == nullptr) {
      // Integers and booleans end every path; an op that could carry a gradient and does not is an error.
      if (!CarriesFloats(context)) return absl::OkStatus();
      return absl::InvalidArgumentError(absl::StrCat(
          what, ": the op has none",
          node(context.node).op == "PartitionedCall" ? "; inline the function first (runtime/graph/optimize.h)" : ""));
    }
    COHORT_ASSIGN_OR_RETURN(const std::vector<Value> gradients, rule(context), _ << what);
    COHORT_RETURN_IF_ERROR(builder_.status()) << what;
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (!context.needed[i] || !gradients[i].valid()) continue;
      Value& sum = sums_[context.inputs[i].output];
      sum = sum.valid() ? Add(sum, gradients[i]) : gradients[i];
    }
    return absl::OkStatus();
  }

  static bool CarriesFloats(const GradientContext& context) {
    bool in = false, out = false;
    for (size_t i = 0; i < context.inputs.size(); ++i) {
      in |= context.needed[i] && IsFloating(context.inputs[i].dtype());
    }
    for (size_t i = 0; i < context.outputs.size(); ++i) {
      out |= context.output_gradients[i].valid() && IsFloating(context.outputs[i].dtype());
    }
    return in && out;
  }

  absl::StatusOr<std::vector<Value>> Collect(absl::Span<const Value> xs, Unconnected unconnected) {
    std::vector<Value> result;
    std::vector<std::string> missing;
    for (const Value& x : xs) {
      if (const auto sum = sums_.find(x.output); sum != sums_.end()) {
        result.push_back(sum->second);
      } else if (unconnected == Unconnected::kZeros) {
        result.push_back(ZerosLike(x.dtype() == DType::kResource ? ReadVariable(x) : x));
      } else {
        missing.push_back(absl::StrCat("'", node(x.output.node).name, "'"));
      }
    }
    COHORT_RETURN_IF_ERROR(builder_.status());
    if (missing.empty()) return result;
    return absl::InvalidArgumentError(absl::StrCat("'", node(y_.output.node).name, "' does not depend on ",
                                                   absl::StrJoin(missing, ", "), ": there is no gradient"));
  }

  FunctionBuilder& builder_;
  const Value y_;
  std::vector<bool> depends_;     // per node, on an x
  std::map<Output, Value> sums_;  // of the gradients that have arrived so far
};

}  // namespace

absl::StatusOr<std::vector<Value>> Gradients(FunctionBuilder& builder, Value y, absl::Span<const Value> xs,
                                             Unconnected unconnected) {
  return BackwardPass(builder, y).Run(xs, unconnected);
}

}  // namespace cohort
