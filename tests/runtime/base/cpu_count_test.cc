#include "runtime/base/cpu_count.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>

#include "runtime/base/thread.h"
#include "tests/testing/temp_dir.h"

namespace cohort {
namespace {

// A /proc and a /sys/fs/cgroup in a temporary folder.
class CgroupCpuQuotaTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path full = dir_.File(path);
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }
  double Quota() { return CgroupCpuQuota(dir_.File("proc"), dir_.File("cgroup")); }
  testing::TempDir dir_;
};

TEST_F(CgroupCpuQuotaTest, NothingThereIsNoQuota) { EXPECT_EQ(Quota(), 0); }

TEST_F(CgroupCpuQuotaTest, Version2) {
  Write("proc/self/cgroup", "0::/pod\n");
  Write("cgroup/pod/cpu.max", "150000 100000\n");
  EXPECT_EQ(Quota(), 1.5);
}

TEST_F(CgroupCpuQuotaTest, Version2MaxIsNoQuota) {
  Write("proc/self/cgroup", "0::/pod\n");
  Write("cgroup/pod/cpu.max", "max 100000\n");
  EXPECT_EQ(Quota(), 0);
}

TEST_F(CgroupCpuQuotaTest, TheLeastOfAllGroupsAboveCounts) {
  Write("proc/self/cgroup", "0::/slice/pod/container\n");
  Write("cgroup/slice/pod/container/cpu.max", "max 100000\n");
  Write("cgroup/slice/pod/cpu.max", "400000 100000\n");
  Write("cgroup/slice/cpu.max", "200000 100000\n");
  EXPECT_EQ(Quota(), 2);
}

TEST_F(CgroupCpuQuotaTest, InAContainerTheMountedRootCounts) {
  Write("proc/self/cgroup", "0::/\n");
  Write("cgroup/cpu.max", "300000 100000\n");
  EXPECT_EQ(Quota(), 3);
}

TEST_F(CgroupCpuQuotaTest, Version1) {
  Write("proc/self/cgroup", "4:memory:/docker/x\n3:cpu,cpuacct:/docker/x\n1:cpuset:/other\n");
  Write("cgroup/cpu/docker/x/cpu.cfs_quota_us", "50000\n");
  Write("cgroup/cpu/docker/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Quota(), 0.5);
}

TEST_F(CgroupCpuQuotaTest, Version1MinusOneIsNoQuota) {
  Write("proc/self/cgroup", "3:cpu,cpuacct:/\n");
  Write("cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  Write("cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Quota(), 0);
}

TEST(UsableCpuCountTest, FollowsTheAffinityMask) {
  EXPECT_GE(UsableCpuCount(), 1);
  int count = 0;
  Thread pinned("pinned", [&count] {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(sched_getcpu(), &set);
    sched_setaffinity(0, sizeof(set), &set);
    count = UsableCpuCount();
  });
  pinned.Join();
  EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace cohort
