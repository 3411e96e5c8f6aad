#ifndef COHORT_RUNTIME_CLUSTER_DEVICE_MERGE_H_
#define COHORT_RUNTIME_CLUSTER_DEVICE_MERGE_H_

#include "absl/status/statusor.h"
#include "runtime/cluster/device_name.h"

namespace cohort {

// Two ways to make one device of two. Neither fills in defaults: that is Canonicalize.

// A later scope over an earlier one: each field that `over` sets replaces that of `base`.
// "/job:boo/task:1/device:GPU:0" and "/job:muu/cpu:2" -> "/job:muu/task:1/device:CPU:2".
DeviceName OverrideMerge(const DeviceName& base, const DeviceName& over);

enum class Placement {
  kStrict,
  kSoft,  // a conflict about the type leaves type and ordinal open, one about the ordinal only that
};

// Two wishes for the same thing: fields combine where they are equal or one is open. InvalidArgument, with both names:
// incompatible jobs, replicas or tasks, and with strict placement types or ids.
absl::StatusOr<DeviceName> StrictMerge(const DeviceName& a, const DeviceName& b,
                                       Placement placement = Placement::kStrict);

}  // namespace cohort

#endif  // COHORT_RUNTIME_CLUSTER_DEVICE_MERGE_H_
