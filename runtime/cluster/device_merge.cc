#include "runtime/cluster/device_merge.h"

#include "absl/strings/str_cat.h"
#include "runtime/cluster/host_port.h"

namespace cohort {
namespace {

template <typename T>
bool Differ(const std::optional<T>& a, const std::optional<T>& b) {
  return a && b && *a != *b;
}

template <typename T>
std::optional<T> Either(const std::optional<T>& a, const std::optional<T>& b) {
  return a ? a : b;
}

}  // namespace

DeviceName OverrideMerge(const DeviceName& base, const DeviceName& over) {
  return {.job = Either(over.job, base.job),
          .replica = Either(over.replica, base.replica),
          .task = Either(over.task, base.task),
          .type = Either(over.type, base.type),
          .ordinal = Either(over.ordinal, base.ordinal)};
}

absl::StatusOr<DeviceName> StrictMerge(const DeviceName& a, const DeviceName& b, Placement placement) {
  const auto incompatible = [&](absl::string_view what) {
    return absl::InvalidArgumentError(
        absl::StrCat("devices ", Quoted(a.ToString()), " and ", Quoted(b.ToString()), " have incompatible ", what));
  };
  if (Differ(a.job, b.job)) return incompatible("jobs");
  if (Differ(a.replica, b.replica)) return incompatible("replicas");
  if (Differ(a.task, b.task)) return incompatible("tasks");
  DeviceName merged = OverrideMerge(b, a);
  if (Differ(a.type, b.type)) {
    if (placement == Placement::kStrict) return incompatible("types");
    merged.type.reset();
    merged.ordinal.reset();
  } else if (Differ(a.ordinal, b.ordinal)) {
    if (placement == Placement::kStrict) return incompatible("ids");
    merged.ordinal.reset();
  }
  return merged;
}

}  // namespace cohort
