#ifndef COHORT_RUNTIME_CLUSTER_LOCAL_DEVICES_H_
#define COHORT_RUNTIME_CLUSTER_LOCAL_DEVICES_H_

#include <vector>

#include "runtime/cluster/device_name.h"

namespace cohort {

// The devices that a strategy of one process computes on by default: /device:GPU:0 .. GPU:(num_gpus - 1), or
// /device:CPU:0 if there are none.
std::vector<DeviceName> LocalDevicesFromNumGpus(int num_gpus);

// /device:CPU:0 .. CPU:(count - 1): what a process with that many logical CPU devices has. They compute only for those
// who name them.
std::vector<DeviceName> LogicalCpuDevices(int count);

}  // namespace cohort

#endif  // COHORT_RUNTIME_CLUSTER_LOCAL_DEVICES_H_
