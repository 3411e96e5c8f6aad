#include "runtime/cluster/tf_config_resolver.h"

#include <utility>

#include "runtime/base/status_macros.h"

namespace cohort {

TfConfigResolver::TfConfigResolver(TfConfigResolverOptions options)
    : ClusterResolver(ClusterSpec(), std::move(options.task), std::move(options.environment)),
      devices_(std::move(options.devices)) {}

absl::StatusOr<TfConfigResolver> TfConfigResolver::FromEnv(TfConfigResolverOptions options) {
  TfConfigResolver resolver(std::move(options));
  COHORT_RETURN_IF_ERROR(resolver.Refresh());
  return resolver;
}

absl::StatusOr<TfConfigResolver> TfConfigResolver::FromText(absl::string_view text, TfConfigResolverOptions options) {
  TfConfigResolver resolver(std::move(options));
  COHORT_ASSIGN_OR_RETURN(const TfConfig config, ParseTfConfig(text));
  resolver.Take(config);
  return resolver;
}

absl::Status TfConfigResolver::Refresh() {
  COHORT_ASSIGN_OR_RETURN(const TfConfig config, TfConfigFromEnv());
  Take(config);
  return absl::OkStatus();
}

void TfConfigResolver::Take(const TfConfig& config) {
  session_master_ = config.session_master;
  ResolvedTask found{.type = {}, .id = {}, .rpc_layer = config.rpc_layer};
  if (config.self) {
    found.type = config.self->job;
    found.id = config.self->index;
  }
  SetFound(config.cluster, std::move(found));
}

absl::StatusOr<std::string> TfConfigResolver::master(const std::optional<TaskId>& asked) const {
  TfConfig config = ToTfConfig();
  config.session_master = session_master_;
  return MasterAddress(config, asked);
}

std::map<std::string, int> TfConfigResolver::num_accelerators(const std::optional<TaskId>& asked) const {
  const std::optional<TaskId> of = asked ? asked : task();
  return of ? CountAccelerators(devices_, *of) : std::map<std::string, int>();
}

}  // namespace cohort
