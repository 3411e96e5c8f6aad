#include "runtime/distribute/variable_rules.h"

#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"
#include "runtime/base/error_kind.h"
#include "runtime/base/status_macros.h"
#include "runtime/distribute/elementwise.h"
#include "runtime/distribute/leaf_tensor.h"
#include "runtime/distribute/reduce.h"
#include "runtime/distribute/reduction_part.h"
#include "runtime/distribute/regroup.h"

namespace cohort {
namespace {

constexpr absl::string_view kOpNames[] = {"assign", "assign_add", "assign_sub"};

std::string Named(const VariableState& variable) { return absl::StrCat("variable '", variable.name, "'"); }

bool HasComponents(const VariableState& variable) {
  return variable.kind == VariableKind::kMirrored || variable.kind == VariableKind::kSyncOnRead;
}

// A value as a tensor that fits the variable.
absl::StatusOr<Tensor> Fitting(const VariableState& variable, const Nest& value) {
  const Tensor& component = variable.components[0];
  COHORT_ASSIGN_OR_RETURN(Tensor tensor, LeafTensorOf(component.dtype(), value), _ << Named(variable));
  if (tensor.shape() == component.shape()) return tensor;
  return absl::InvalidArgumentError(absl::StrCat(Named(variable), " has shape ", component.shape().ToString(),
                                                 ", the value ", tensor.shape().ToString()));
}

absl::StatusOr<Tensor> Written(AssignOp op, const Tensor& component, const Tensor& value) {
  if (op == AssignOp::kAssign) return value;
  Tensor result = component.Clone();
  COHORT_RETURN_IF_ERROR(Apply(op == AssignOp::kAdd ? ElementOp::kAdd : ElementOp::kSub, result, value));
  return result;
}

// Every component op= the same value.
absl::StatusOr<std::vector<Tensor>> WriteAll(const VariableState& variable, AssignOp op, const Nest& value) {
  COHORT_ASSIGN_OR_RETURN(const Tensor tensor, Fitting(variable, value));
  std::vector<Tensor> components;
  for (const Tensor& component : variable.components) {
    COHORT_ASSIGN_OR_RETURN(Tensor written, Written(op, component, tensor), _ << Named(variable));
    components.push_back(std::move(written));
  }
  return components;
}

// Component k op= values[k].
absl::StatusOr<std::vector<Tensor>> WriteEach(const VariableState& variable, AssignOp op,
                                              absl::Span<const Nest> values) {
  if (values.size() != variable.components.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(Named(variable), " has ", variable.components.size(), " components, the value ", values.size()));
  }
  std::vector<Tensor> components;
  for (size_t k = 0; k < values.size(); ++k) {
    COHORT_ASSIGN_OR_RETURN(const Tensor value, Fitting(variable, values[k]), _ << "component " << k);
    COHORT_ASSIGN_OR_RETURN(Tensor written, Written(op, variable.components[k], value), _ << Named(variable));
    components.push_back(std::move(written));
  }
  return components;
}

absl::StatusOr<Tensor> Aggregated(const VariableState& variable) {
  switch (variable.aggregation) {
    case VariableAggregation::kSum:
      return ReduceTensors(ReplicaReduceOp::kSum, variable.components, Axes());
    case VariableAggregation::kMean:
      return ReduceTensors(ReplicaReduceOp::kMean, variable.components, Axes());
    case VariableAggregation::kOnlyFirstReplica:
      return variable.components[0];
    case VariableAggregation::kNone:
      break;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(Named(variable),
                   " is ON_READ with aggregation NONE, so its components cannot be reduced to one "
                   "value: read it inside run, or create it with an aggregation"));
}

// ON_READ SUM: x / N in each component, cast back, so that a read gives x again.
absl::StatusOr<Nest> ShareOfSum(const VariableState& variable, const Nest& value) {
  COHORT_ASSIGN_OR_RETURN(const Tensor tensor, Fitting(variable, value));
  COHORT_ASSIGN_OR_RETURN(ReductionPart part, PartOf(ReplicaReduceOp::kMean, tensor, Axes()), _ << Named(variable));
  part.count = static_cast<int64_t>(variable.components.size());
  COHORT_ASSIGN_OR_RETURN(const Tensor share, FoldParts(ReplicaReduceOp::kMean, tensor.dtype(), {part}));
  return Nest(CastTo(share, tensor.dtype()));
}

// What SUM or MEAN make of the replicas' values.
absl::StatusOr<Nest> Combined(const VariableState& variable, absl::Span<const Nest> values) {
  COHORT_ASSIGN_OR_RETURN(Nest grouped, Regroup(values));
  if (grouped.kind() == Nest::Kind::kPerReplica) {
    std::vector<Nest> fitting;
    for (size_t r = 0; r < values.size(); ++r) {
      COHORT_ASSIGN_OR_RETURN(Tensor tensor, Fitting(variable, grouped.children()[r]), _ << "replica " << r);
      fitting.push_back(std::move(tensor));
    }
    grouped = Nest::PerReplica(std::move(fitting));
  } else if (grouped.is_host_scalar()) {
    // A host number that workers add up must not be rounded to the dtype of a literal first; where one value cannot be
    // summed at all, the message shows it as it was written.
    if (variable.strategy.num_workers > 1) {
      COHORT_ASSIGN_OR_RETURN(Tensor tensor, Fitting(variable, grouped));
      grouped = std::move(tensor);
    }
  }
  const bool sum = variable.aggregation == VariableAggregation::kSum;
  COHORT_ASSIGN_OR_RETURN(
      Nest combined, Reduce(variable.strategy, sum ? ReplicaReduceOp::kSum : ReplicaReduceOp::kMean, grouped, Axes()),
      _ << Named(variable));
  return combined;
}

absl::Status CheckReplicaWrite(const VariableState& variable, size_t num_values) {
  if (static_cast<int>(num_values) != variable.strategy.num_replicas()) {
    return absl::InvalidArgumentError(absl::StrCat(Named(variable), " is written by ", num_values, " of ",
                                                   variable.strategy.num_replicas(), " replicas"));
  }
  if (variable.aggregation != VariableAggregation::kNone) return absl::OkStatus();
  if (variable.kind == VariableKind::kAggregating) {
    return absl::InvalidArgumentError(absl::StrCat("You must specify an aggregation method to update ", Named(variable),
                                                   " in replica context: it is one copy for ", num_values,
                                                   " replicas"));
  }
  if (variable.strict && LetsComponentsDiverge(variable)) {
    return absl::InvalidArgumentError(absl::StrCat(
        Named(variable), " has aggregation NONE: a write in replica context would let its components diverge"));
  }
  return absl::OkStatus();
}

}  // namespace

