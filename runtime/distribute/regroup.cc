#include "runtime/distribute/regroup.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/check.h"
#include "runtime/base/status_macros.h"

namespace cohort {
namespace {

absl::StatusOr<Nest> SelectOfLeaf(int replica, const Nest& leaf) {
  if (!leaf.is_distributed()) return leaf;
  if (replica < 0 || static_cast<size_t>(replica) >= leaf.children().size()) {
    return absl::InvalidArgumentError(absl::StrCat("a ", KindName(leaf.kind()), " of ", leaf.children().size(),
                                                   " values has none for replica ", replica));
  }
  return leaf.children()[replica];
}

std::string DescribeStructure(const Nest& nest) {
  if (!nest.is_structure()) return std::string(KindName(nest.kind()));
  if (nest.kind() == Nest::Kind::kMap) return absl::StrCat("map with keys {", absl::StrJoin(nest.keys(), ", "), "}");
  return absl::StrCat(KindName(nest.kind()), " of ", nest.children().size());
}

bool SameStructure(const Nest& a, const Nest& b) {
  if (!a.is_structure() && !b.is_structure()) return true;
  return a.kind() == b.kind() && a.children().size() == b.children().size() && a.keys() == b.keys();
}

// The variable of which each replica r has component r, or none.
Nest CommonVariable(absl::Span<const Nest> leaves) {
  for (size_t r = 0; r < leaves.size(); ++r) {
    if (leaves[r].kind() != Nest::Kind::kObject) return {};
    const ObjectRef& part = leaves[r].object();
    if (part.component != static_cast<int>(r) || part.object != leaves[0].object().object) return {};
  }
  ObjectRef whole = leaves[0].object();
  whole.component = -1;
  return whole;
}

// A distributed variable, whole.
bool IsVariable(const Nest& leaf) {
  return leaf.kind() == Nest::Kind::kObject && leaf.object().num_components > 0 && leaf.object().component < 0;
}

Nest RegroupLeaf(absl::Span<const Nest> leaves, Wrap wrap) {
  const bool same =
      std::all_of(leaves.begin() + 1, leaves.end(), [&](const Nest& leaf) { return SameObject(leaf, leaves[0]); });
  if (same && (wrap == Wrap::kAsNeeded || IsVariable(leaves[0]))) return leaves[0];  // of one replica, too
  Nest variable = CommonVariable(leaves);
  if (variable.kind() != Nest::Kind::kNone) return variable;
  return Nest::PerReplica({leaves.begin(), leaves.end()});
}

absl::StatusOr<Nest> RegroupBelow(absl::Span<const Nest> values, Wrap wrap, const std::string& path) {
  const Nest& first = values[0];
  for (size_t r = 1; r < values.size(); ++r) {
    if (SameStructure(first, values[r])) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(path.empty() ? "" : path + ": ", "structure mismatch between replicas: replica 0 has a ",
                     DescribeStructure(first), ", replica ", r, " a ", DescribeStructure(values[r])));
  }
  if (!first.is_structure()) return RegroupLeaf(values, wrap);
  std::vector<Nest> children;
  for (size_t i = 0; i < first.children().size(); ++i) {
    std::vector<Nest> of_replicas;
    for (const Nest& value : values) of_replicas.push_back(value.children()[i]);
    COHORT_ASSIGN_OR_RETURN(Nest child, RegroupBelow(of_replicas, wrap, path + PathStep(first, i)));
    children.push_back(std::move(child));
  }
  return Nest::Like(first, std::move(children));
}

bool HoldsDistributed(const Nest& nest) {
  if (nest.is_distributed() || IsVariable(nest)) return true;
  return nest.is_structure() && std::any_of(nest.children().begin(), nest.children().end(), HoldsDistributed);
}

absl::StatusOr<Nest> LocalResultOfLeaf(int num_replicas, int replica, const Nest& leaf) {
  if (IsVariable(leaf)) {
    if (leaf.object().num_components != num_replicas) {
      return absl::InvalidArgumentError(absl::StrCat(leaf.object().label, " has ", leaf.object().num_components,
                                                     " components for ", num_replicas, " replicas"));
    }
    ObjectRef component = leaf.object();
    component.component = replica;
    return Nest(component);
  }
  if (leaf.is_distributed() && static_cast<int>(leaf.children().size()) != num_replicas) {
    return absl::InvalidArgumentError(absl::StrCat("a ", KindName(leaf.kind()), " of ", leaf.children().size(),
                                                   " values for ", num_replicas, " replicas"));
  }
  return SelectOfLeaf(replica, leaf);
}

}  // namespace

absl::StatusOr<Nest> SelectReplica(int replica, const Nest& argument) {
  return MapLeaves(argument, [&](const Nest& leaf) { return SelectOfLeaf(replica, leaf); });
}

absl::StatusOr<Nest> Regroup(absl::Span<const Nest> values, Wrap wrap) {
  COHORT_CHECK(!values.empty(), "regroup needs a value of each replica");
  return RegroupBelow(values, wrap, "");
}

absl::StatusOr<std::vector<Nest>> LocalResults(int num_replicas, const Nest& value) {
  if (!HoldsDistributed(value)) return std::vector<Nest>{value};
  std::vector<Nest> results;
  for (int r = 0; r < num_replicas; ++r) {
    COHORT_ASSIGN_OR_RETURN(
        Nest result, MapLeaves(value, [&](const Nest& leaf) { return LocalResultOfLeaf(num_replicas, r, leaf); }));
    results.push_back(std::move(result));
  }
  return results;
}

Nest MirrorOver(int num_devices, const Nest& value) {
  return num_devices == 1 ? value : Nest::Mirrored(std::vector<Nest>(num_devices, value));
}

}  // namespace cohort
