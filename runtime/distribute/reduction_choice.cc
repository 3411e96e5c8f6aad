#include "runtime/distribute/reduction_choice.h"

#include <algorithm>
#include <vector>

namespace cohort {
namespace {

constexpr char kCpu[] = "CPU";
constexpr char kGpu[] = "GPU";

bool AllOfType(absl::Span<const DeviceName> devices, const char* type) {
  return std::all_of(devices.begin(), devices.end(), [type](const DeviceName& d) { return d.type == type; });
}

bool OneType(absl::Span<const DeviceName> devices) {
  return std::all_of(devices.begin(), devices.end(), [&](const DeviceName& d) { return d.type == devices[0].type; });
}

bool HasCpu(absl::Span<const DeviceName> devices) {
  return std::any_of(devices.begin(), devices.end(), [](const DeviceName& d) { return d.type == kCpu; });
}

bool SameDevices(absl::Span<const DeviceName> a, absl::Span<const DeviceName> b) {
  std::vector<DeviceName> x(a.begin(), a.end()), y(b.begin(), b.end());
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  return x == y;
}

}  // namespace

CommunicationImplementation ChooseImplementation(CommunicationImplementation wanted,
                                                 absl::Span<const DeviceName> devices, const DeviceFacts& facts) {
  const bool possible = facts.nccl && !facts.virtual_gpus && !devices.empty() && AllOfType(devices, kGpu);
  const bool asked = wanted != CommunicationImplementation::kRing;
  return possible && asked ? CommunicationImplementation::kNccl : CommunicationImplementation::kRing;
}

CommunicationImplementation ImplementationFor(Collective collective, CommunicationImplementation chosen) {
  return collective == Collective::kAllReduce ? chosen : CommunicationImplementation::kRing;
}

CrossDeviceOps DefaultCrossDeviceOps(absl::Span<const DeviceName> devices, const DeviceFacts& facts) {
  if (!OneType(devices)) return CrossDeviceOps::kReductionToOneDevice;
  const auto chosen = ChooseImplementation(CommunicationImplementation::kAuto, devices, facts);
  return chosen == CommunicationImplementation::kNccl ? CrossDeviceOps::kNccl : CrossDeviceOps::kRing;
}

CrossDeviceOps OpsForCall(CrossDeviceOps ops, absl::Span<const DeviceName> values,
                          absl::Span<const DeviceName> destinations, bool int32_values) {
  const bool to_cpu = destinations.size() == 1 && HasCpu(destinations);
  const bool mixed_cpu = HasCpu(values) && !OneType(values);
  const bool odd_halves = ops == CrossDeviceOps::kHierarchicalCopy && values.size() % 2 != 0;
  const bool one_device = int32_values || to_cpu || mixed_cpu || odd_halves || !SameDevices(values, destinations);
  return one_device ? CrossDeviceOps::kReductionToOneDevice : ops;
}

}  // namespace cohort
