// Options, choice of algorithm and packing: rules 9.1, 9.2, 9.10, 9.11 and 3.20.
#include <numeric>
#include <optional>
#include <vector>

#include "runtime/cluster/local_devices.h"
#include "runtime/collective/fold.h"
#include "runtime/distribute/communication_options.h"
#include "runtime/distribute/packing.h"
#include "runtime/distribute/reduction_choice.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::ElementsAre;
using testing::HasCode;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::IsOkAndHolds;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kAuto = CommunicationImplementation::kAuto;
constexpr auto kRing = CommunicationImplementation::kRing;
constexpr auto kNccl = CommunicationImplementation::kNccl;
constexpr DeviceFacts kCards{.nccl = true, .virtual_gpus = false};
constexpr DeviceFacts kVirtual{.nccl = true, .virtual_gpus = true};
constexpr DeviceFacts kNoNccl{.nccl = false, .virtual_gpus = false};

// GPUs first, then CPUs.
std::vector<DeviceName> Devices(int gpus, int cpus) {
  std::vector<DeviceName> devices = gpus > 0 ? LocalDevicesFromNumGpus(gpus) : std::vector<DeviceName>();
  for (const DeviceName& cpu : LogicalCpuDevices(cpus)) devices.push_back(cpu);
  return devices;
}

TEST(CollectiveOptionsTest, Rule9x1Defaults) {
  const CommunicationOptions options;
  EXPECT_EQ(options.bytes_per_pack, 0);
  EXPECT_EQ(options.timeout, absl::ZeroDuration());
  EXPECT_EQ(options.implementation, kAuto);
  EXPECT_THAT(Validate(options), IsOk());
  EXPECT_THAT(Validate({.bytes_per_pack = -1, .timeout = {}}), StatusIs(kInvalid, HasSubstr("bytes_per_pack")));
  EXPECT_THAT(Validate({.bytes_per_pack = 0, .timeout = -absl::Seconds(1)}), StatusIs(kInvalid, HasSubstr("timeout")));
}

TEST(CollectiveOptionsTest, Rule9x1ImplementationNamesInAnyCase) {
  for (const char* name : {"nccl", "NCCL", "Nccl"}) {
    EXPECT_THAT(ParseCommunicationImplementation(name), IsOkAndHolds(kNccl)) << name;
  }
  EXPECT_THAT(ParseCommunicationImplementation("auto"), IsOkAndHolds(kAuto));
  EXPECT_THAT(ParseCommunicationImplementation("RING"), IsOkAndHolds(kRing));
  for (const char* name : {"", "mpi", "ring ", "AUTO,RING"}) {
    EXPECT_THAT(ParseCommunicationImplementation(name), StatusIs(kInvalid, HasSubstr("AUTO, RING, NCCL"))) << name;
  }
}

TEST(CollectiveOptionsTest, Rule9x1Merge) {
  const CommunicationOptions all{.bytes_per_pack = 100, .timeout = absl::Seconds(5), .implementation = kRing};
  EXPECT_EQ(Merge(all, {}), all);
  EXPECT_EQ(Merge({}, all), all);
  EXPECT_EQ(Merge(all, {.bytes_per_pack = 7, .timeout = {}}),
            (CommunicationOptions{.bytes_per_pack = 7, .timeout = absl::Seconds(5), .implementation = kRing}));
  EXPECT_EQ(Merge(all, {.bytes_per_pack = 0, .timeout = absl::Seconds(1), .implementation = kNccl}),
            (CommunicationOptions{.bytes_per_pack = 100, .timeout = absl::Seconds(1), .implementation = kNccl}));
}

TEST(CollectiveOptionsTest, Rule9x1OldNames) {
  EXPECT_EQ(CollectiveHints(), CommunicationOptions());
  EXPECT_EQ(CollectiveHints(8, absl::Seconds(2)),
            (CommunicationOptions{.bytes_per_pack = 8, .timeout = absl::Seconds(2), .implementation = kAuto}));
  EXPECT_EQ(CollectiveCommunication::kNccl, kNccl);
}

TEST(CollectiveOptionsTest, Rule9x2Choice) {
  EXPECT_EQ(ChooseImplementation(kAuto, Devices(2, 0), kCards), kNccl);
  EXPECT_EQ(ChooseImplementation(kAuto, Devices(2, 0), kNoNccl), kRing);
  EXPECT_EQ(ChooseImplementation(kAuto, Devices(2, 0), kVirtual), kRing);
  EXPECT_EQ(ChooseImplementation(kAuto, Devices(1, 1), kCards), kRing);
  EXPECT_EQ(ChooseImplementation(kAuto, Devices(0, 2), kCards), kRing);
  EXPECT_EQ(ChooseImplementation(kNccl, Devices(0, 2), kCards), kRing);
  EXPECT_EQ(ChooseImplementation(kNccl, Devices(2, 0), kCards), kNccl);
  EXPECT_EQ(ChooseImplementation(kRing, Devices(2, 0), kCards), kRing);
  EXPECT_EQ(ImplementationFor(Collective::kAllReduce, kNccl), kNccl);
  EXPECT_EQ(ImplementationFor(Collective::kAllGather, kNccl), kRing);
  EXPECT_EQ(ImplementationFor(Collective::kBroadcast, kNccl), kRing);
}

