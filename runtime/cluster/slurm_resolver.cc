#include "runtime/cluster/slurm_resolver.h"

#include <algorithm>
#include <utility>

#include "runtime/base/status_macros.h"

namespace cohort {

SlurmResolver::SlurmResolver(const SlurmTask& step, std::string rpc_layer)
    : cuda_visible_devices_(step.cuda_visible_devices) {
  SetFound(step.config.cluster, {step.config.self->job, step.config.self->index, std::move(rpc_layer)});
}

absl::StatusOr<SlurmResolver> SlurmResolver::Create(const Environment& environment, const SlurmOptions& options,
                                                    std::string rpc_layer) {
  COHORT_ASSIGN_OR_RETURN(const SlurmTask step, SlurmTfConfig(environment, options));
  return SlurmResolver(step, std::move(rpc_layer));
}

absl::StatusOr<std::string> SlurmResolver::master(const std::optional<TaskId>& asked) const {
  return AddressOf(asked ? *asked : *task());
}

std::map<std::string, int> SlurmResolver::num_accelerators(const std::optional<TaskId>&) const {
  if (cuda_visible_devices_.empty()) return {};
  const auto commas = std::count(cuda_visible_devices_.begin(), cuda_visible_devices_.end(), ',');
  return {{"GPU", static_cast<int>(commas) + 1}};
}

}  // namespace cohort
