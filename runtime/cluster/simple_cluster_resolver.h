#ifndef COHORT_RUNTIME_CLUSTER_SIMPLE_CLUSTER_RESOLVER_H_
#define COHORT_RUNTIME_CLUSTER_SIMPLE_CLUSTER_RESOLVER_H_

#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/cluster/cluster_resolver.h"

namespace cohort {

struct SimpleClusterResolverOptions {
  std::string master;  // what master() says without a task
  ResolvedTask task;
  std::string environment;
  std::map<std::string, int> num_accelerators;  // of every task
};

// Says what it was told. It does not look whether that makes sense: strategies do.
class SimpleClusterResolver final : public ClusterResolver {
 public:
  explicit SimpleClusterResolver(ClusterSpec cluster, SimpleClusterResolverOptions options = {});

  // The address of `task`; without one the `master` of the options as it is.
  absl::StatusOr<std::string> master(const std::optional<TaskId>& task = std::nullopt) const override;
  std::map<std::string, int> num_accelerators(const std::optional<TaskId>& task = std::nullopt) const override;

 private:
  std::string master_;
  std::map<std::string, int> num_accelerators_;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_CLUSTER_SIMPLE_CLUSTER_RESOLVER_H_
