#include "runtime/distribute/scatter_rules.h"

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/distribute/elementwise.h"
#include "runtime/distribute/reduce.h"

namespace cohort {
namespace {

constexpr absl::string_view kNames[] = {"scatter_add", "scatter_sub", "scatter_mul",   "scatter_div",
                                        "scatter_min", "scatter_max", "scatter_update"};
constexpr ElementOp kElementOps[] = {ElementOp::kAdd, ElementOp::kSub, ElementOp::kMul,    ElementOp::kDiv,
                                     ElementOp::kMin, ElementOp::kMax, ElementOp::kReplace};

std::string Described(const VariableState& variable, ScatterOp op) {
  return absl::StrCat(kNames[static_cast<int>(op)], " of variable '", variable.name, "'");
}

absl::Status CheckAllowed(const VariableState& variable, ScatterOp op) {
  if (variable.kind == VariableKind::kSyncOnRead) {
    return absl::UnimplementedError(absl::StrCat(Described(variable, op), ", which is ON_READ, is not supported"));
  }
  const bool combines =
      variable.aggregation == VariableAggregation::kSum || variable.aggregation == VariableAggregation::kMean;
  const bool selects = op == ScatterOp::kMin || op == ScatterOp::kMax || op == ScatterOp::kUpdate;
  if (!combines || !selects || variable.kind == VariableKind::kPlain) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(Described(variable, op), " is not supported with aggregation ",
                                               VariableAggregationName(variable.aggregation),
                                               ", only with NONE and ONLY_FIRST_REPLICA"));
}

// Component k scatters slices[k]; of one element, each component the same.
absl::StatusOr<std::vector<Tensor>> ScatterEach(const VariableState& variable, ScatterOp op,
                                                absl::Span<const IndexedSlices> slices) {
  if (slices.size() != 1 && slices.size() != variable.components.size()) {
    return absl::InvalidArgumentError(absl::StrCat(Described(variable, op), " has ", variable.components.size(),
                                                   " components, the value ", slices.size()));
  }
  std::vector<Tensor> components;
  for (size_t k = 0; k < variable.components.size(); ++k) {
    COHORT_ASSIGN_OR_RETURN(Tensor scattered, Scatter(op, variable.components[k], slices[slices.size() == 1 ? 0 : k]),
                            _ << Described(variable, op));
    components.push_back(std::move(scattered));
  }
  return components;
}

}  // namespace

absl::StatusOr<Tensor> Scatter(ScatterOp op, const Tensor& tensor, const IndexedSlices& slices) {
  COHORT_RETURN_IF_ERROR(Validate(slices));
  if (slices.values.dtype() != tensor.dtype() || slices.dense_shape != tensor.shape()) {
    return absl::InvalidArgumentError(absl::StrCat("rows of a ",
                                                   TensorSpec{slices.values.dtype(), slices.dense_shape}.ToString(),
                                                   " for a ", tensor.spec().ToString()));
  }
  if (DTypeSize(tensor.dtype()) == 0) {
    return absl::InvalidArgumentError(absl::StrCat("no rows of ", DTypeName(tensor.dtype()), " can be scattered"));
  }
  Tensor result = tensor.Clone();
  const std::vector<int64_t> rows = RowsOf(slices);
  for (size_t i = 0; i < rows.size(); ++i) {
    Tensor row = RowView(result, rows[i]);
    COHORT_RETURN_IF_ERROR(Apply(kElementOps[static_cast<int>(op)], row, RowView(slices.values, i)))
        << "row " << rows[i];
  }
  return result;
}

absl::StatusOr<std::vector<Tensor>> ScatterCrossReplica(const VariableState& variable, ScatterOp op,
                                                        const Nest& slices) {
  COHORT_RETURN_IF_ERROR(CheckAllowed(variable, op));
  std::vector<IndexedSlices> parts;
  for (const Nest& part : slices.is_distributed() ? slices.children() : absl::MakeConstSpan(&slices, 1)) {
    if (part.kind() != Nest::Kind::kSparse) {
      return absl::InvalidArgumentError(
          absl::StrCat(Described(variable, op), " takes a sparse value, not a ", KindName(part.kind())));
    }
    parts.push_back(part.sparse());
  }
  return ScatterEach(variable, op, parts);
}

absl::StatusOr<std::vector<Tensor>> ScatterInReplicas(const VariableState& variable, ScatterOp op,
                                                      absl::Span<const IndexedSlices> slices) {
  COHORT_RETURN_IF_ERROR(CheckAllowed(variable, op));
  if (static_cast<int>(slices.size()) != variable.strategy.num_replicas()) {
    return absl::InvalidArgumentError(absl::StrCat(Described(variable, op), " is called by ", slices.size(), " of ",
                                                   variable.strategy.num_replicas(), " replicas"));
  }
  if (variable.kind == VariableKind::kPlain) return ScatterEach(variable, op, slices);
  switch (variable.aggregation) {
    case VariableAggregation::kNone:
      if (variable.kind == VariableKind::kMirrored) return ScatterEach(variable, op, slices);
      return absl::InvalidArgumentError(
          absl::StrCat("You must specify an aggregation method for ", Described(variable, op), " in replica context"));
    case VariableAggregation::kOnlyFirstReplica:
      return ScatterEach(variable, op, slices.subspan(0, 1));
    default:
      break;
  }
  const bool sum = variable.aggregation == VariableAggregation::kSum;
  COHORT_ASSIGN_OR_RETURN(const IndexedSlices combined,
                          ReduceSlices(sum ? ReplicaReduceOp::kSum : ReplicaReduceOp::kMean, slices),
                          _ << Described(variable, op));
  return ScatterEach(variable, op, {combined});
}

}  // namespace cohort
