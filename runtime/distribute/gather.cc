#include "runtime/distribute/gather.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"
#include "runtime/base/status_macros.h"
#include "runtime/distribute/leaf_tensor.h"
#include "runtime/distribute/regroup.h"

namespace cohort {
namespace {

bool EqualBut(const Shape& a, const Shape& b, int axis) {
  if (a.rank() != b.rank()) return false;
  for (int d = 0; d < a.rank(); ++d) {
    if (d != axis && a.dim(d) != b.dim(d)) return false;
  }
  return true;
}

// Elements of dims [begin, end).
int64_t Product(const Shape& shape, int begin, int end) {
  int64_t product = 1;
  for (int d = begin; d < end; ++d) product *= shape.dim(d);
  return product;
}

void Concat(absl::Span<const Tensor> values, int axis, Tensor& whole) {
  const int64_t outer = Product(whole.shape(), 0, axis);
  const int rank = whole.shape().rank();
  const size_t element = DTypeSize(whole.dtype());
  int64_t to = 0;
  for (int64_t i = 0; i < outer; ++i) {
    for (const Tensor& value : values) {
      const int64_t run = Product(value.shape(), axis, rank);  // elements that lie together
      if (whole.dtype() == DType::kString) {
        std::copy_n(value.strings().begin() + i * run, run, whole.mutable_strings().begin() + to);
      } else if (run > 0) {
        std::memcpy(static_cast<char*>(whole.mutable_data()) + to * element,
                    static_cast<const char*>(value.data()) + i * run * element, run * element);
      }
      to += run;
    }
  }
}

absl::StatusOr<Nest> GatherValues(absl::Span<const Nest> values, int64_t axis) {
  std::vector<Tensor> tensors;
  for (size_t r = 0; r < values.size(); ++r) {
    if (values[r].kind() == Nest::Kind::kSparse) return absl::UnimplementedError("a sparse value cannot be gathered");
    COHORT_ASSIGN_OR_RETURN(Tensor tensor, LeafTensor(values[r]), _ << "replica " << r);
    tensors.push_back(std::move(tensor));
  }
  COHORT_ASSIGN_OR_RETURN(Tensor whole, GatherTensors(tensors, axis));
  return Nest(std::move(whole));
}

}  // namespace

absl::StatusOr<Shape> GatheredShape(absl::Span<const Shape> shapes, int64_t axis) {
  COHORT_CHECK(!shapes.empty(), "gathering needs a value of each replica");
  const Shape& first = shapes[0];
  if (first.rank() == 0) {
    return absl::InvalidArgumentError("scalars cannot be gathered: a value needs the dimension to gather along");
  }
  if (axis < -first.rank() || axis >= first.rank()) {
    return absl::InvalidArgumentError(
        absl::StrCat("axis ", axis, " is out of range for rank ", first.rank(), ", shape ", first.ToString()));
  }
  const int along = static_cast<int>(axis < 0 ? axis + first.rank() : axis);
  Shape whole = first;
  for (size_t r = 1; r < shapes.size(); ++r) {
    if (!EqualBut(first, shapes[r], along)) {
      return absl::InvalidArgumentError(absl::StrCat("gathering along axis ", axis,
                                                     " needs shapes that differ there only: ", first.ToString(),
                                                     " on replica 0, ", shapes[r].ToString(), " on replica ", r));
    }
    whole.set_dim(along, whole.dim(along) + shapes[r].dim(along));
  }
  return whole;
}

absl::StatusOr<Tensor> GatherTensors(absl::Span<const Tensor> values, int64_t axis) {
  std::vector<Shape> shapes;
  for (size_t r = 0; r < values.size(); ++r) {
    shapes.push_back(values[r].shape());
    if (values[r].dtype() == values[0].dtype()) continue;
    return absl::InvalidArgumentError(absl::StrCat("gathering needs one dtype: ", values[0].spec().ToString(),
                                                   " on replica 0, ", values[r].spec().ToString(), " on replica ", r));
  }
  COHORT_ASSIGN_OR_RETURN(const Shape shape, GatheredShape(shapes, axis));
  Tensor whole(values[0].dtype(), shape);
  Concat(values, static_cast<int>(axis < 0 ? axis + shape.rank() : axis), whole);
  return whole;
}

absl::StatusOr<Nest> Gather(const StrategyShape& strategy, const Nest& value, int64_t axis) {
  return MapLeaves(value, [&](const Nest& leaf) -> absl::StatusOr<Nest> {
    if (leaf.kind() == Nest::Kind::kSparse) return absl::UnimplementedError("a sparse value cannot be gathered");
    if (leaf.kind() == Nest::Kind::kPerReplica) {
      if (static_cast<int>(leaf.children().size()) == strategy.num_replicas()) {
        return GatherValues(leaf.children(), axis);
      }
      return absl::InvalidArgumentError(absl::StrCat("a PerReplica of ", leaf.children().size(),
                                                     " values in a strategy of ", strategy.num_replicas(),
                                                     " replicas"));
    }
    if (leaf.kind() == Nest::Kind::kMirrored) return GatherValues(leaf.children(), axis);
    const bool contributes = strategy.kind == StrategyKind::kMultiWorkerMirrored && strategy.num_workers > 1;
    return contributes ? GatherValues(std::vector<Nest>(strategy.num_workers, leaf), axis) : leaf;
  });
}

absl::StatusOr<Nest> AllGather(absl::Span<const Nest> values, int64_t axis) {
  COHORT_ASSIGN_OR_RETURN(const Nest grouped, Regroup(values, Wrap::kAlways));
  return MapLeaves(grouped, [&](const Nest& leaf) -> absl::StatusOr<Nest> {
    if (leaf.is_distributed()) return GatherValues(leaf.children(), axis);
    return absl::InvalidArgumentError(absl::StrCat("a ", KindName(leaf.kind()), " is no tensor"));
  });
}

}  // namespace cohort
