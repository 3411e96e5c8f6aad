#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/graph/op.h"

// The one place that knows all families.
namespace cohort {
namespace {

std::vector<absl::Span<const OpDef>> Families() {
  return {ops::FunctionalOps(), ops::StateOps(), ops::ArrayOps(),      ops::MathOps(),
          ops::ReductionOps(),  ops::NnOps(),    ops::ConvolutionOps()};
}

using Index = absl::flat_hash_map<absl::string_view, const OpDef*>;

const Index& OpIndex() {
  // Never destroyed, so that no thread can find it gone at exit.
  static const Index* const index = [] {
    auto* made = new Index;
    for (const OpDef* op : AllOps()) made->emplace(op->name, op);
    return made;
  }();
  return *index;
}

}  // namespace

const OpDef* FindOp(absl::string_view name) {
  const auto it = OpIndex().find(name);
  return it == OpIndex().end() ? nullptr : it->second;
}

std::vector<const OpDef*> AllOps() {
  std::vector<const OpDef*> all;
  for (const absl::Span<const OpDef> family : Families()) {
    for (const OpDef& op : family) all.push_back(&op);
  }
  return all;
}

}  // namespace cohort
