#ifndef COHORT_RUNTIME_CLUSTER_SLURM_H_
#define COHORT_RUNTIME_CLUSTER_SLURM_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/cluster/tf_config.h"

namespace cohort {

using Environment = std::map<std::string, std::string>;  // name -> value

// The SLURM_* and OMPI_* variables of this process.
Environment SlurmEnvironment();

// True in a job step: the variables that SlurmTfConfig needs are there.
bool InSlurmStep(const Environment& environment);

// "n[1-2],m5,o[009-011]" -> n1, n2, m5, o009, o010, o011: names with at most one bracket of numbers and ranges, zeros
// kept. InvalidArgument: anything else, or more than 100,000 hosts.
absl::StatusOr<std::vector<std::string>> ExpandHostlist(absl::string_view hostlist);

// "3(x2),2,1" -> 3, 3, 2, 1: tasks on each host, in the order of the host list. InvalidArgument: anything else.
absl::StatusOr<std::vector<int>> ExpandTasksPerNode(absl::string_view tasks_per_node);

struct SlurmOptions {
  std::map<std::string, int> jobs;  // job -> tasks; empty: all tasks are workers
  int port_base = 8888;             // a task's port is this plus its position on its host
  int gpus_per_node = 0;
  std::optional<int> gpus_per_task;  // default: gpus_per_node / most tasks on a host
};

struct SlurmTask {
  TfConfig config;                   // with `self`
  std::string cuda_visible_devices;  // "2,3": this task's share of its host's GPUs, "" for none
};

// The cluster of a Slurm step, as TensorFlow's resolver deals it out: hosts in name order (numbers in names compared as
// numbers, which is how Slurm numbers its tasks) give their tasks to the jobs in name order. Pure.
// Reads SLURM_PROCID (OMPI_COMM_WORLD_RANK before it, for mpirun), SLURM_STEP_NUM_TASKS, SLURM_STEP_NODELIST,
// SLURM_STEP_TASKS_PER_NODE, and SLURMD_NODENAME to check that this rank really is where the cluster says.
// FailedPrecondition: a variable is missing. InvalidArgument: one does not parse or contradicts another; jobs that need
// more or fewer tasks than there are; more GPUs per host than there are; tasks that are not laid out in blocks.
absl::StatusOr<SlurmTask> SlurmTfConfig(const Environment& environment, const SlurmOptions& options = {});

}  // namespace cohort

#endif  // COHORT_RUNTIME_CLUSTER_SLURM_H_
