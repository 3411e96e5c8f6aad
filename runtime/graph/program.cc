#include "runtime/graph/program.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/graph/op.h"
#include "runtime/graph/result_spec.h"

namespace cohort {
namespace {

absl::Status Wrong(absl::string_view what) { return absl::InvalidArgumentError(what); }

absl::Status CheckVariable(const VariableDef& variable) {
  const TensorSpec& spec = variable.spec;
  if (variable.name.empty()) return Wrong("a variable has no name");
  if (DTypeSize(spec.dtype) == 0 || !spec.shape.IsFullyDefined()) {
    return Wrong(absl::StrCat("variable '", variable.name, "' is ", spec.ToString(),
                              "; it must be of numbers or bool and of a known shape"));
  }
  const Initializer& initializer = variable.initializer;
  if (initializer.kind == Initializer::Kind::kTensor && !(initializer.tensor.spec() == spec)) {
    return Wrong(absl::StrCat("variable '", variable.name, "' is ", spec.ToString(), ", but its initial value is ",
                              initializer.tensor.spec().ToString()));
  }
  const bool random =
      initializer.kind == Initializer::Kind::kGlorotUniform || initializer.kind == Initializer::Kind::kGolden;
  if (random && !IsFloating(spec.dtype)) {
    return Wrong(absl::StrCat("variable '", variable.name, "' is ", spec.ToString(),
                              "; only floating variables can start with random values"));
  }
  return absl::OkStatus();
}

// What a function of a file may lack that one from a builder has: each parameter a Placeholder of its own, and results
// that their roles allow.
absl::Status CheckSignature(const Function& function) {
  std::set<int> nodes;
  for (const Parameter& parameter : function.parameters) {
    if (function.graph.node(parameter.node).op != "Placeholder" || !nodes.insert(parameter.node).second) {
      return Wrong(absl::StrCat("parameter '", parameter.name, "' needs a Placeholder of its own"));
    }
  }
  for (const Result& result : function.results) {
    COHORT_RETURN_IF_ERROR(CheckResultSpec(result.name, result.role, function.graph.spec(result.output)));
  }
  return absl::OkStatus();
}

// Handles name declared variables of the same spec, calls name functions.
absl::Status CheckFunction(const Program& program, const std::string& name, const Function& function) {
  COHORT_RETURN_IF_ERROR(CheckSignature(function)) << "function '" << name << "'";
  for (const Node& node : function.graph.nodes()) {
    if (node.op == "PartitionedCall") {
      const std::string callee = GetAttributeOr<std::string>(node.attributes, "f", "");
      if (!program.functions.contains(callee)) {
        return Wrong(absl::StrCat("function '", name, "' calls '", callee, "', which does not exist"));
      }
    }
    if (node.op != "VarHandleOp") continue;
    const std::string variable = GetAttributeOr<std::string>(node.attributes, "shared_name", "");
    const TensorSpec spec{GetAttributeOr<DType>(node.attributes, "dtype", DType::kInvalid),
                          GetAttributeOr<Shape>(node.attributes, "shape", {})};
    const auto it = std::find_if(program.variables.begin(), program.variables.end(),
                                 [&](const VariableDef& v) { return v.name == variable; });
    if (it == program.variables.end()) {
      return Wrong(absl::StrCat("function '", name, "' uses variable '", variable, "', which is not declared"));
    }
    if (!(it->spec == spec)) {
      return Wrong(absl::StrCat("function '", name, "' uses variable '", variable, "' as ", spec.ToString(),
                                ", but it is declared as ", it->spec.ToString()));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckStepFunction(const Program& program, absl::string_view what, const std::string& name, bool needed) {
  if (name.empty()) return needed ? Wrong(absl::StrCat("the loop names no ", what, " function")) : absl::OkStatus();
  const auto it = program.functions.find(name);
  if (it == program.functions.end()) {
    return Wrong(absl::StrCat("the ", what, " function '", name, "' does not exist"));
  }
  int examples = 0, losses = 0;
  for (const Result& result : it->second.results) {
    examples += result.role == ResultRole::kExamples;
    losses += result.role == ResultRole::kLossSum;
  }
  if (examples != 1 || losses > 1) {
    return Wrong(absl::StrCat("the ", what, " function '", name, "' has ", examples,
                              " results with the count of examples and ", losses,
                              " with the sum of losses; it must have one, and at most one"));
  }
  return absl::OkStatus();
}

absl::Status CheckLoop(const Program& program) {
  const Loop& loop = program.loop;
  if (!(loop.learning_rate >= 0)) return Wrong(absl::StrCat("the learning rate is ", loop.learning_rate));
  if (!std::isfinite(loop.final_learning_rate)) {
    return Wrong(absl::StrCat("the final learning rate is ", loop.final_learning_rate));
  }
  if (loop.empty()) return absl::OkStatus();
  COHORT_RETURN_IF_ERROR(CheckStepFunction(program, "training", loop.train_function, /*needed=*/true));
  COHORT_RETURN_IF_ERROR(CheckStepFunction(program, "evaluation", loop.evaluate_function, /*needed=*/false));
  if (loop.train_dataset.kind.empty()) return Wrong("the loop has no training data set");
  if (loop.global_batch <= 0)
    return Wrong(absl::StrCat("the global batch is ", loop.global_batch, "; it must be positive"));
  if ((loop.epochs > 0) == (loop.steps > 0) || loop.epochs < 0 || loop.steps < 0) {
    return Wrong(absl::StrCat("the loop has ", loop.epochs, " epochs and ", loop.steps,
                              " steps; exactly one of the two must be positive"));
  }
  if (loop.report_every < 0) return Wrong(absl::StrCat("report_every is ", loop.report_every));
  if (loop.evaluate_function.empty()) return absl::OkStatus();
  if (loop.evaluate_dataset.kind.empty()) return Wrong("the loop has an evaluation function, but no data set for it");
  if (loop.evaluate_batch <= 0) {
    return Wrong(absl::StrCat("the evaluation batch is ", loop.evaluate_batch, "; it must be positive"));
  }
  return absl::OkStatus();
}

}  // namespace

bool Loop::empty() const {
  return train_function.empty() && evaluate_function.empty() && train_dataset.kind.empty() &&
         evaluate_dataset.kind.empty() && global_batch == 0 && epochs == 0 && steps == 0;
}

absl::Status Program::Validate() const {
  const auto context = absl::StrCat("program '", name, "'");
  std::set<std::string> names;
  for (const VariableDef& variable : variables) {
    COHORT_RETURN_IF_ERROR(CheckVariable(variable)) << context;
    if (!names.insert(variable.name).second) {
      return Wrong(absl::StrCat(context, ": variable '", variable.name, "' is declared twice"));
    }
  }
  for (const auto& [key, function] : functions) {
    if (function.name != key) {
      return Wrong(absl::StrCat(context, ": function '", function.name, "' is listed as '", key, "'"));
    }
    COHORT_RETURN_IF_ERROR(CheckFunction(*this, key, function)) << context;
  }
  COHORT_RETURN_IF_ERROR(CheckLoop(*this)) << context;
  return absl::OkStatus();
}

}  // namespace cohort
