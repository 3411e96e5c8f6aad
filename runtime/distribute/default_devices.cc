#include "runtime/distribute/default_devices.h"

#include "runtime/base/error_kind.h"
#include "runtime/cluster/local_devices.h"

namespace cohort {
namespace {

DeviceName Cpu0() { return LogicalCpuDevices(1).front(); }

DeviceName Full(const DeviceName& device, const DeviceSetting& setting) {
  return Canonicalize(device, {}, setting.process);
}

std::vector<DeviceName> OwnDevices(const DeviceSetting& setting) {
  std::vector<DeviceName> devices = LocalDevicesFromNumGpus(setting.num_gpus);
  for (DeviceName& device : devices) device = Full(device, setting);
  return devices;
}

StrategyDevices Mirrored(const DeviceSetting& setting) {
  const std::vector<DeviceName> devices = OwnDevices(setting);
  return {.compute = devices, .parameter = devices, .host = Full(Cpu0(), setting), .inside = std::nullopt};
}

StrategyDevices MultiWorkerMirrored(const DeviceSetting& setting) {
  StrategyDevices devices = Mirrored(setting);
  if (setting.process) {
    devices.inside = DeviceName{
        .job = setting.process->job, .replica = {}, .task = setting.process->index, .type = {}, .ordinal = {}};
  }
  return devices;
}

StrategyDevices CentralStorage(const DeviceSetting& setting) {
  StrategyDevices devices = Mirrored(setting);
  if (devices.compute.size() > 1) devices.parameter = {devices.host};
  return devices;
}

StrategyDevices ParameterServer(const DeviceSetting& setting) {
  StrategyDevices devices{
      .compute = LocalDevicesFromNumGpus(setting.num_gpus), .parameter = {}, .host = Cpu0(), .inside = std::nullopt};
  for (int ps = 0; ps < setting.num_ps; ++ps) devices.parameter.push_back(Canonicalize(Cpu0(), {}, TaskId{"ps", ps}));
  return devices;
}

absl::StatusOr<StrategyDevices> OneDevice(const DeviceSetting& setting) {
  if (!setting.device) return absl::InvalidArgumentError("strategy one_device needs a device, as in \"/gpu:0\"");
  const DeviceName device = Full(*setting.device, setting);
  return StrategyDevices{
      .compute = {device}, .parameter = {device}, .host = HostDevice(device), .inside = std::nullopt};
}

}  // namespace

absl::StatusOr<StrategyDevices> DefaultDevices(StrategyKind strategy, const DeviceSetting& setting) {
  switch (strategy) {
    case StrategyKind::kOneDevice:
      return OneDevice(setting);
    case StrategyKind::kMirrored:
      return Mirrored(setting);
    case StrategyKind::kMultiWorkerMirrored:
      return MultiWorkerMirrored(setting);
    case StrategyKind::kCentralStorage:
      return CentralStorage(setting);
    case StrategyKind::kParameterServer:
      return ParameterServer(setting);
    case StrategyKind::kDefault:
      break;
  }
  return WrongContextError("the default strategy has no devices; enter the scope of another one");
}

}  // namespace cohort
