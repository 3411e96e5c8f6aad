#ifndef COHORT_RUNTIME_DISTRIBUTE_DEFAULT_DEVICES_H_
#define COHORT_RUNTIME_DISTRIBUTE_DEFAULT_DEVICES_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/base/task_id.h"
#include "runtime/cluster/device_name.h"
#include "runtime/cluster/strategy_kind.h"

namespace cohort {

// Where a strategy computes and keeps its variables if it is not told.
struct StrategyDevices {
  std::vector<DeviceName> compute;
  std::vector<DeviceName> parameter;
  DeviceName host;                   // where input is made: a CPU
  std::optional<DeviceName> inside;  // the default device in a scope; nullopt: the scope leaves it as it was
};

// What a strategy is built on.
struct DeviceSetting {
  std::optional<TaskId> process;     // nullopt: no cluster
  int num_gpus = 0;                  // of this process; with a parameter server of each worker
  int num_ps = 0;                    // with a parameter server
  std::optional<DeviceName> device;  // OneDevice's
};

// All names are full, but for workers of a parameter server strategy, which is about any worker: no job and task.
// InvalidArgument: one_device without a device. WrongContext: the default strategy, which has no devices.
absl::StatusOr<StrategyDevices> DefaultDevices(StrategyKind strategy, const DeviceSetting& setting);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DISTRIBUTE_DEFAULT_DEVICES_H_
