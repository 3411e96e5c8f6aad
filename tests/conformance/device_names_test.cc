// Device names: rules 2.1 to 2.10.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/error_kind.h"
#include "runtime/cluster/device_merge.h"
#include "runtime/cluster/device_name.h"
#include "runtime/cluster/local_devices.h"
#include "runtime/cluster/strategy_kind.h"
#include "runtime/distribute/default_devices.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::IsOkAndHolds;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

DeviceName Name(const std::string& text) { return ParseDeviceName(text).value(); }

std::string Printed(const char* text) {
  const absl::StatusOr<DeviceName> name = ParseDeviceName(text);
  EXPECT_THAT(name, IsOk()) << text;
  return name.ok() ? name->ToString() : "error";
}

std::string Printed(const std::vector<DeviceName>& devices) {
  return absl::StrJoin(devices, " ", [](std::string* out, const DeviceName& d) { out->append(d.ToString()); });
}

TEST(DeviceNamesTest, Rule2x1PrintsTheSetFieldsInOrder) {
  DeviceName name{.job = "worker", .replica = 0, .task = 1, .type = "GPU", .ordinal = 2};
  EXPECT_EQ(name.ToString(), "/job:worker/replica:0/task:1/device:GPU:2");
  name.ordinal.reset();
  EXPECT_EQ(name.ToString(), "/job:worker/replica:0/task:1/device:GPU:*");
  name.replica.reset();
  name.type.reset();
  EXPECT_EQ(name.ToString(), "/job:worker/task:1");
  EXPECT_EQ(DeviceName{}.ToString(), "");
}

TEST(DeviceNamesTest, Rule2x2Parses) {
  const struct {
    const char *text, *want;
  } rows[] = {
      {"/job:foo/replica:0", "/job:foo/replica:0"},
      {"/replica:1/task:0/cpu:0", "/replica:1/task:0/device:CPU:0"},
      {"/job:muu/device:GPU:2", "/job:muu/device:GPU:2"},
      {"GPU:0", "/device:GPU:0"},
      {"/gpu:0", "/device:GPU:0"},
      {"/GPU:0", "/device:GPU:0"},
      {"/device:gpu:0", "/device:GPU:0"},
      {"/tpu:1", "/device:TPU:1"},
      {"/gpu:*", "/device:GPU:*"},
      {"/GPU", "/device:GPU:*"},
      {"/device:GPU:0/task:0/replica:0/job:foo", "/job:foo/replica:0/task:0/device:GPU:0"},
      {"/device:MyFunnyDevice:2", "/device:MyFunnyDevice:2"},
      {"/job:*/replica:4/gpu:*", "/replica:4/device:GPU:*"},
      {"/device:GPU", "/device:GPU:*"},
      {"/device:GPU:*", "/device:GPU:*"},
      {"/", ""},
      {"", ""},
      {"job:a_1/task:3", "/job:a_1/task:3"},
  };
  for (const auto& row : rows) EXPECT_EQ(Printed(row.text), row.want) << row.text;
  EXPECT_EQ(*ParseDeviceName("/gpu:*"),
            (DeviceName{.job = {}, .replica = {}, .task = {}, .type = "GPU", .ordinal = {}}));
}

