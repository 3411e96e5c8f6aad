#ifndef COHORT_RUNTIME_CLUSTER_SLURM_RESOLVER_H_
#define COHORT_RUNTIME_CLUSTER_SLURM_RESOLVER_H_

#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/cluster/cluster_resolver.h"
#include "runtime/cluster/slurm.h"

namespace cohort {

// The cluster of a Slurm step, dealt out as slurm.h says.
class SlurmResolver final : public ClusterResolver {
 public:
  // Errors of SlurmTfConfig.
  static absl::StatusOr<SlurmResolver> Create(const Environment& environment, const SlurmOptions& options = {},
                                              std::string rpc_layer = "grpc");

  // The address of `task`, by default the own one.
  absl::StatusOr<std::string> master(const std::optional<TaskId>& task = std::nullopt) const override;

  // The GPUs of one task, the same for all: {} for none.
  std::map<std::string, int> num_accelerators(const std::optional<TaskId>& task = std::nullopt) const override;

  // "2,3": what CUDA_VISIBLE_DEVICES of this process should be.
  const std::string& cuda_visible_devices() const { return cuda_visible_devices_; }

 private:
  SlurmResolver(const SlurmTask& step, std::string rpc_layer);

  std::string cuda_visible_devices_;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_CLUSTER_SLURM_RESOLVER_H_
