#include "runtime/distribute/replica_reduce_op.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/error_kind.h"
#include "runtime/base/status_macros.h"
#include "runtime/distribute/elementwise.h"

namespace cohort {
namespace {

absl::StatusOr<int64_t> ParseAxis(const Nest& axis) {
  if (axis.kind() == Nest::Kind::kInt) return axis.int_value();
  if (axis.kind() == Nest::Kind::kTensor && IsInteger(axis.tensor().dtype()) && axis.tensor().num_elements() == 1) {
    return CastTo(axis.tensor(), DType::kI64).values<int64_t>()[0];
  }
  return InvalidTypeError(absl::StrCat("an axis is an integer, not the ", KindName(axis.kind()), " ", axis.ToString()));
}

}  // namespace

absl::StatusOr<ReplicaReduceOp> ParseReplicaReduceOp(const Nest& name) {
  if (name.kind() != Nest::Kind::kString) {
    return InvalidTypeError(absl::StrCat("a way to reduce over replicas is a name, SUM or MEAN, not the ",
                                         KindName(name.kind()), " ", name.ToString()));
  }
  if (absl::EqualsIgnoreCase(name.string(), "sum")) return ReplicaReduceOp::kSum;
  if (absl::EqualsIgnoreCase(name.string(), "mean")) return ReplicaReduceOp::kMean;
  return absl::InvalidArgumentError(
      absl::StrCat("'", name.string(), "' is no way to reduce over replicas: SUM or MEAN"));
}

absl::string_view ReplicaReduceOpName(ReplicaReduceOp op) { return op == ReplicaReduceOp::kSum ? "SUM" : "MEAN"; }

absl::StatusOr<Axes> ParseAxes(const Nest& axis) {
  if (axis.kind() == Nest::Kind::kNone) return Axes();
  std::vector<int64_t> axes;
  const bool many = axis.kind() == Nest::Kind::kList || axis.kind() == Nest::Kind::kTuple;
  for (const Nest& one : many ? axis.children() : absl::MakeConstSpan(&axis, 1)) {
    COHORT_ASSIGN_OR_RETURN(int64_t value, ParseAxis(one));
    axes.push_back(value);
  }
  return Axes(std::move(axes));
}

}  // namespace cohort
