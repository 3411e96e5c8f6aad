#include "runtime/dataset/node_attributes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status_macros.h"

namespace cohort {

absl::Status AtLeast(absl::string_view name, int64_t value, int64_t least) {
  if (value >= least) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, " is ", value, ", must be at least ", least));
}

absl::StatusOr<int64_t> IntegerAttribute(const DatasetDef& node, absl::string_view name, int64_t least) {
  COHORT_ASSIGN_OR_RETURN(const int64_t value, RequiredAttribute<int64_t>(node, name));
  COHORT_RETURN_IF_ERROR(AtLeast(name, value, least));
  return value;
}

absl::StatusOr<PartAttributes> PartOf(const DatasetDef& node, absl::string_view count_name) {
  PartAttributes part;
  COHORT_ASSIGN_OR_RETURN(part.count, IntegerAttribute(node, count_name, 1));
  COHORT_ASSIGN_OR_RETURN(part.index, IntegerAttribute(node, "index", 0));
  if (part.index < part.count) return part;
  return absl::InvalidArgumentError(
      absl::StrCat("index is ", part.index, ", must be less than ", count_name, ", ", part.count));
}

absl::Status CheckNode(const DatasetDef& node, int inputs, const std::vector<absl::string_view>& attributes) {
  if (static_cast<int>(node.inputs.size()) != inputs) {
    return absl::InvalidArgumentError(
        absl::StrCat("data set '", node.kind, "' has ", node.inputs.size(), " inputs, needs ", inputs));
  }
  for (const auto& [name, value] : node.attributes) {
    if (std::find(attributes.begin(), attributes.end(), name) != attributes.end()) continue;
    return absl::InvalidArgumentError(absl::StrCat("data set '", node.kind, "' has no attribute '", name,
                                                   "'; it has: ", absl::StrJoin(attributes, ", ")));
  }
  return absl::OkStatus();
}

}  // namespace cohort