TEST(DeviceNamesTest, Rule2x2Refuses) {
  const struct {
    const char *text, *phrase;
  } rows[] = {
      {"/job:muu/device:GPU:2/cpu:0", "multiple device types"},
      {"/barcpugpu:1", "unknown attribute"},
      {"foobar", "unknown attribute"},
      {"/job:foo/bar:3", "unknown attribute"},
      {"/replica:x", "number"},
      {"/replica:-1", "number"},
      {"/task:-2", "number"},
      {"/task:99999999999", "number"},
      {"/task:", "number"},
      {"/job:123/task:0", "job's name"},
      {"/job:", "job's name"},
      {"/job:a/job:b", "twice"},
      {"/job:foo/device:GPU:3/extra", "unknown attribute"},
      {"/job:foo/gpu:", "number"},
      {"/cpu:", "number"},
      {"/device:", "device type"},
      {"/device:GPU:1:2", "device type"},
      {"/device", "unknown attribute"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(ParseDeviceName(row.text),
                StatusIs(kInvalid, AllOf(HasSubstr(std::string("'") + row.text + "'"), HasSubstr(row.phrase))))
        << row.text;
  }
}

TEST(DeviceNamesTest, Rule2x6Canonicalize) {
  const TaskId worker1{"worker", 1};
  const struct {
    const char *device, *fallback;
    std::optional<TaskId> process;
    const char* want;
  } rows[] = {
      {"/cpu:0", "", {}, "/job:localhost/replica:0/task:0/device:CPU:0"},
      {"", "", {}, "/job:localhost/replica:0/task:0/device:CPU:0"},
      {"/gpu:0", "", {}, "/job:localhost/replica:0/task:0/device:GPU:0"},
      {"GPU:0", "", {}, "/job:localhost/replica:0/task:0/device:GPU:0"},
      {"/gpu:0", "", worker1, "/job:worker/replica:0/task:1/device:GPU:0"},
      {"/job:worker/cpu:0", "", {}, "/job:worker/replica:0/task:0/device:CPU:0"},
      {"/job:worker/cpu:0", "", worker1, "/job:worker/replica:0/task:0/device:CPU:0"},
      {"/job:worker/task:1/cpu:0", "/gpu:0", {}, "/job:worker/replica:0/task:1/device:CPU:0"},
      {"/job:worker/task:1", "/gpu:0", {}, "/job:worker/replica:0/task:1/device:GPU:0"},
      {"/job:worker/task:1", "/gpu:0", worker1, "/job:worker/replica:0/task:1/device:GPU:0"},
      {"/cpu:0", "/job:worker", {}, "/job:worker/replica:0/task:0/device:CPU:0"},
      {"/cpu:0", "/job:worker", worker1, "/job:worker/replica:0/task:0/device:CPU:0"},
      {"/cpu:*", "/gpu:3", {}, "/job:localhost/replica:0/task:0/device:CPU:0"},
      {"/gpu:*", "/gpu:3", {}, "/job:localhost/replica:0/task:0/device:GPU:3"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(CanonicalDevice(row.device, row.fallback, row.process), IsOkAndHolds(row.want))
        << row.device << " in " << row.fallback;
  }
  EXPECT_THAT(CanonicalDevice("foobar"), testing::HasCode(kInvalid));
  EXPECT_THAT(CanonicalDevice("", "foobar"), testing::HasCode(kInvalid));
}

TEST(DeviceNamesTest, Rule2x7WithoutJobAndTask) {
  EXPECT_THAT(CanonicalDeviceWithoutJobAndTask("/cpu:0"), IsOkAndHolds("/replica:0/device:CPU:0"));
}

TEST(DeviceNamesTest, Rule2x8HostDevice) {
  EXPECT_EQ(HostDevice(*ParseDeviceName("/job:worker/replica:0/task:1/device:GPU:3")).ToString(),
            "/job:worker/replica:0/task:1/device:CPU:0");
}

TEST(DeviceNamesTest, Rule2x3LaterScopeWins) {
  const struct {
    const char *base, *over, *want;
  } rows[] = {
      {"/job:foo/replica:0", "/task:1/device:GPU:2", "/job:foo/replica:0/task:1/device:GPU:2"},
      {"", "/task:1/cpu:0", "/task:1/device:CPU:0"},
      {"/task:1/device:CPU:0", "/job:boo/device:GPU:0", "/job:boo/task:1/device:GPU:0"},
      {"/job:boo/task:1/device:GPU:0", "/job:muu/cpu:2", "/job:muu/task:1/device:CPU:2"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(OverrideMerge(Name(row.base), Name(row.over)).ToString(), row.want) << row.base << " and " << row.over;
  }
}

TEST(DeviceNamesTest, Rule2x4StrictMerge) {
  const struct {
    const char *a, *b, *strict, *soft;  // "error WHAT": incompatible
  } rows[] = {
      {"/job:foo/replica:0", "/replica:0/task:1", "/job:foo/replica:0/task:1", "/job:foo/replica:0/task:1"},
      {"/device:GPU:1", "/gpu:*", "/device:GPU:1", "/device:GPU:1"},
      {"/gpu:*", "/cpu:1", "error types", ""},
      {"/device:GPU:1", "/device:GPU:2", "error ids", "/device:GPU:*"},
      {"/job:foo", "/job:bar", "error jobs", "error jobs"},
      {"/replica:0", "/replica:1", "error replicas", "error replicas"},
      {"/task:0", "/task:1", "error tasks", "error tasks"},
      {"/task:1/gpu:0", "/task:1/cpu:0", "error types", "/task:1"},
  };
  for (const auto& row : rows) {
    for (const Placement placement : {Placement::kStrict, Placement::kSoft}) {
      const std::string want = placement == Placement::kStrict ? row.strict : row.soft;
      for (const bool swapped : {false, true}) {
        const auto merged = StrictMerge(Name(swapped ? row.b : row.a), Name(swapped ? row.a : row.b), placement);
        if (want.starts_with("error ")) {
          EXPECT_THAT(merged, StatusIs(kInvalid, HasSubstr(absl::StrCat("incompatible ", want.substr(6)))));
        } else {
          ASSERT_THAT(merged, IsOk()) << row.a << " and " << row.b;
          EXPECT_EQ(merged->ToString(), want) << row.a << " and " << row.b;
        }
      }
    }
  }
}

TEST(DeviceNamesTest, Rule2x5Order) {
  const std::vector<DeviceName> ascending = {
      Name(""),
      Name("/device:CPU:0"),
      Name("/task:0"),
      Name("/job:a/replica:0/task:0"),
      Name("/job:a/replica:0/task:0/cpu:*"),
      Name("/job:a/replica:0/task:0/cpu:0"),
      Name("/job:a/replica:0/task:0/cpu:2"),
      Name("/job:a/replica:0/task:0/cpu:10"),
      Name("/job:a/replica:0/task:0/gpu:0"),
      Name("/job:a/replica:0/task:2/cpu:0"),
      Name("/job:a/replica:0/task:10/cpu:0"),
      Name("/job:a/replica:1/task:0/cpu:0"),
      Name("/job:b/replica:0/task:0/cpu:0"),
  };
  std::vector<DeviceName> devices(ascending.rbegin(), ascending.rend());
  std::sort(devices.begin(), devices.end());
  EXPECT_EQ(Printed(devices), Printed(ascending));
}

TEST(DeviceNamesTest, Rule2x7ResolvesInTheScopeInForce) {
  EXPECT_EQ(Canonicalize(Name(""), Name("/job:worker/task:1/gpu:2")).ToString(),
            "/job:worker/replica:0/task:1/device:GPU:2");
  EXPECT_EQ(Canonicalize(Name("/cpu:0"), Name("/job:worker/task:1/gpu:2")).ToString(),
            "/job:worker/replica:0/task:1/device:CPU:0");
}

TEST(DeviceNamesTest, Rule2x9LocalDevices) {
  EXPECT_EQ(Printed(LocalDevicesFromNumGpus(3)), "/device:GPU:0 /device:GPU:1 /device:GPU:2");
  EXPECT_EQ(Printed(LocalDevicesFromNumGpus(1)), "/device:GPU:0");
  EXPECT_EQ(Printed(LocalDevicesFromNumGpus(0)), "/device:CPU:0");
  EXPECT_EQ(Printed(LogicalCpuDevices(2)), "/device:CPU:0 /device:CPU:1");
}

TEST(DeviceNamesTest, Rule2x10Defaults) {
  constexpr char kLocal[] = "/job:localhost/replica:0/task:0/device:";
  constexpr char kOwn[] = "/job:worker/replica:0/task:1/device:";
  const auto full = [](const std::string& prefix, const char* devices) {
    std::vector<DeviceName> names;
    for (const char* d = devices; *d != 0; d += 5) names.push_back(Name(prefix + std::string(d, 5)));
    return Printed(names);
  };
  const TaskId worker1{"worker", 1};
  const struct {
    StrategyKind strategy;
    std::optional<TaskId> process;
    int num_gpus;
    std::string compute, parameter, host, inside;
  } rows[] = {
      {StrategyKind::kOneDevice,
       {},
       2,
       full(kLocal, "GPU:1"),
       full(kLocal, "GPU:1"),
       full(kLocal, "CPU:0"),
       "unchanged"},
      {StrategyKind::kOneDevice, worker1, 2, full(kOwn, "GPU:1"), full(kOwn, "GPU:1"), full(kOwn, "CPU:0"),
       "unchanged"},
      {StrategyKind::kMirrored,
       {},
       2,
       full(kLocal, "GPU:0GPU:1"),
       full(kLocal, "GPU:0GPU:1"),
       full(kLocal, "CPU:0"),
       "unchanged"},
      {StrategyKind::kMirrored,
       {},
       0,
       full(kLocal, "CPU:0"),
       full(kLocal, "CPU:0"),
       full(kLocal, "CPU:0"),
       "unchanged"},
      {StrategyKind::kMultiWorkerMirrored, worker1, 2, full(kOwn, "GPU:0GPU:1"), full(kOwn, "GPU:0GPU:1"),
       full(kOwn, "CPU:0"), "/job:worker/task:1"},
      {StrategyKind::kMultiWorkerMirrored, worker1, 0, full(kOwn, "CPU:0"), full(kOwn, "CPU:0"), full(kOwn, "CPU:0"),
       "/job:worker/task:1"},
      {StrategyKind::kMultiWorkerMirrored,
       {},
       0,
       full(kLocal, "CPU:0"),
       full(kLocal, "CPU:0"),
       full(kLocal, "CPU:0"),
       "unchanged"},
      {StrategyKind::kCentralStorage,
       {},
       2,
       full(kLocal, "GPU:0GPU:1"),
       full(kLocal, "CPU:0"),
       full(kLocal, "CPU:0"),
       "unchanged"},
      {StrategyKind::kCentralStorage,
       {},
       1,
       full(kLocal, "GPU:0"),
       full(kLocal, "GPU:0"),
       full(kLocal, "CPU:0"),
       "unchanged"},
      {StrategyKind::kCentralStorage,
       {},
       0,
       full(kLocal, "CPU:0"),
       full(kLocal, "CPU:0"),
       full(kLocal, "CPU:0"),
       "unchanged"},
      {StrategyKind::kParameterServer, TaskId{"chief", 0}, 2, "/device:GPU:0 /device:GPU:1",
       "/job:ps/replica:0/task:0/device:CPU:0 /job:ps/replica:0/task:1/device:CPU:0", "/device:CPU:0", "unchanged"},
      {StrategyKind::kParameterServer, TaskId{"chief", 0}, 0, "/device:CPU:0",
       "/job:ps/replica:0/task:0/device:CPU:0 /job:ps/replica:0/task:1/device:CPU:0", "/device:CPU:0", "unchanged"},
  };
  for (const auto& row : rows) {
    const auto devices = DefaultDevices(
        row.strategy, {.process = row.process, .num_gpus = row.num_gpus, .num_ps = 2, .device = Name("/gpu:1")});
    ASSERT_THAT(devices, IsOk()) << StrategyName(row.strategy);
    EXPECT_EQ(Printed(devices->compute), row.compute) << StrategyName(row.strategy);
    EXPECT_EQ(Printed(devices->parameter), row.parameter) << StrategyName(row.strategy);
    EXPECT_EQ(devices->host.ToString(), row.host) << StrategyName(row.strategy);
    EXPECT_EQ(devices->inside ? devices->inside->ToString() : "unchanged", row.inside) << StrategyName(row.strategy);
  }
  EXPECT_EQ(ErrorKindOf(DefaultDevices(StrategyKind::kDefault, {}).status()), ErrorKind::kWrongContext);
  EXPECT_THAT(DefaultDevices(StrategyKind::kOneDevice, {}), StatusIs(kInvalid, HasSubstr("needs a device")));
}

}  // namespace
}  // namespace cohort
