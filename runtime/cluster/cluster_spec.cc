#include "runtime/cluster/cluster_spec.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/hash.h"
#include "runtime/base/status_macros.h"
#include "runtime/cluster/host_port.h"
#include "runtime/cluster/json_value.h"

namespace cohort {
namespace {

bool IsJobName(absl::string_view name) {
  return !name.empty() && absl::ascii_isalpha(name[0]) &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

std::string JobToJson(const ClusterSpec::Job& job) {
  const bool dense = IsDense(job);
  const std::string tasks = absl::StrJoin(job.tasks, ",", [dense](std::string* out, const auto& task) {
    if (!dense) absl::StrAppend(out, "\"", task.first, "\":");
    out->append(JsonQuoted(task.second));
  });
  return absl::StrCat("\"", job.name, "\":", dense ? "[" : "{", tasks, dense ? "]" : "}");
}

std::vector<const ClusterSpec::Job*> ByName(const std::vector<ClusterSpec::Job>& jobs) {
  std::vector<const ClusterSpec::Job*> sorted;
  for (const ClusterSpec::Job& job : jobs) sorted.push_back(&job);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  return sorted;
}

absl::Status NoSuchJob(absl::string_view job, const std::vector<ClusterSpec::Job>& jobs) {
  if (jobs.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("no job ", Quoted(job), " in the cluster: it is empty"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no job ", Quoted(job), " in the cluster; it has ",
                   absl::StrJoin(jobs, ", ", [](std::string* out, const auto& j) { out->append(j.name); })));
}

}  // namespace

bool IsDense(const ClusterSpec::Job& job) {
  return !job.tasks.empty() && job.tasks.rbegin()->first + 1 == static_cast<int>(job.tasks.size());
}

absl::StatusOr<ClusterSpec> ClusterSpec::Create(std::vector<Job> jobs) {
  ClusterSpec spec;
  for (Job& job : jobs) {
    if (!IsJobName(job.name)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "job ", Quoted(job.name), ": a job's name is letters, digits and '_', and begins with a letter"));
    }
    if (spec.has_job(job.name)) return absl::InvalidArgumentError(absl::StrCat("job '", job.name, "' appears twice"));
    for (const auto& [index, address] : job.tasks) {
      if (index < 0 || index > kMaxIndex) {
        return absl::InvalidArgumentError(
            absl::StrCat("job '", job.name, "': task index ", index, " is not in 0..", kMaxIndex));
      }
    }
    spec.jobs_.push_back(std::move(job));
  }
  return spec;
}

const ClusterSpec::Job* ClusterSpec::Find(absl::string_view name) const {
  for (const Job& job : jobs_) {
    if (job.name == name) return &job;
  }
  return nullptr;
}

bool ClusterSpec::has_task(const TaskId& task) const {
  const Job* job = Find(task.job);
  return job != nullptr && job->tasks.contains(task.index);
}

int ClusterSpec::count(absl::string_view name) const {
  const Job* job = Find(name);
  return job == nullptr ? 0 : static_cast<int>(job->tasks.size());
}

absl::StatusOr<int> ClusterSpec::num_tasks(absl::string_view name) const {
  if (!has_job(name)) return NoSuchJob(name, jobs_);
  return count(name);
}

absl::StatusOr<std::vector<int>> ClusterSpec::task_indices(absl::string_view name) const {
  const Job* job = Find(name);
  if (job == nullptr) return NoSuchJob(name, jobs_);
  std::vector<int> indices;
  for (const auto& [index, address] : job->tasks) indices.push_back(index);
  return indices;
}

absl::StatusOr<std::vector<std::optional<std::string>>> ClusterSpec::job_tasks(absl::string_view name) const {
  const Job* job = Find(name);
  if (job == nullptr) return NoSuchJob(name, jobs_);
  std::vector<std::optional<std::string>> tasks;
  if (!job->tasks.empty()) tasks.resize(job->tasks.rbegin()->first + 1);
  for (const auto& [index, address] : job->tasks) tasks[index] = address;
  return tasks;
}

absl::StatusOr<std::string> ClusterSpec::task_address(const TaskId& task) const {
  const Job* job = Find(task.job);
  if (job == nullptr) return NoSuchJob(task.job, jobs_);
  const auto it = job->tasks.find(task.index);
  if (it == job->tasks.end()) {
    return absl::InvalidArgumentError(absl::StrCat("job '", task.job, "' has no task with index ", task.index));
  }
  return it->second;
}

std::vector<TaskId> ClusterSpec::tasks() const {
  std::vector<TaskId> tasks;
  for (const Job* job : ByName(jobs_)) {
    for (const auto& [index, address] : job->tasks) tasks.push_back({job->name, index});
  }
  return tasks;
}

ClusterSpec ClusterSpec::Without(absl::string_view name) const {
  ClusterSpec rest;
  for (const Job& job : jobs_) {
    if (job.name != name) rest.jobs_.push_back(job);
  }
  return rest;
}

std::string ClusterSpec::ToJson() const {
  return absl::StrCat(
      "{", absl::StrJoin(ByName(jobs_), ",", [](std::string* out, const Job* job) { out->append(JobToJson(*job)); }),
      "}");
}

uint64_t ClusterSpec::Fingerprint() const { return Fnv1a64(ToJson()); }

absl::Status CheckAddresses(const ClusterSpec& cluster) {
  absl::flat_hash_map<std::string, TaskId> owners;  // by HostPort::Key
  for (const ClusterSpec::Job& job : cluster.jobs()) {
    for (const auto& [index, text] : job.tasks) {
      const TaskId task{job.name, index};
      COHORT_ASSIGN_OR_RETURN(const HostPort address, ParseHostPort(text), _ << task);
      const auto [owner, is_new] = owners.emplace(address.Key(), task);
      if (!is_new) {
        return absl::InvalidArgumentError(absl::StrCat(owner->second.ToString(), " and ", task.ToString(),
                                                       " have the same address ", Quoted(text),
                                                       "; every task needs its own"));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace cohort
