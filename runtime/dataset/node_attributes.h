#ifndef COHORT_RUNTIME_DATASET_NODE_ATTRIBUTES_H_
#define COHORT_RUNTIME_DATASET_NODE_ATTRIBUTES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/graph/dataset_def.h"

namespace cohort {

// Reads the attributes of a data set's node. InvalidArgument, naming the attribute: missing, of another type, too
// small.

absl::Status AtLeast(absl::string_view name, int64_t value, int64_t least);
absl::StatusOr<int64_t> IntegerAttribute(const DatasetDef& node, absl::string_view name, int64_t least);

// One that must be there.
template <typename T>
absl::StatusOr<T> RequiredAttribute(const DatasetDef& node, absl::string_view name) {
  absl::StatusOr<T> value = GetAttribute<T>(node.attributes, name);
  if (!value.ok()) return absl::InvalidArgumentError(value.status().message());
  return value;
}

// One that may be absent, but not of another type.
template <typename T>
absl::StatusOr<T> OptionalAttribute(const DatasetDef& node, absl::string_view name, T fallback) {
  absl::StatusOr<T> value = GetAttribute<T>(node.attributes, name);
  if (absl::IsNotFound(value.status())) return fallback;
  return value;
}

// Part `index` of `count`: a worker, a shard.
struct PartAttributes {
  int64_t count = 1;
  int64_t index = 0;
};
absl::StatusOr<PartAttributes> PartOf(const DatasetDef& node, absl::string_view count_name);

// That the node has that many inputs and no attributes but these.
absl::Status CheckNode(const DatasetDef& node, int inputs, const std::vector<absl::string_view>& attributes);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DATASET_NODE_ATTRIBUTES_H_
