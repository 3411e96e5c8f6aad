#include "runtime/graph/dataset_def.h"

#include "absl/strings/str_cat.h"

namespace cohort {
namespace {

void Append(std::string& out, const DatasetDef& node, int depth) {
  absl::StrAppend(&out, std::string(2 * depth, ' '), node.kind, AttributesToString(node.attributes), "\n");
  for (const DatasetDef& input : node.inputs) Append(out, input, depth + 1);
}

}  // namespace

std::string DatasetDef::ToString() const {
  std::string out;
  Append(out, *this, 0);
  return out;
}

}  // namespace cohort
