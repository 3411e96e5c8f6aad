#include "runtime/graph/op.h"

#include "absl/strings/str_cat.h"

namespace cohort {

absl::StatusOr<std::vector<int64_t>> InferenceContext::ConstantInts(int i) const {
  const Node& producer = graph_.node(node_.inputs[i].node);
  if (producer.op != "Const") {
    return absl::InvalidArgumentError(
        absl::StrCat("input ", i, " must be a Const, but comes from '", producer.name, "' (", producer.op, ")"));
  }
  const Tensor value = GetAttributeOr<Tensor>(producer.attributes, "value", {});
  if (value.shape().rank() <= 1 && value.dtype() == DType::kI32) {
    const absl::Span<const int32_t> ints = value.values<int32_t>();
    return std::vector<int64_t>(ints.begin(), ints.end());
  }
  if (value.shape().rank() <= 1 && value.dtype() == DType::kI64) {
    const absl::Span<const int64_t> ints = value.values<int64_t>();
    return std::vector<int64_t>(ints.begin(), ints.end());
  }
  return absl::InvalidArgumentError(absl::StrCat("input ", i, " must be a vector of int32 or int64, but '",
                                                 producer.name, "' is ", value.spec().ToString()));
}

absl::StatusOr<TensorSpec> InferenceContext::VariableSpec(int i) const {
  const Node& producer = graph_.node(node_.inputs[i].node);
  if (producer.op != "VarHandleOp") {
    return absl::InvalidArgumentError(absl::StrCat("input ", i, " must be the handle of a variable (VarHandleOp), but ",
                                                   "comes from '", producer.name, "' (", producer.op, ")"));
  }
  return TensorSpec{GetAttributeOr<DType>(producer.attributes, "dtype", DType::kInvalid),
                    GetAttributeOr<Shape>(producer.attributes, "shape", {})};
}

}  // namespace cohort
