#ifndef COHORT_RUNTIME_CLUSTER_UNION_RESOLVER_H_
#define COHORT_RUNTIME_CLUSTER_UNION_RESOLVER_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/cluster/cluster_resolver.h"

namespace cohort {

// Per job: dense on all sides, the tasks follow each other in the order of `clusters`, so that later indices shift;
// sparse (or empty) on any side, indices stay as they are. NotFound: such an index is there twice; names job, index and
// both addresses.
absl::StatusOr<ClusterSpec> UnionOf(absl::Span<const ClusterSpec> clusters);

// Several resolvers as one. All but the cluster comes from the first of them.
class UnionResolver final : public ClusterResolver {
 public:
  // Asks each for its cluster once. InvalidArgument: none given. InvalidType: one of them is null. UnionOf's error.
  static absl::StatusOr<UnionResolver> Create(std::vector<std::unique_ptr<ClusterResolver>> resolvers);

  // The address of `task` in the union; without one the first resolver's master.
  absl::StatusOr<std::string> master(const std::optional<TaskId>& task = std::nullopt) const override;
  std::map<std::string, int> num_accelerators(const std::optional<TaskId>& task = std::nullopt) const override;

 private:
  UnionResolver(ClusterSpec cluster, std::unique_ptr<ClusterResolver> first);

  std::unique_ptr<ClusterResolver> first_;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_CLUSTER_UNION_RESOLVER_H_
