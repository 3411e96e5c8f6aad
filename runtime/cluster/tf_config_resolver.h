#ifndef COHORT_RUNTIME_CLUSTER_TF_CONFIG_RESOLVER_H_
#define COHORT_RUNTIME_CLUSTER_TF_CONFIG_RESOLVER_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/cluster/cluster_resolver.h"
#include "runtime/cluster/device_name.h"

namespace cohort {

struct TfConfigResolverOptions {
  ResolvedTask task;  // wins over TF_CONFIG
  std::string environment;
  std::vector<DeviceName> devices;  // full names of the devices that num_accelerators counts
};

// Reads TF_CONFIG. It is parsed when the resolver is made and again by Refresh, never in between.
class TfConfigResolver final : public ClusterResolver {
 public:
  // From the environment; a variable that is not set is "{}". Errors of ParseTfConfig.
  static absl::StatusOr<TfConfigResolver> FromEnv(TfConfigResolverOptions options = {});
  // From a text in the place of the environment's.
  static absl::StatusOr<TfConfigResolver> FromText(absl::string_view text, TfConfigResolverOptions options = {});

  // Reads the environment again; what constructor and setters said still wins. After an error nothing has changed.
  absl::Status Refresh();

  // TF_CONFIG's session_master if it has one; "" if there is no cluster, or one of one task; else the address of
  // `task`, by default the own one. InvalidArgument too: there is neither.
  absl::StatusOr<std::string> master(const std::optional<TaskId>& task = std::nullopt) const override;

  // Counts the devices on that task; none if nobody is named.
  std::map<std::string, int> num_accelerators(const std::optional<TaskId>& task = std::nullopt) const override;

 private:
  explicit TfConfigResolver(TfConfigResolverOptions options);
  void Take(const TfConfig& config);

  std::string session_master_;
  std::vector<DeviceName> devices_;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_CLUSTER_TF_CONFIG_RESOLVER_H_
