#include "runtime/distribute/variable_modes.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "runtime/base/status_macros.h"

namespace cohort {
namespace {

constexpr absl::string_view kSynchronizations[] = {"AUTO", "NONE", "ON_WRITE", "ON_READ"};
constexpr absl::string_view kAggregations[] = {"NONE", "SUM", "MEAN", "ONLY_FIRST_REPLICA"};

// The place of `mode`, a name or a number, in `names`.
absl::StatusOr<int> ParseMode(const Nest& mode, absl::Span<const absl::string_view> names, absl::string_view what) {
  const int count = static_cast<int>(names.size());
  if (mode.kind() == Nest::Kind::kInt && mode.int_value() >= 0 && mode.int_value() < count) {
    return static_cast<int>(mode.int_value());
  }
  for (int i = 0; i < count && mode.kind() == Nest::Kind::kString; ++i) {
    if (absl::EqualsIgnoreCase(mode.string(), names[i])) return i;
  }
  return absl::InvalidArgumentError(absl::StrCat("Invalid variable ", what, " mode: ", mode.ToString()));
}

absl::Status CheckMeanDType(VariableAggregation aggregation, DType dtype) {
  if (aggregation != VariableAggregation::kMean || IsFloating(dtype)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("a variable of ", DTypeName(dtype),
                                                 " cannot have aggregation MEAN and a non-floating dtype: its mean is "
                                                 "no ",
                                                 DTypeName(dtype)));
}

}  // namespace

absl::StatusOr<VariableSynchronization> ParseVariableSynchronization(const Nest& mode) {
  COHORT_ASSIGN_OR_RETURN(const int number, ParseMode(mode, kSynchronizations, "synchronization"));
  return static_cast<VariableSynchronization>(number);
}

absl::StatusOr<VariableAggregation> ParseVariableAggregation(const Nest& mode) {
  if (mode.kind() == Nest::Kind::kString && absl::EqualsIgnoreCase(mode.string(), "only_first_tower")) {
    return VariableAggregation::kOnlyFirstReplica;
  }
  COHORT_ASSIGN_OR_RETURN(const int number, ParseMode(mode, kAggregations, "aggregation"));
  return static_cast<VariableAggregation>(number);
}

absl::string_view VariableSynchronizationName(VariableSynchronization mode) {
  return kSynchronizations[static_cast<int>(mode)];
}
absl::string_view VariableAggregationName(VariableAggregation mode) { return kAggregations[static_cast<int>(mode)]; }

absl::StatusOr<ResolvedVariable> ResolveVariable(const StrategyShape& strategy, const VariableModes& modes,
                                                 DType dtype) {
  ResolvedVariable variable{VariableKind::kPlain, modes.synchronization, modes.aggregation,
                            modes.trainable.value_or(modes.synchronization != VariableSynchronization::kOnRead)};
  if (!strategy.has_per_replica_values()) return variable;
  if (modes.synchronization == VariableSynchronization::kNone) {
    return absl::InvalidArgumentError(absl::StrCat("variable synchronization NONE is not supported by strategy ",
                                                   StrategyName(strategy.kind), ": use AUTO, ON_WRITE or ON_READ"));
  }
  if (modes.synchronization == VariableSynchronization::kAuto) {
    variable.synchronization = VariableSynchronization::kOnWrite;
  }
  const bool one_copy =
      strategy.kind == StrategyKind::kCentralStorage || strategy.kind == StrategyKind::kParameterServer;
  if (one_copy) {
    if (strategy.num_replicas() > 1) variable.kind = VariableKind::kAggregating;
    return variable;
  }
  COHORT_RETURN_IF_ERROR(CheckMeanDType(modes.aggregation, dtype));
  const bool on_read = modes.synchronization == VariableSynchronization::kOnRead;
  variable.kind = on_read ? VariableKind::kSyncOnRead : VariableKind::kMirrored;
  return variable;
}

}  // namespace cohort
