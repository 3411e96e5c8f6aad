#ifndef COHORT_RUNTIME_DISTRIBUTE_REDUCTION_CHOICE_H_
#define COHORT_RUNTIME_DISTRIBUTE_REDUCTION_CHOICE_H_

#include "absl/types/span.h"
#include "runtime/cluster/device_name.h"
#include "runtime/distribute/communication_options.h"

namespace cohort {

// Which algorithm reduces values over devices. The choice never changes results on the CPU.

// What the process has beyond the names of its devices.
struct DeviceFacts {
  bool nccl = false;          // NCCL is there
  bool virtual_gpus = false;  // several devices of the group lie on one card, or are simulated: NCCL cannot join them
};

// kRing or kNccl for a group of `devices` of all its tasks. NCCL needs at least one device, GPUs only, each a card of
// its own, and the library; whoever asks for it without that gets the ring.
CommunicationImplementation ChooseImplementation(CommunicationImplementation wanted,
                                                 absl::Span<const DeviceName> devices, const DeviceFacts& facts);

enum class Collective { kAllReduce, kAllGather, kBroadcast };

// NCCL reduces; whatever else a group of several workers does takes the ring.
CommunicationImplementation ImplementationFor(Collective collective, CommunicationImplementation chosen);

enum class CrossDeviceOps { kReductionToOneDevice, kRing, kNccl, kHierarchicalCopy };

// What MirroredStrategy takes if it is told nothing: types of devices mixed: one device; CPUs only: the ring; GPUs: as
// ChooseImplementation.
CrossDeviceOps DefaultCrossDeviceOps(absl::Span<const DeviceName> devices, const DeviceFacts& facts);

// What one call falls back to. `values` are the devices that hold the values, `destinations` where the result goes.
// Reduced on one device, then copied: 32-bit integers; a single CPU as destination; a CPU among devices of other types;
// destinations other than the devices of the values, in any order; hierarchical copies over an odd number of devices,
// whose two halves would leave one out.
CrossDeviceOps OpsForCall(CrossDeviceOps ops, absl::Span<const DeviceName> values,
                          absl::Span<const DeviceName> destinations, bool int32_values);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DISTRIBUTE_REDUCTION_CHOICE_H_
