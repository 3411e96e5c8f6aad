#ifndef COHORT_RUNTIME_DISTRIBUTE_REPLICA_IDS_H_
#define COHORT_RUNTIME_DISTRIBUTE_REPLICA_IDS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/cluster/strategy_kind.h"

namespace cohort {

// How many replicas a strategy has and where: R on each of W workers.
struct StrategyShape {
  StrategyKind kind = StrategyKind::kDefault;
  int num_workers = 1;          // W; above 1 only of multi_worker_mirrored
  int replicas_per_worker = 1;  // R; devices on a worker
  // N = W * R; 1 of default and one_device.
  int num_replicas() const;
  // Whether PerReplica values exist: not of default and one_device.
  bool has_per_replica_values() const { return kind != StrategyKind::kDefault && kind != StrategyKind::kOneDevice; }
};

// A replica's place in the group: worker id_in_cluster's local replica r is id_in_cluster * R + r.
int GlobalReplicaId(const StrategyShape& strategy, int id_in_cluster, int local_replica);

// Ids of the worker's replicas, ascending.
std::vector<int> ReplicaIdsOf(const StrategyShape& strategy, int id_in_cluster);

// Component k of variable `name`: "v", "v/replica_1", "v/replica_2", ...
std::string ComponentName(absl::string_view name, int component);

// A variable's name without what makes it unique: "_1", "_2", ... at the end of each part: "dense_1/kernel_2" ->
// "dense/kernel".
std::string NameWithoutUniqueSuffix(absl::string_view name);

// Whether replicas created the same variables in the same order. created[r]: the names on replica r.
// WrongContext names the variable, the replica, and what replica 0 created instead (3.19).
absl::Status CheckSameCreations(absl::Span<const std::vector<std::string>> created);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DISTRIBUTE_REPLICA_IDS_H_
