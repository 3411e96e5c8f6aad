#include "runtime/distribute/replica_ids.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/base/error_kind.h"

namespace cohort {
namespace {

absl::string_view PartWithoutSuffix(absl::string_view part) {
  const size_t last = part.find_last_not_of("0123456789");
  const bool has_suffix = last != absl::string_view::npos && last > 0 && part[last] == '_' && last + 1 < part.size();
  return has_suffix ? part.substr(0, last) : part;
}

}  // namespace

int StrategyShape::num_replicas() const { return has_per_replica_values() ? num_workers * replicas_per_worker : 1; }

int GlobalReplicaId(const StrategyShape& strategy, int id_in_cluster, int local_replica) {
  return id_in_cluster * strategy.replicas_per_worker + local_replica;
}

std::vector<int> ReplicaIdsOf(const StrategyShape& strategy, int id_in_cluster) {
  std::vector<int> ids;
  for (int r = 0; r < strategy.replicas_per_worker; ++r) ids.push_back(GlobalReplicaId(strategy, id_in_cluster, r));
  return ids;
}

std::string ComponentName(absl::string_view name, int component) {
  return component == 0 ? std::string(name) : absl::StrCat(name, "/replica_", component);
}

std::string NameWithoutUniqueSuffix(absl::string_view name) {
  std::vector<absl::string_view> parts = absl::StrSplit(name, '/');
  for (absl::string_view& part : parts) part = PartWithoutSuffix(part);
  return absl::StrJoin(parts, "/");
}

absl::Status CheckSameCreations(absl::Span<const std::vector<std::string>> created) {
  for (size_t r = 1; r < created.size(); ++r) {
    const size_t both = std::min(created[0].size(), created[r].size());
    for (size_t i = 0; i < both; ++i) {
      if (NameWithoutUniqueSuffix(created[0][i]) == NameWithoutUniqueSuffix(created[r][i])) continue;
      return WrongContextError(absl::StrCat("Tried to create variable ", created[r][i],
                                            " with mismatching name on device ", r, ": replica 0 created ",
                                            created[0][i], " in its place"));
    }
    if (created[0].size() == created[r].size()) continue;
    const bool more = created[r].size() > both;
    return WrongContextError(absl::StrCat("Tried to create variable ", more ? created[r][both] : created[0][both],
                                          " on replica ", more ? r : 0, " but not on replica ", more ? 0 : r,
                                          ": all replicas must create the same variables in the same order"));
  }
  return absl::OkStatus();
}

}  // namespace cohort