const Tensor& ReadInReplica(const VariableState& variable, int replica) {
  return variable.components[HasComponents(variable) ? replica : 0];
}

absl::StatusOr<Tensor> ReadCrossReplica(const VariableState& variable, int component) {
  if (variable.kind == VariableKind::kSyncOnRead) return Aggregated(variable);
  return ReadInReplica(variable, component).Clone();
}

absl::StatusOr<Tensor> ReadUnderSyncOnReadContext(const VariableState& variable, int replica, bool as_value) {
  if (variable.kind != VariableKind::kSyncOnRead) return ReadInReplica(variable, replica);
  if (!as_value) return Aggregated(variable);
  return absl::UnimplementedError(absl::StrCat("value() of ", Named(variable),
                                               " inside variable_sync_on_read_context: use the variable as a tensor"));
}

absl::StatusOr<std::vector<Tensor>> AssignCrossReplica(const VariableState& variable, AssignOp op, const Nest& value) {
  if (variable.kind == VariableKind::kMirrored && value.is_distributed()) {
    return WriteEach(variable, op, value.children());
  }
  if (variable.kind != VariableKind::kSyncOnRead || variable.aggregation != VariableAggregation::kSum) {
    return WriteAll(variable, op, value);
  }
  if (op != AssignOp::kAssign) {
    return absl::InvalidArgumentError(absl::StrCat(Named(variable), ", which is ON_READ, does not support ",
                                                   kOpNames[static_cast<int>(op)],
                                                   " in cross-replica context when aggregation is SUM"));
  }
  COHORT_ASSIGN_OR_RETURN(const Nest share, ShareOfSum(variable, value));
  return WriteAll(variable, op, share);
}

absl::StatusOr<std::vector<Tensor>> AssignInReplicas(const VariableState& variable, AssignOp op,
                                                     absl::Span<const Nest> values) {
  COHORT_RETURN_IF_ERROR(CheckReplicaWrite(variable, values.size()));
  if (variable.kind == VariableKind::kSyncOnRead || variable.kind == VariableKind::kPlain ||
      variable.aggregation == VariableAggregation::kNone) {
    return WriteEach(variable, op, values);
  }
  if (variable.aggregation == VariableAggregation::kOnlyFirstReplica) return WriteAll(variable, op, values[0]);
  COHORT_ASSIGN_OR_RETURN(const Nest combined, Combined(variable, values));
  return WriteAll(variable, op, combined);
}

absl::StatusOr<std::vector<Tensor>> AssignInUpdate(const VariableState& variable, AssignOp op, int component,
                                                   const Nest& value) {
  COHORT_CHECK(component >= 0 && static_cast<size_t>(component) < variable.components.size(), "no such component");
  COHORT_ASSIGN_OR_RETURN(const Tensor tensor, Fitting(variable, value));
  std::vector<Tensor> components = variable.components;
  COHORT_ASSIGN_OR_RETURN(components[component], Written(op, components[component], tensor), _ << Named(variable));
  return components;
}

bool LetsComponentsDiverge(const VariableState& variable) {
  return variable.kind == VariableKind::kMirrored && variable.aggregation == VariableAggregation::kNone &&
         variable.components.size() > 1;
}

std::vector<Tensor> DeepCopy(const VariableState& variable) {
  std::vector<Tensor> components;
  for (const Tensor& component : variable.components) components.push_back(component.Clone());
  return components;
}

absl::Status CheckHandleAccess(const VariableState& variable, VariableContext context) {
  if (!HasComponents(variable) || context != VariableContext::kCrossReplica) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("`handle` of ", Named(variable),
                                                 " is not available outside the replica context or an update: it has "
                                                 "one for each of its ",
                                                 variable.components.size(), " components"));
}

absl::Status CheckVariableStrategy(const VariableState& variable, const void* own, const void* in_force) {
  if (in_force == nullptr || in_force == own) return absl::OkStatus();
  return WrongContextError(absl::StrCat("Mixing different tf.distribute.Strategy objects: ", Named(variable),
                                        " was created under another strategy than the "
                                        "one in force"));
}

}  // namespace cohort
