#ifndef COHORT_RUNTIME_BASE_CPU_COUNT_H_
#define COHORT_RUNTIME_BASE_CPU_COUNT_H_

#include <string>

namespace cohort {

// How many threads this process can run at once, at least 1: the CPUs of its affinity mask, or fewer where the quota of
// its control group or of one above (v2 cpu.max, v1 cpu.cfs_quota_us; rounded up) allows less.
// Reads files: call it at start, not in a step. Safe from any thread.
int UsableCpuCount();

// The quota alone in CPUs, 0 if there is none. `proc` and `cgroup` are /proc and /sys/fs/cgroup; tests pass their own.
double CgroupCpuQuota(const std::string& proc, const std::string& cgroup);

}  // namespace cohort

#endif  // COHORT_RUNTIME_BASE_CPU_COUNT_H_
