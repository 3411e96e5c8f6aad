#ifndef COHORT_RUNTIME_GRAPH_OPS_SHAPE_RULES_H_
#define COHORT_RUNTIME_GRAPH_OPS_SHAPE_RULES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "runtime/graph/op.h"

// Shape rules that several families share.
namespace cohort::ops {

using Specs = std::vector<TensorSpec>;

// One output like input 0.
absl::StatusOr<Specs> LikeFirstInput(const InferenceContext& c);
// No output.
absl::StatusOr<Specs> NoOutput(const InferenceContext& c);
// One output like input 0; input 1 must be compatible with it (ReluGrad, ...).
absl::StatusOr<Specs> LikeBothInputs(const InferenceContext& c);
// numpy's broadcasting of inputs 0 and 1, dtype of input 0. An unknown dimension counts as equal to the other side's,
// unless that is 1.
absl::StatusOr<Specs> Broadcast(const InferenceContext& c);

// The shape that both can be, with what either knows. The shapes must be compatible.
Shape Merge(const Shape& a, const Shape& b);
absl::StatusOr<Shape> BroadcastShapes(const Shape& a, const Shape& b);

// "float32 [2,3] and float32 [4,5]": for messages.
std::string Both(const TensorSpec& a, const TensorSpec& b);
// InvalidArgument naming the input unless its rank is `rank`.
absl::Status CheckRank(const InferenceContext& c, int input, int rank);
// InvalidArgument unless the attribute data_format is missing or "NHWC", the channels last.
absl::Status CheckDataFormat(const Attributes& attributes);
// `shape`'s dimension `axis`, which may count from the end (-1). InvalidArgument if there is none.
absl::StatusOr<int> CheckAxis(int64_t axis, const Shape& shape);

}  // namespace cohort::ops

#endif  // COHORT_RUNTIME_GRAPH_OPS_SHAPE_RULES_H_