TEST(CollectiveOptionsTest, Rule3x20CrossDeviceOps) {
  EXPECT_EQ(DefaultCrossDeviceOps(Devices(1, 1), kCards), CrossDeviceOps::kReductionToOneDevice);
  EXPECT_EQ(DefaultCrossDeviceOps(Devices(0, 2), kCards), CrossDeviceOps::kRing);
  EXPECT_EQ(DefaultCrossDeviceOps(Devices(2, 0), kCards), CrossDeviceOps::kNccl);
  EXPECT_EQ(DefaultCrossDeviceOps(Devices(2, 0), kVirtual), CrossDeviceOps::kRing);
  const auto gpus = Devices(2, 0);
  EXPECT_EQ(OpsForCall(CrossDeviceOps::kNccl, gpus, gpus, false), CrossDeviceOps::kNccl);
  EXPECT_EQ(OpsForCall(CrossDeviceOps::kNccl, gpus, gpus, true), CrossDeviceOps::kReductionToOneDevice);
  EXPECT_EQ(OpsForCall(CrossDeviceOps::kNccl, gpus, Devices(0, 1), false), CrossDeviceOps::kReductionToOneDevice);
  EXPECT_EQ(OpsForCall(CrossDeviceOps::kNccl, gpus, Devices(1, 0), false), CrossDeviceOps::kReductionToOneDevice);
  EXPECT_EQ(OpsForCall(CrossDeviceOps::kNccl, gpus, {gpus[1], gpus[0]}, false), CrossDeviceOps::kNccl);
  const auto mixed = Devices(1, 1);
  EXPECT_EQ(OpsForCall(CrossDeviceOps::kRing, mixed, mixed, false), CrossDeviceOps::kReductionToOneDevice);
}

TEST(CollectiveOptionsTest, Rule9x10PackSizes) {
  // In packer order 128, 32, 800, 4.
  EXPECT_THAT(PackTensors({4, 800, 32, 128}, 200), ElementsAre(ElementsAre(3, 2, 1), ElementsAre(0)));
  EXPECT_THAT(PackTensors({4, 800, 32, 128}, 0), ElementsAre(ElementsAre(3, 2, 1, 0)));
  EXPECT_THAT(PackTensors({4, std::nullopt, 32, 128}, 1), ElementsAre(ElementsAre(3, 2, 1, 0)));
  EXPECT_THAT(PackTensors({100, 100, 100}, 100), ElementsAre(ElementsAre(2, 1), ElementsAre(0)));
  EXPECT_THAT(PackTensors({100, 100, 100}, 99), ElementsAre(ElementsAre(2), ElementsAre(1), ElementsAre(0)));
  EXPECT_THAT(PackTensors({0, 0}, 1), ElementsAre(ElementsAre(1, 0)));
  EXPECT_THAT(PackTensors({}, 200), ElementsAre());
}

TEST(CollectiveOptionsTest, Rule9x11Packs) {
  EXPECT_THAT(SplitIntoPacks(10, 3), IsOkAndHolds(ElementsAre(3, 3, 4)));
  EXPECT_THAT(SplitIntoPacks(10, 1), IsOkAndHolds(ElementsAre(10)));
  EXPECT_THAT(SplitIntoPacks(2, 3), IsOkAndHolds(ElementsAre(0, 0, 2)));
  EXPECT_THAT(SplitIntoPacks(10, 0), IsOkAndHolds(ElementsAre()));
  EXPECT_THAT(SplitIntoPacks(10, -1), StatusIs(kInvalid, HasSubstr("num_packs")));
  EXPECT_THAT(SplitIntoPacks(-1, 1), HasCode(kInvalid));
}

TEST(CollectiveOptionsTest, Rule9x11HierarchicalCopyNeedsAnEvenNumberOfDevices) {
  constexpr auto kHierarchical = CrossDeviceOps::kHierarchicalCopy;
  EXPECT_EQ(OpsForCall(kHierarchical, Devices(4, 0), Devices(4, 0), false), kHierarchical);
  EXPECT_EQ(OpsForCall(kHierarchical, Devices(3, 0), Devices(3, 0), false), CrossDeviceOps::kReductionToOneDevice);
}

TEST(CollectiveOptionsTest, Rule9x11SumAndMean) {
  const struct {
    std::vector<std::vector<float>> values;  // by device
    std::vector<float> sum, mean;
  } rows[] = {{{{1}, {2}, {3}, {4}}, {10}, {2.5}}, {{{1, 2}, {3, 4}}, {4, 6}, {2, 3}}};
  const FoldFunction fold = FindFold(DType::kF32, ReduceOp::kSum);
  for (const auto& row : rows) {
    std::vector<const char*> parts;
    for (const std::vector<float>& value : row.values) parts.push_back(reinterpret_cast<const char*>(value.data()));
    std::vector<float> result(row.sum.size());
    fold(parts, result.size(), result.data());
    EXPECT_EQ(result, row.sum);
    for (float& element : result) element /= static_cast<float>(row.values.size());
    EXPECT_EQ(result, row.mean);
  }
}

}  // namespace
}  // namespace cohort
