#include "runtime/cluster/cluster_resolver.h"

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace cohort {

std::string WithRpcLayer(absl::string_view address, absl::string_view rpc_layer) {
  return address.empty() || rpc_layer.empty() ? std::string(address) : absl::StrCat(rpc_layer, "://", address);
}

std::optional<TaskId> ClusterResolver::task() const {
  const std::optional<std::string> type = task_type();
  const std::optional<int> id = task_id();
  if (!type || !id) return std::nullopt;
  return TaskId{*type, *id};
}

TfConfig ClusterResolver::ToTfConfig() const {
  return {.cluster = cluster_, .self = task(), .rpc_layer = rpc_layer(), .session_master = "", .warnings = {}};
}

absl::StatusOr<std::string> ClusterResolver::AddressOf(const TaskId& task) const {
  COHORT_ASSIGN_OR_RETURN(const std::string address, cluster_.task_address(task));
  return WithRpcLayer(address, rpc_layer());
}

void ClusterResolver::SetFound(ClusterSpec cluster, ResolvedTask found) {
  cluster_ = std::move(cluster);
  found_ = std::move(found);
}

}  // namespace cohort
