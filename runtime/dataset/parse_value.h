#ifndef COHORT_RUNTIME_DATASET_PARSE_VALUE_H_
#define COHORT_RUNTIME_DATASET_PARSE_VALUE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/tensor/tensor.h"

namespace cohort {

// Writes the number or text into element `index` of `tensor`: float32, float64, int32, int64 or string. False: no such
// number, or too large.
bool ParseValue(absl::string_view text, Tensor& tensor, int64_t index);

// "float32 [28,28]", "int64 [?]", "string []" or "string", as TensorSpec prints it. InvalidArgument: anything else.
absl::StatusOr<TensorSpec> ParseTensorSpec(absl::string_view text);

// What stands for a missing value, as definitions write it: "=VALUE"; "": nothing, it must not be missing.
// InvalidArgument: anything else.
absl::StatusOr<std::optional<std::string>> DefaultOf(absl::string_view text);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DATASET_PARSE_VALUE_H_
