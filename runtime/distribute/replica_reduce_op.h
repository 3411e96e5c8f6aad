#ifndef COHORT_RUNTIME_DISTRIBUTE_REPLICA_REDUCE_OP_H_
#define COHORT_RUNTIME_DISTRIBUTE_REPLICA_REDUCE_OP_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/distribute/nest.h"

namespace cohort {

// How replicas combine their values (5.1). A mean is a sum, divided once.
enum class ReplicaReduceOp : uint8_t { kSum, kMean };

// A string: "sum", "Sum", "MEAN", in any case. InvalidArgument: another name. InvalidType: another kind of leaf.
absl::StatusOr<ReplicaReduceOp> ParseReplicaReduceOp(const Nest& name);
absl::string_view ReplicaReduceOpName(ReplicaReduceOp op);  // "SUM", "MEAN"

// Dimensions that each replica reduces before the replicas combine; negative ones count from the end. Nullopt: none,
// the replicas combine elementwise.
using Axes = std::optional<std::vector<int64_t>>;

// none, an integer (host scalar or integer tensor of one element), or a list or tuple of such.
// InvalidType: another kind of leaf ("x", 1.5, true).
absl::StatusOr<Axes> ParseAxes(const Nest& axis);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DISTRIBUTE_REPLICA_REDUCE_OP_H_
