#include "runtime/cluster/requirements.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/cluster/host_port.h"
#include "runtime/cluster/validation.h"

namespace cohort {
namespace {

absl::Status ValidateParameterServer(const ClusterSpec& cluster) {
  for (const char* job : {kPs, kWorker}) {
    if (cluster.count(job) == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("strategy parameter_server needs at least one ", job, " in the cluster; there is none"));
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateMultiWorker(const TfConfig& config) {
  if (config.local()) return absl::OkStatus();
  if (!config.self) {
    return absl::InvalidArgumentError(
        "strategy multi_worker_mirrored must also specify task_type and task_id: TF_CONFIG has a 'cluster' but no "
        "'task'");
  }
  if (config.self->job == kPs) {
    return absl::InvalidArgumentError(absl::StrCat("strategy multi_worker_mirrored does not run on a ps, as ",
                                                   config.self->ToString(), " is: there is no id for task_type 'ps'"));
  }
  const bool has_worker = config.cluster.count(kChief) + config.cluster.count(kWorker) > 0;
  if (has_worker || config.self->job == kEvaluator) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "strategy multi_worker_mirrored needs at least one chief or worker in the cluster; there is none");
}

}  // namespace

absl::Status ValidateForStrategy(absl::string_view strategy, const TfConfig& config) {
  COHORT_RETURN_IF_ERROR(ValidateCluster(config.cluster, config.self.value_or(TaskId{})));
  if (strategy == "parameter_server") return ValidateParameterServer(config.cluster);
  if (strategy == "multi_worker_mirrored") return ValidateMultiWorker(config);
  if (strategy == "default" || strategy == "one_device" || strategy == "mirrored" || strategy == "central_storage") {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "no strategy ", Quoted(strategy),
      "; there are default, one_device, mirrored, multi_worker_mirrored, central_storage, parameter_server"));
}

absl::Status ValidateForDaemon(const TfConfig& config) {
  if (config.local()) {
    return absl::InvalidArgumentError(
        "a daemon needs TF_CONFIG with a 'cluster' that lists its own address and a 'task' that says who it is");
  }
  COHORT_ASSIGN_OR_RETURN(const TaskId self, OwnTask(config));
  COHORT_RETURN_IF_ERROR(ValidateCluster(config.cluster, self));
  COHORT_RETURN_IF_ERROR(OwnAddress(config).status()) << "a daemon listens at its address in 'cluster'";
  const bool has_leader = config.cluster.count(kChief) + config.cluster.count(kWorker) > 0;
  if (has_leader || self.job == kPs) return absl::OkStatus();
  return absl::InvalidArgumentError("the cluster needs a chief or a worker to lead it; there is none");
}

}  // namespace cohort
