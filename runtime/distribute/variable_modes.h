#ifndef COHORT_RUNTIME_DISTRIBUTE_VARIABLE_MODES_H_
#define COHORT_RUNTIME_DISTRIBUTE_VARIABLE_MODES_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/distribute/nest.h"
#include "runtime/distribute/replica_ids.h"
#include "runtime/tensor/dtype.h"

namespace cohort {

// The numbers are TensorFlow's.
enum class VariableSynchronization : uint8_t { kAuto = 0, kNone = 1, kOnWrite = 2, kOnRead = 3 };
enum class VariableAggregation : uint8_t { kNone = 0, kSum = 1, kMean = 2, kOnlyFirstReplica = 3 };

// A name in any case ("on_read"; "only_first_tower" is the old name of only_first_replica) or a number of the enum.
// InvalidArgument: anything else.
absl::StatusOr<VariableSynchronization> ParseVariableSynchronization(const Nest& mode);
absl::StatusOr<VariableAggregation> ParseVariableAggregation(const Nest& mode);
absl::string_view VariableSynchronizationName(VariableSynchronization mode);  // "ON_READ"
absl::string_view VariableAggregationName(VariableAggregation mode);          // "ONLY_FIRST_REPLICA"

// What a strategy makes of a variable.
enum class VariableKind : uint8_t {
  kPlain,        // one copy
  kMirrored,     // one component on each replica, written together
  kSyncOnRead,   // one component on each replica, written apart, combined by a read
  kAggregating,  // one copy, to which the writes of all replicas are combined
};

// As asked for when a variable is created; unset fields take their defaults.
struct VariableModes {
  VariableSynchronization synchronization = VariableSynchronization::kAuto;
  VariableAggregation aggregation = VariableAggregation::kNone;
  std::optional<bool> trainable;
};

struct ResolvedVariable {
  VariableKind kind = VariableKind::kPlain;
  VariableSynchronization synchronization = VariableSynchronization::kAuto;
  VariableAggregation aggregation = VariableAggregation::kNone;
  bool trainable = true;  // unless set: all but ON_READ
};

// Rules 6.2-6.4. InvalidArgument: synchronization NONE; aggregation MEAN of a dtype that is not a float (but for one
// copy, where all replicas may assign the same host value).
absl::StatusOr<ResolvedVariable> ResolveVariable(const StrategyShape& strategy, const VariableModes& modes,
                                                 DType dtype);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DISTRIBUTE_VARIABLE_MODES_H_
