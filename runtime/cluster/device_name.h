#ifndef COHORT_RUNTIME_CLUSTER_DEVICE_NAME_H_
#define COHORT_RUNTIME_CLUSTER_DEVICE_NAME_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/base/task_id.h"

namespace cohort {

// A device, or a wish for one, in TensorFlow's notation. Unset fields are open.
struct DeviceName {
  std::optional<std::string> job;
  std::optional<int> replica;
  std::optional<int> task;
  std::optional<std::string> type;  // "CPU", "GPU", ...
  std::optional<int> ordinal;       // of that type on its host; unset unless `type` is set

  // "/job:worker/replica:0/task:1/device:GPU:0" with the fields that are set, in that order; a type without ordinal
  // prints as "/device:GPU:*"; nothing set is "".
  std::string ToString() const;

  // Ascending by job, replica, task, type and ordinal; an open field comes before a set one.
  friend auto operator<=>(const DeviceName&, const DeviceName&) = default;
  friend bool operator==(const DeviceName&, const DeviceName&) = default;
};

// Parses "/"-separated parts in any order: job:X, replica:N, task:N, device:TYPE[:N], and for the built-in types the
// short forms TYPE[:N] in any case. "*" leaves a field open. The first slash may be missing; an empty text sets
// nothing. InvalidArgument, with text and part: an unknown part, a field twice (so two types), a number below 0 or
// none, a job name that is not [A-Za-z][A-Za-z0-9_]*.
absl::StatusOr<DeviceName> ParseDeviceName(absl::string_view text);

// `device` with every field set: what it leaves open comes from `fallback` (the device scope in force), then from
// `process` (nullopt: job localhost, task 0), replica 0 and CPU:0. A job without a task means its task 0.
DeviceName Canonicalize(const DeviceName& device, const DeviceName& fallback = {},
                        const std::optional<TaskId>& process = std::nullopt);

// The same for texts. InvalidArgument: one of them does not parse.
absl::StatusOr<std::string> CanonicalDevice(absl::string_view device, absl::string_view fallback = "",
                                            const std::optional<TaskId>& process = std::nullopt);

// "/cpu:0" -> "/replica:0/device:CPU:0", for workers that are not known yet. InvalidArgument: it does not parse.
absl::StatusOr<std::string> CanonicalDeviceWithoutJobAndTask(absl::string_view device);

// CPU:0 of the same job, replica and task.
DeviceName HostDevice(const DeviceName& device);

// How many accelerators (all but CPU) of each type `devices` has on `task`.
std::map<std::string, int> CountAccelerators(absl::Span<const DeviceName> devices, const TaskId& task);

}  // namespace cohort

#endif  // COHORT_RUNTIME_CLUSTER_DEVICE_NAME_H_
