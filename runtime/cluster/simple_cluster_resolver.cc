#include "runtime/cluster/simple_cluster_resolver.h"

#include <utility>

namespace cohort {

SimpleClusterResolver::SimpleClusterResolver(ClusterSpec cluster, SimpleClusterResolverOptions options)
    : ClusterResolver(std::move(cluster), std::move(options.task), std::move(options.environment)),
      master_(std::move(options.master)),
      num_accelerators_(std::move(options.num_accelerators)) {}

absl::StatusOr<std::string> SimpleClusterResolver::master(const std::optional<TaskId>& asked) const {
  if (asked) return AddressOf(*asked);
  return master_;
}

std::map<std::string, int> SimpleClusterResolver::num_accelerators(const std::optional<TaskId>&) const {
  return num_accelerators_;
}

}  // namespace cohort
