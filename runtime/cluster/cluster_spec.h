#ifndef COHORT_RUNTIME_CLUSTER_CLUSTER_SPEC_H_
#define COHORT_RUNTIME_CLUSTER_CLUSTER_SPEC_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/task_id.h"

namespace cohort {

// All jobs and tasks of a cluster with their addresses. A job is dense (indices 0, 1, ... n-1) or sparse (a partial
// view, as elastic TFJobs hand out). Jobs keep their order for iteration; text and fingerprint sort jobs by name and
// tasks by index. Immutable, so safe from any thread.
class ClusterSpec {
 public:
  struct Job {
    std::string name;
    std::map<int, std::string> tasks;  // index -> "host:port"
  };

  ClusterSpec() = default;

  // InvalidArgument: a job twice, a name that is not [A-Za-z][A-Za-z0-9_]*, an index outside 0..kMaxIndex. Addresses
  // are kept as they are; CheckAddresses judges them.
  static absl::StatusOr<ClusterSpec> Create(std::vector<Job> jobs);

  // The largest task index that a sparse job may name.
  static constexpr int kMaxIndex = 999'999;

  // No job at all: a local process.
  bool empty() const { return jobs_.empty(); }

  // In the order given.
  const std::vector<Job>& jobs() const { return jobs_; }
  bool has_job(absl::string_view job) const { return Find(job) != nullptr; }
  bool has_task(const TaskId& task) const;

  // Number of tasks listed, 0 for an unknown job.
  int count(absl::string_view job) const;

  // The same questions, asked strictly. InvalidArgument: no such job; task_address: no task with that index.
  absl::StatusOr<int> num_tasks(absl::string_view job) const;
  absl::StatusOr<std::vector<int>> task_indices(absl::string_view job) const;                      // ascending
  absl::StatusOr<std::vector<std::optional<std::string>>> job_tasks(absl::string_view job) const;  // nullopt: a gap
  absl::StatusOr<std::string> task_address(const TaskId& task) const;

  // All tasks, sorted by job and index.
  std::vector<TaskId> tasks() const;

  // This cluster without one job.
  ClusterSpec Without(absl::string_view job) const;

  // The canonical form, also the "cluster" of a TF_CONFIG: jobs by name, tasks by index, a dense job as a list, a
  // sparse one as an object: {"ps":["a:1"],"worker":{"1":"b:2","3":"c:3"}}. ParseClusterSpec reads it.
  std::string ToJson() const;

  // FNV-1a, 64 bits, of ToJson(): equal on two tasks that were told the same cluster.
  uint64_t Fingerprint() const;

  // Same jobs and tasks, in any order.
  friend bool operator==(const ClusterSpec& a, const ClusterSpec& b) { return a.ToJson() == b.ToJson(); }

 private:
  const Job* Find(absl::string_view name) const;

  std::vector<Job> jobs_;
};

// Whether the indices are 0, 1, ... n-1 and there is one: such a job prints as a list.
bool IsDense(const ClusterSpec::Job& job);

// InvalidArgument, naming job, index and text, unless every task has a usable address of its own; if two tasks share
// one, both are named.
absl::Status CheckAddresses(const ClusterSpec& cluster);

}  // namespace cohort

#endif  // COHORT_RUNTIME_CLUSTER_CLUSTER_SPEC_H_
