#include "runtime/coordination/configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/base/first_cause.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::IsOk;
using ::cohort::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

MemberInfo Worker(int index) {
  MemberInfo info;
  info.task = {"worker", index};
  info.address = index == 0 ? "h0:2222" : "h1:2222";
  info.incarnation = 10 + index;
  info.cluster_fingerprint = 0xabc;
  info.protocol_version = 1;
  info.devices = {info.task.ToString() + "/device:CPU:0"};
  info.cpu_isa = "avx2 fma";
  info.library_versions = "oneDNN 2.6.0";
  return info;
}

TEST(Configuration, EqualTasksPassWithoutWarnings) {
  EXPECT_THAT(CheckSameConfiguration(Worker(1), Worker(0)), IsOk());
  EXPECT_THAT(ConfigurationWarnings(Worker(1), Worker(0)), IsEmpty());
}

TEST(Configuration, ProtocolVersionsThatDifferAreNamed) {
  MemberInfo info = Worker(1);
  info.protocol_version = 2;
  const absl::Status status = CheckSameConfiguration(info, Worker(0));
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("the protocol version is 2 on /job:worker/task:1 at h1:2222 and 1 on the leader, "
                                 "/job:worker/task:0 at h0:2222")));
  EXPECT_EQ(GetFirstCause(status)->task, (TaskId{"worker", 1}));
}

TEST(Configuration, ClustersThatDifferAreBothPrinted) {
  MemberInfo info = Worker(1);
  info.cluster_fingerprint = 0xdef;
  info.cluster = "3 workers";
  MemberInfo leader = Worker(0);
  leader.cluster = "2 workers";
  EXPECT_THAT(CheckSameConfiguration(info, leader),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("the cluster is 3 workers (0000000000000def) on /job:worker/task:1 at h1:2222 and "
                                 "2 workers (0000000000000abc) on the leader")));
}

TEST(Configuration, DeviceCountsOfWorkersMustAgreeByType) {
  MemberInfo info = Worker(1);
  info.devices = {"CPU:0", "GPU:0", "GPU:1"};
  EXPECT_THAT(
      CheckSameConfiguration(info, Worker(0)),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               HasSubstr("the number of devices is 1 CPU, 2 GPU on /job:worker/task:1 at h1:2222 and 1 CPU on")));
}

TEST(Configuration, AParameterServerMayHaveOtherDevices) {
  MemberInfo info = Worker(1);
  info.task = {"ps", 0};
  info.devices = {"CPU:0", "CPU:1"};
  EXPECT_THAT(CheckSameConfiguration(info, Worker(0)), IsOk());
}

TEST(Configuration, OtherCpuFeaturesAndLibrariesAreWarnings) {
  MemberInfo info = Worker(1);
  info.cpu_isa = "avx512f";
  info.library_versions = "oneDNN 3.0.0";
  EXPECT_THAT(CheckSameConfiguration(info, Worker(0)), IsOk());
  EXPECT_THAT(
      ConfigurationWarnings(info, Worker(0)),
      ElementsAre(HasSubstr("CPU features of /job:worker/task:1 at h1:2222 are 'avx512f', of the leader 'avx2 fma'"),
                  HasSubstr("library versions of /job:worker/task:1 at h1:2222 are 'oneDNN 3.0.0'")));
}

}  // namespace
}  // namespace cohort
