#include "runtime/distribute/reduce.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"
#include "runtime/base/status_macros.h"
#include "runtime/distribute/elementwise.h"
#include "runtime/distribute/leaf_tensor.h"
#include "runtime/distribute/reduction_part.h"
#include "runtime/distribute/regroup.h"

namespace cohort {
namespace {

// The values of all replicas, which may be tensors, host scalars or sparse values.
absl::StatusOr<Nest> ReduceValues(ReplicaReduceOp op, absl::Span<const Nest> values, const Axes& axes) {
  const auto is_sparse = [](const Nest& value) { return value.kind() == Nest::Kind::kSparse; };
  if (std::all_of(values.begin(), values.end(), is_sparse)) {
    if (axes) return absl::UnimplementedError("a sparse value cannot be reduced over an axis: make it dense first");
    std::vector<IndexedSlices> slices;
    for (const Nest& value : values) slices.push_back(value.sparse());
    COHORT_ASSIGN_OR_RETURN(IndexedSlices reduced, ReduceSlices(op, slices));
    return Nest(std::move(reduced));
  }
  std::vector<Tensor> tensors;
  for (size_t r = 0; r < values.size(); ++r) {
    COHORT_ASSIGN_OR_RETURN(Tensor tensor, LeafTensor(values[r]), _ << "replica " << r);
    tensors.push_back(std::move(tensor));
  }
  COHORT_ASSIGN_OR_RETURN(Tensor reduced, ReduceTensors(op, tensors, axes));
  return Nest(std::move(reduced));
}

bool IsZero(const Nest& value) {
  if (value.kind() == Nest::Kind::kInt) return value.int_value() == 0;
  if (value.kind() == Nest::Kind::kDouble) return value.double_value() == 0;
  return value.kind() == Nest::Kind::kTensor && AllZero(value.tensor());
}

// One value where a PerReplica could be; see the table in the header.
absl::StatusOr<Nest> ReducePlain(const StrategyShape& strategy, ReplicaReduceOp op, const Nest& value,
                                 const Axes& axes) {
  const size_t replicas = strategy.num_replicas();
  if (axes) return ReduceValues(op, std::vector<Nest>(replicas, value), axes);
  if (replicas == 1 || strategy.kind == StrategyKind::kParameterServer) return value;
  if (strategy.num_workers > 1) return ReduceValues(op, std::vector<Nest>(strategy.num_workers, value), axes);
  if (op == ReplicaReduceOp::kMean || IsZero(value)) return value;
  return absl::InvalidArgumentError(absl::StrCat("the non-DistributedValues value ", value.ToString(),
                                                 " cannot be reduced with ReduceOp.SUM: it is one value for all of ",
                                                 replicas,
                                                 " replicas; reduce what run returned for each, or use MEAN"));
}

absl::StatusOr<Nest> ReduceLeaf(const StrategyShape& strategy, ReplicaReduceOp op, const Nest& leaf, const Axes& axes) {
  if (!leaf.is_distributed()) return ReducePlain(strategy, op, leaf, axes);
  const absl::Span<const Nest> values = leaf.children();
  if (static_cast<int>(values.size()) != strategy.num_replicas()) {
    return absl::InvalidArgumentError(absl::StrCat("a ", KindName(leaf.kind()), " of ", values.size(),
                                                   " values in a strategy of ", strategy.num_replicas(), " replicas"));
  }
  if (leaf.kind() == Nest::Kind::kPerReplica || axes) return ReduceValues(op, values, axes);
  if (op == ReplicaReduceOp::kMean || values.size() == 1) return values[0];
  return absl::InvalidArgumentError(
      "a Mirrored value cannot be reduced with ReduceOp.SUM: all replicas have the same value; use MEAN");
}

}  // namespace

absl::StatusOr<Tensor> ReduceTensors(ReplicaReduceOp op, absl::Span<const Tensor> values, const Axes& axes) {
  COHORT_CHECK(!values.empty(), "a reduction needs a value of each replica");
  std::vector<ReductionPart> parts;
  for (size_t r = 0; r < values.size(); ++r) {
    if (values[r].dtype() != values[0].dtype()) {
      return absl::InvalidArgumentError(
          absl::StrCat(ReplicaReduceOpName(op), " over replicas needs one dtype: ", values[0].spec().ToString(),
                       " on replica 0, ", values[r].spec().ToString(), " on replica ", r));
    }
    COHORT_ASSIGN_OR_RETURN(ReductionPart part, PartOf(op, values[r], axes), _ << "replica " << r);
    parts.push_back(std::move(part));
  }
  return FoldParts(op, values[0].dtype(), parts);
}

absl::StatusOr<IndexedSlices> ReduceSlices(ReplicaReduceOp op, absl::Span<const IndexedSlices> values) {
  COHORT_ASSIGN_OR_RETURN(IndexedSlices whole, ConcatSlices(values));
  const DType dtype = whole.values.dtype();
  COHORT_ASSIGN_OR_RETURN(ReductionPart part, PartOf(op, whole.values, Axes()));
  part.count = static_cast<int64_t>(values.size());
  COHORT_ASSIGN_OR_RETURN(whole.values, FoldParts(op, dtype, {part}));
  return whole;
}

absl::StatusOr<Nest> Reduce(const StrategyShape& strategy, ReplicaReduceOp op, const Nest& value, const Axes& axes) {
  return MapLeaves(value, [&](const Nest& leaf) { return ReduceLeaf(strategy, op, leaf, axes); });
}

absl::StatusOr<Nest> AllReduce(ReplicaReduceOp op, absl::Span<const Nest> values) {
  COHORT_ASSIGN_OR_RETURN(const Nest grouped, Regroup(values, Wrap::kAlways));
  return MapLeaves(grouped, [&](const Nest& leaf) -> absl::StatusOr<Nest> {
    if (leaf.is_distributed()) return ReduceValues(op, leaf.children(), Axes());
    return absl::InvalidArgumentError(absl::StrCat("a ", KindName(leaf.kind()), " is no tensor"));
  });
}

}  // namespace cohort
