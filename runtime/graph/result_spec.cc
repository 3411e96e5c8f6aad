#include "runtime/graph/result_spec.h"

#include "absl/strings/str_cat.h"

namespace cohort {

absl::Status CheckResultSpec(absl::string_view name, ResultRole role, const TensorSpec& spec) {
  bool fits = spec.dtype != DType::kResource;
  if (role != ResultRole::kFetch) fits = fits && spec.shape.rank() == 0;
  if (role == ResultRole::kExamples) fits = fits && spec.dtype == DType::kI64;
  if (role == ResultRole::kLossSum) fits = fits && IsFloating(spec.dtype);
  if (role == ResultRole::kMetricSum) fits = fits && (spec.dtype == DType::kI64 || IsFloating(spec.dtype));
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("result '", name, "' is ", spec.ToString(),
                   "; counts of examples must be int64 scalars, losses floating scalars, metrics floating or int64 "
                   "scalars, and handles are no results"));
}

}  // namespace cohort
