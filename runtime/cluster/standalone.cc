#include "runtime/cluster/standalone.h"

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/cluster/chief.h"
#include "runtime/cluster/host_port.h"
#include "runtime/cluster/requirements.h"
#include "runtime/cluster/validation.h"

namespace cohort {

absl::StatusOr<ServerStart> ServerStartOf(const TfConfig& config) {
  COHORT_RETURN_IF_ERROR(ValidateForDaemon(config));
  ServerStart start{.cluster = config.cluster,
                    .task = *config.self,
                    .protocol = config.rpc_layer.empty() ? "grpc" : config.rpc_layer};
  if (start.task.job != kEvaluator) {
    start.cluster = start.cluster.Without(kEvaluator);
    return start;
  }
  for (const char* job : {kChief, kWorker, kPs}) start.cluster = start.cluster.Without(job);
  return start;
}

absl::StatusOr<ProcessPart> PartOf(const TfConfig& config, GraphMode mode) {
  if (config.local()) return ProcessPart::kTrainThenEvaluate;
  COHORT_ASSIGN_OR_RETURN(const TaskId task, OwnTask(config));
  if (!IsAllowedJob(task.job)) {
    return absl::InvalidArgumentError(
        absl::StrCat("Unexpected task_type ", Quoted(task.job), "; a process is chief, worker, ps or evaluator"));
  }
  COHORT_ASSIGN_OR_RETURN(const bool chief, IsChief(config.cluster, task));
  if (task.job == kEvaluator) return ProcessPart::kEvaluate;
  const bool trains = task.job != kPs && (chief || mode == GraphMode::kBetween);
  return trains ? ProcessPart::kTrain : ProcessPart::kServe;
}

}  // namespace cohort
