#ifndef COHORT_RUNTIME_DISTRIBUTE_VARIABLE_RULES_H_
#define COHORT_RUNTIME_DISTRIBUTE_VARIABLE_RULES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/distribute/nest.h"
#include "runtime/distribute/replica_ids.h"
#include "runtime/distribute/variable_modes.h"
#include "runtime/tensor/tensor.h"

namespace cohort {

// Reads and writes of distributed variables (spec 6.5-6.16, 6.18) as functions from components and values to a value or
// to new components. Nothing is written in place: components are shared, never changed.

struct VariableState {
  std::string name;
  VariableKind kind = VariableKind::kPlain;
  VariableAggregation aggregation = VariableAggregation::kNone;
  StrategyShape strategy;
  // Of kMirrored and kSyncOnRead one for each replica of all workers, in replica order; else one. Equal dtypes and
  // shapes.
  std::vector<Tensor> components;
  bool strict = false;  // a write that lets mirrored components diverge is an error
};

enum class AssignOp : uint8_t { kAssign, kAdd, kSub };

// Inside replica `replica`: its component, or the one copy.
const Tensor& ReadInReplica(const VariableState& variable, int replica);

// In cross-replica context, and outside any scope. A mirrored variable gives a copy of component `component`, that of
// the current device (0 if it has none); an ON_READ one its aggregated value, which all workers must read.
// InvalidArgument: ON_READ without aggregation.
absl::StatusOr<Tensor> ReadCrossReplica(const VariableState& variable, int component = 0);

// Inside a replica under variable_sync_on_read_context: the aggregated value of an ON_READ variable, else as
// ReadInReplica. Unimplemented: `as_value`, that is value() or read_value() rather than use as a tensor.
absl::StatusOr<Tensor> ReadUnderSyncOnReadContext(const VariableState& variable, int replica, bool as_value);

// Host numbers in a value are converted to the variable's dtype; tensors must have its dtype and shape
// (InvalidArgument names both). Each function gives all components after the write.

// In cross-replica context. A plain value goes to each component, of a PerReplica or Mirrored value component k to
// component k. ON_READ: plain values only; with SUM each component becomes value / N, and adding is InvalidArgument.
absl::StatusOr<std::vector<Tensor>> AssignCrossReplica(const VariableState& variable, AssignOp op, const Nest& value);

// In replica context, where replica r calls with values[r], as many as the strategy has replicas. ON_READ: each to its
// own component. Otherwise the aggregation combines the values (all call together) and each component gets the result;
// with NONE each mirrored component gets its own (see LetsComponentsDiverge), one copy for all is InvalidArgument.
// InvalidArgument too: SUM of one and the same object on all of several replicas (5.7, 6.9).
absl::StatusOr<std::vector<Tensor>> AssignInReplicas(const VariableState& variable, AssignOp op,
                                                     absl::Span<const Nest> values);

// In the update context of component k, directly; k = 0 for one copy.
absl::StatusOr<std::vector<Tensor>> AssignInUpdate(const VariableState& variable, AssignOp op, int component,
                                                   const Nest& value);

// Whether writes in replica context may leave different values in a mirrored variable: callers warn once for each.
bool LetsComponentsDiverge(const VariableState& variable);

// Components of a deep copy, in memory of their own.
std::vector<Tensor> DeepCopy(const VariableState& variable);

enum class VariableContext : uint8_t { kCrossReplica, kReplica, kUpdate };
// InvalidArgument: the handle of a distributed variable, of which there are many, outside a replica or an update.
absl::Status CheckHandleAccess(const VariableState& variable, VariableContext context);
// WrongContext "Mixing different": strategy `in_force` (nullptr: nothing entered) is not the variable's own.
absl::Status CheckVariableStrategy(const VariableState& variable, const void* own, const void* in_force);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DISTRIBUTE_VARIABLE_RULES_H_
