#ifndef COHORT_RUNTIME_CLUSTER_TF_CONFIG_H_
#define COHORT_RUNTIME_CLUSTER_TF_CONFIG_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/task_id.h"
#include "runtime/cluster/cluster_spec.h"

namespace cohort {

// Who this process is and who its peers are; read once, at start-up.
struct TfConfig {
  ClusterSpec cluster;         // empty: one local worker
  std::optional<TaskId> self;  // nullopt: no task is named; in `cluster` otherwise, except an evaluator's
  std::string rpc_layer;       // prefix of master addresses, "" for none
  std::string session_master;
  std::vector<std::string> warnings;  // accepted, but worth a line in the log

  bool local() const { return cluster.empty(); }
};

// Parses the text of TF_CONFIG, e.g.
//   {"cluster": {"worker": ["h0:2222", "h1:2222"]}, "task": {"type": "worker", "index": 1}}
// Jobs: chief (or its old name master), worker, ps, evaluator. "{}" is a local process; so is no "cluster" if no "task"
// is named. "task.index" is 0 if absent. Accepts what Kubeflow writes for elastic jobs: "sparseCluster", a job that is
// null or {}, and a ps that finds itself at position 0 whatever its index. Pure, and safe from any thread.
// InvalidArgument, with the JSON path or the byte: not JSON; a key twice; nested too deep; a blank text; an unknown or
// empty job; an address that is unusable or listed twice; two chiefs; a "task" that is not in "cluster".
// InvalidType (error_kind.h) where JSON of one kind stands in the place of another, as a number for an address.
absl::StatusOr<TfConfig> ParseTfConfig(absl::string_view text);

// The same for the environment variable TF_CONFIG; not set = local.
absl::StatusOr<TfConfig> TfConfigFromEnv();

// Parses what ClusterSpec::ToJson prints, with the checks of ParseTfConfig's "cluster".
absl::StatusOr<ClusterSpec> ParseClusterSpec(absl::string_view json);

// The TF_CONFIG text that gives `config` again (without its warnings).
std::string ToText(const TfConfig& config);

// The task of this process: `self`; worker 0 in local mode. InvalidArgument: there is a cluster, but no "task".
absl::StatusOr<TaskId> OwnTask(const TfConfig& config);

// The address of this process: what its "cluster" says of OwnTask. InvalidArgument: OwnTask's; an evaluator that is not
// listed; local mode.
absl::StatusOr<std::string> OwnAddress(const TfConfig& config);

// What a TensorFlow session of this process would dial: `session_master` if set; "" for no cluster or one single task;
// else the address of `task` (default: self), with "rpc_layer://" in front if there is one.
// InvalidArgument: no task is named, or it is not in the cluster.
absl::StatusOr<std::string> MasterAddress(const TfConfig& config, std::optional<TaskId> task = std::nullopt);

}  // namespace cohort

#endif  // COHORT_RUNTIME_CLUSTER_TF_CONFIG_H_
