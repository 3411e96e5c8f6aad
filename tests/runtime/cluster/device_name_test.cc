#include "runtime/cluster/device_name.h"

#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::IsOkAndHolds;
using ::testing::Pair;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

std::string Printed(const char* text) {
  const absl::StatusOr<DeviceName> name = ParseDeviceName(text);
  EXPECT_THAT(name, IsOk()) << text;
  return name.ok() ? name->ToString() : "error";
}

TEST(DeviceNameTest, Rule2Dot1PrintsTheSetFieldsInOrder) {
  DeviceName name{.job = "worker", .replica = 0, .task = 1, .type = "GPU", .ordinal = 2};
  EXPECT_EQ(name.ToString(), "/job:worker/replica:0/task:1/device:GPU:2");
  name.ordinal.reset();
  EXPECT_EQ(name.ToString(), "/job:worker/replica:0/task:1/device:GPU:*");
  name.replica.reset();
  name.type.reset();
  EXPECT_EQ(name.ToString(), "/job:worker/task:1");
  EXPECT_EQ(DeviceName{}.ToString(), "");
}

TEST(DeviceNameTest, Rule2Dot2Parses) {
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

TEST(DeviceNameTest, Rule2Dot2Refuses) {
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

TEST(DeviceNameTest, Rule2Dot6Canonicalize) {
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

TEST(DeviceNameTest, Rule2Dot7WithoutJobAndTask) {
  EXPECT_THAT(CanonicalDeviceWithoutJobAndTask("/cpu:0"), IsOkAndHolds("/replica:0/device:CPU:0"));
}

TEST(DeviceNameTest, Rule2Dot8HostDevice) {
  EXPECT_EQ(HostDevice(*ParseDeviceName("/job:worker/replica:0/task:1/device:GPU:3")).ToString(),
            "/job:worker/replica:0/task:1/device:CPU:0");
}

TEST(DeviceNameTest, Rule1Dot7CountsTheAcceleratorsOfATask) {
  std::vector<DeviceName> devices;
  for (const char* text :
       {"/job:worker/task:1/device:CPU:0", "/job:worker/task:1/device:TPU:0", "/job:worker/task:1/device:TPU:1",
        "/job:worker/task:1/device:GPU:0", "/job:worker/task:1/device:GPU:1", "/job:worker/task:3/device:GPU:0",
        "/job:ps/task:1/device:GPU:0"}) {
    devices.push_back(*ParseDeviceName(text));
  }
  EXPECT_THAT(CountAccelerators(devices, {"worker", 1}), ElementsAre(Pair("GPU", 2), Pair("TPU", 2)));
  EXPECT_THAT(CountAccelerators(devices, {"worker", 3}), ElementsAre(Pair("GPU", 1)));
  EXPECT_THAT(CountAccelerators(devices, {"worker", 0}), ElementsAre());
}

}  // namespace
}  // namespace cohort
