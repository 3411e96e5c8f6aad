#include "runtime/cluster/union_resolver.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_kind.h"
#include "runtime/base/status_macros.h"
#include "runtime/cluster/host_port.h"

namespace cohort {
namespace {

using Job = ClusterSpec::Job;

Job& JobNamed(const std::string& name, std::vector<Job>& jobs) {
  const auto it = std::find_if(jobs.begin(), jobs.end(), [&](const Job& job) { return job.name == name; });
  return it != jobs.end() ? *it : jobs.emplace_back(Job{name, {}});
}

void Append(const Job& from, Job& to) {
  int next = static_cast<int>(to.tasks.size());
  for (const auto& [index, address] : from.tasks) to.tasks[next++] = address;
}

absl::Status Merge(const Job& from, Job& to) {
  for (const auto& [index, address] : from.tasks) {
    const auto [there, is_new] = to.tasks.emplace(index, address);
    if (!is_new) {
      return absl::NotFoundError(absl::StrCat("no union of the clusters: duplicate ", TaskId{to.name, index}.ToString(),
                                              ", ", Quoted(there->second), " in one and ", Quoted(address),
                                              " in another"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ClusterSpec> UnionOf(absl::Span<const ClusterSpec> clusters) {
  std::set<std::string> sparse;
  for (const ClusterSpec& cluster : clusters) {
    for (const Job& job : cluster.jobs()) {
      if (!IsDense(job)) sparse.insert(job.name);
    }
  }
  std::vector<Job> jobs;
  for (const ClusterSpec& cluster : clusters) {
    for (const Job& job : cluster.jobs()) {
      Job& to = JobNamed(job.name, jobs);
      if (sparse.contains(job.name)) {
        COHORT_RETURN_IF_ERROR(Merge(job, to));
      } else {
        Append(job, to);
      }
    }
  }
  return ClusterSpec::Create(std::move(jobs));
}

UnionResolver::UnionResolver(ClusterSpec cluster, std::unique_ptr<ClusterResolver> first)
    : ClusterResolver(ClusterSpec(), {}, first->environment()), first_(std::move(first)) {
  SetFound(std::move(cluster), {first_->task_type(), first_->task_id(), first_->rpc_layer()});
}

absl::StatusOr<UnionResolver> UnionResolver::Create(std::vector<std::unique_ptr<ClusterResolver>> resolvers) {
  if (resolvers.empty()) return absl::InvalidArgumentError("a union of resolvers needs at least one");
  std::vector<ClusterSpec> clusters;
  for (size_t i = 0; i < resolvers.size(); ++i) {
    if (resolvers[i] == nullptr) return InvalidTypeError(absl::StrCat("number ", i, " of the union is no resolver"));
    clusters.push_back(resolvers[i]->cluster_spec());
  }
  COHORT_ASSIGN_OR_RETURN(ClusterSpec cluster, UnionOf(clusters));
  return UnionResolver(std::move(cluster), std::move(resolvers.front()));
}

absl::StatusOr<std::string> UnionResolver::master(const std::optional<TaskId>& asked) const {
  if (asked) return AddressOf(*asked);
  return first_->master();
}

std::map<std::string, int> UnionResolver::num_accelerators(const std::optional<TaskId>& asked) const {
  return first_->num_accelerators(asked);
}

}  // namespace cohort
