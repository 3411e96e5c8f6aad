#include "runtime/base/cpu_count.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "absl/strings/str_split.h"

namespace cohort {
namespace {

// CPUs that the group at `folder` may use by its own quota; 0 if it sets none.
double QuotaOf(const std::string& folder) {
  double quota = 0;
  double period = 0;
  std::string word;
  if (std::ifstream v2(folder + "/cpu.max"); v2 >> word >> period && word != "max") quota = std::atof(word.c_str());
  if (std::ifstream v1(folder + "/cpu.cfs_quota_us"); v1 >> quota) {
    std::ifstream(folder + "/cpu.cfs_period_us") >> period;
  }
  return quota > 0 && period > 0 ? quota / period : 0;
}

// The least quota of `group` under `root` and of all groups above it. In a container the path of /proc may lie outside
// what is mounted: the folders that exist count, and the root always does.
double LeastQuota(const std::string& root, std::string group) {
  double least = 0;
  while (true) {
    const double quota = QuotaOf(root + group);
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
    if (group.empty()) return least;
    group.resize(std::min(group.size() - 1, group.rfind('/')));
  }
}

}  // namespace

double CgroupCpuQuota(const std::string& proc, const std::string& cgroup) {
  double least = 0;
  std::ifstream groups(proc + "/self/cgroup");
  // A line is id:controllers:path; v2 is the one with no controllers.
  for (std::string line; std::getline(groups, line);) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    const std::vector<std::string> controllers = absl::StrSplit(parts[1], ',');
    const bool v1 = std::find(controllers.begin(), controllers.end(), "cpu") != controllers.end();
    if (!v1 && !parts[1].empty()) continue;
    const double quota = LeastQuota(v1 ? cgroup + "/cpu" : cgroup, parts[2] == "/" ? "" : parts[2]);
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
  }
  return least;
}

int UsableCpuCount() {
  int count = 1;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) count = std::max(1, CPU_COUNT(&set));
  const double quota = CgroupCpuQuota("/proc", "/sys/fs/cgroup");
  if (quota > 0) count = std::min(count, std::max(1, static_cast<int>(std::ceil(quota))));
  return count;
}

}  // namespace cohort
