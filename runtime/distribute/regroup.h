#ifndef COHORT_RUNTIME_DISTRIBUTE_REGROUP_H_
#define COHORT_RUNTIME_DISTRIBUTE_REGROUP_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/distribute/nest.h"

namespace cohort {

// Values of replicas on their way into a step function and out of it (spec 4.2, 4.6-4.8, 5.15, 5.16).

// What replica `replica` gets of an argument: of each PerReplica or Mirrored its component, of all else the same
// object. InvalidArgument, with the path: a container without that component.
absl::StatusOr<Nest> SelectReplica(int replica, const Nest& argument);

enum class Wrap : uint8_t {
  kAsNeeded,
  kAlways,  // PerReplica even of equal values and of one replica: values from a function, data set elements
};

// The results of all replicas, in replica order (at least one, checked), as one. Structures are those of replica 0;
// leaf by leaf, the first that holds: one replica -> its value; the same object on all (SameObject) -> that object;
// component r of one distributed variable on each replica r -> the variable; else a PerReplica.
// InvalidArgument, with the path, the replica and both structures: containers of another kind, other lengths or keys.
absl::StatusOr<Nest> Regroup(absl::Span<const Nest> values, Wrap wrap = Wrap::kAsNeeded);

// One value for each of the `num_replicas` replicas if `value` is or holds a PerReplica, a Mirrored value or a
// distributed variable; else `value` alone. InvalidArgument, with the path: a container of another size.
absl::StatusOr<std::vector<Nest>> LocalResults(int num_replicas, const Nest& value);

// A value on `num_devices` devices: Mirrored, or bare on one.
Nest MirrorOver(int num_devices, const Nest& value);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DISTRIBUTE_REGROUP_H_
