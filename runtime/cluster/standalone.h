#ifndef COHORT_RUNTIME_CLUSTER_STANDALONE_H_
#define COHORT_RUNTIME_CLUSTER_STANDALONE_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/base/task_id.h"
#include "runtime/cluster/cluster_spec.h"
#include "runtime/cluster/tf_config.h"

namespace cohort {

// What programs that start their own servers from TF_CONFIG do with it. Pure.

struct ServerStart {
  ClusterSpec cluster;   // an evaluator sees only its own job, all others see no evaluator
  TaskId task;           // index 0 if TF_CONFIG names none
  std::string protocol;  // rpc_layer, "grpc" if TF_CONFIG names none
};

// Errors of ValidateForDaemon.
absl::StatusOr<ServerStart> ServerStartOf(const TfConfig& config);

// What one process of such a program does.
enum class ProcessPart {
  kServe,              // waits for others
  kTrain,              // runs the worker function
  kEvaluate,           // runs the evaluation function, without a server
  kTrainThenEvaluate,  // no cluster: one after the other, here
};

enum class GraphMode {
  kBetween,  // every chief and worker runs the worker function
  kIn,       // only the chief does (IsChief)
};

// InvalidArgument: a cluster without a task, a job that has no part ("Unexpected task_type"), ValidateCluster's errors.
absl::StatusOr<ProcessPart> PartOf(const TfConfig& config, GraphMode mode);

}  // namespace cohort

#endif  // COHORT_RUNTIME_CLUSTER_STANDALONE_H_
