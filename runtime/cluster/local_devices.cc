#include "runtime/cluster/local_devices.h"

namespace cohort {
namespace {

std::vector<DeviceName> Devices(const char* type, int count) {
  std::vector<DeviceName> devices;
  for (int i = 0; i < count; ++i) {
    devices.push_back({.job = {}, .replica = {}, .task = {}, .type = type, .ordinal = i});
  }
  return devices;
}

}  // namespace

std::vector<DeviceName> LocalDevicesFromNumGpus(int num_gpus) {
  return num_gpus > 0 ? Devices("GPU", num_gpus) : LogicalCpuDevices(1);
}

std::vector<DeviceName> LogicalCpuDevices(int count) { return Devices("CPU", count); }

}  // namespace cohort
