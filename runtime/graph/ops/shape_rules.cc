#include "runtime/graph/ops/shape_rules.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace cohort::ops {

absl::StatusOr<Specs> LikeFirstInput(const InferenceContext& c) { return Specs{c.input(0)}; }
absl::StatusOr<Specs> NoOutput(const InferenceContext&) { return Specs{}; }

absl::StatusOr<Specs> LikeBothInputs(const InferenceContext& c) {
  const TensorSpec &a = c.input(0), &b = c.input(1);
  if (!a.shape.IsCompatibleWith(b.shape)) {
    return absl::InvalidArgumentError(absl::StrCat("the shapes of ", Both(a, b), " differ"));
  }
  return Specs{{a.dtype, Merge(a.shape, b.shape)}};
}

absl::StatusOr<Specs> Broadcast(const InferenceContext& c) {
  COHORT_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(c.input(0).shape, c.input(1).shape),
                          _ << Both(c.input(0), c.input(1)));
  return Specs{{c.input(0).dtype, shape}};
}

Shape Merge(const Shape& a, const Shape& b) {
  Shape merged = a;
  for (int i = 0; i < a.rank(); ++i) merged.set_dim(i, std::max(a.dim(i), b.dim(i)));
  return merged;
}

absl::StatusOr<Shape> BroadcastShapes(const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  Shape result;
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank()), ib = i - (rank - b.rank());
    const int64_t da = ia < 0 ? 1 : a.dim(ia), db = ib < 0 ? 1 : b.dim(ib);
    if (da == 1 || db == 1) {
      result.push_back(da == 1 ? db : da);
    } else if (da == db || da == Shape::kUnknown || db == Shape::kUnknown) {
      result.push_back(std::max(da, db));
    } else {
      return absl::InvalidArgumentError(absl::StrCat("dimensions ", da, " and ", db, " do not broadcast"));
    }
  }
  return result;
}

std::string Both(const TensorSpec& a, const TensorSpec& b) { return absl::StrCat(a.ToString(), " and ", b.ToString()); }

absl::Status CheckRank(const InferenceContext& c, int input, int rank) {
  if (c.input(input).shape.rank() == rank) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("input ", input, " must be of rank ", rank, ", but is ", c.input(input).ToString()));
}

absl::Status CheckDataFormat(const Attributes& attributes) {
  if (GetAttributeOr<std::string>(attributes, "data_format", "NHWC") == "NHWC") return absl::OkStatus();
  return absl::InvalidArgumentError("data_format must be NHWC");
}

absl::StatusOr<int> CheckAxis(int64_t axis, const Shape& shape) {
  const int rank = shape.rank();
  if (axis < -rank || axis >= rank) {
    return absl::InvalidArgumentError(absl::StrCat("there is no axis ", axis, " in ", shape.ToString()));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace cohort::ops
