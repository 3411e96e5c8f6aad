#ifndef COHORT_RUNTIME_CLUSTER_CLUSTER_RESOLVER_H_
#define COHORT_RUNTIME_CLUSTER_CLUSTER_RESOLVER_H_

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/task_id.h"
#include "runtime/cluster/cluster_spec.h"
#include "runtime/cluster/tf_config.h"

namespace cohort {

// What a resolver says of this process; unset: it does not know.
struct ResolvedTask {
  std::optional<std::string> type;       // the job
  std::optional<int> id;                 // the index in it
  std::optional<std::string> rpc_layer;  // prefix of master addresses; "" is none
};

// "grpc://host:1" from "host:1" and "grpc"; the address alone if either is empty.
std::string WithRpcLayer(absl::string_view address, absl::string_view rpc_layer);

// Where a strategy learns which cluster there is and which task of it this process is. What its source says of the task
// gives way to what the constructor was told, and that to the setters. Used by one thread at a time.
class ClusterResolver {
 public:
  virtual ~ClusterResolver() = default;

  // Empty: local mode.
  const ClusterSpec& cluster_spec() const { return cluster_; }
  const std::string& environment() const { return environment_; }  // "" unless the constructor was told
  std::optional<std::string> task_type() const { return told_.type ? told_.type : found_.type; }
  std::optional<int> task_id() const { return told_.id ? told_.id : found_.id; }
  std::string rpc_layer() const { return told_.rpc_layer ? *told_.rpc_layer : found_.rpc_layer.value_or(""); }

  void set_task_type(std::string type) { told_.type = std::move(type); }
  void set_task_id(int id) { told_.id = id; }
  void set_rpc_layer(std::string rpc_layer) { told_.rpc_layer = std::move(rpc_layer); }

  // type and id, if both are known.
  std::optional<TaskId> task() const;

  // What a session would dial for `task`, with "rpc_layer://" in front if there is one. Without a task each resolver
  // has an answer of its own. InvalidArgument: the task is not in the cluster.
  virtual absl::StatusOr<std::string> master(const std::optional<TaskId>& task = std::nullopt) const = 0;

  // Accelerators by type, {"GPU": 2}, of `task` (by default the own one) where the resolver can tell them apart.
  virtual std::map<std::string, int> num_accelerators(const std::optional<TaskId>& task = std::nullopt) const = 0;

  // Cluster and task as strategies take them; they validate it (ValidateForStrategy).
  TfConfig ToTfConfig() const;

 protected:
  ClusterResolver() = default;
  ClusterResolver(ClusterSpec cluster, ResolvedTask told, std::string environment)
      : cluster_(std::move(cluster)), told_(std::move(told)), environment_(std::move(environment)) {}
  ClusterResolver(const ClusterResolver&) = default;
  ClusterResolver(ClusterResolver&&) = default;
  ClusterResolver& operator=(const ClusterResolver&) = default;
  ClusterResolver& operator=(ClusterResolver&&) = default;

  absl::StatusOr<std::string> AddressOf(const TaskId& task) const;
  void SetFound(ClusterSpec cluster, ResolvedTask found);

 private:
  ClusterSpec cluster_;
  ResolvedTask found_;
  ResolvedTask told_;
  std::string environment_;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_CLUSTER_CLUSTER_RESOLVER_H_
