#include "runtime/dataset/parse_value.h"

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "runtime/base/status_macros.h"

namespace cohort {

bool ParseValue(absl::string_view text, Tensor& tensor, int64_t index) {
  switch (tensor.dtype()) {
    case DType::kF32:
      return absl::SimpleAtof(text, &tensor.mutable_values<float>()[index]);
    case DType::kF64:
      return absl::SimpleAtod(text, &tensor.mutable_values<double>()[index]);
    case DType::kI32:
      return absl::SimpleAtoi(text, &tensor.mutable_values<int32_t>()[index]);
    case DType::kI64:
      return absl::SimpleAtoi(text, &tensor.mutable_values<int64_t>()[index]);
    case DType::kString:
      tensor.mutable_strings()[index] = std::string(text);
      return true;
    default:
      return false;
  }
}

absl::StatusOr<TensorSpec> ParseTensorSpec(absl::string_view text) {
  const absl::Status bad = absl::InvalidArgumentError(
      absl::StrCat("'", text, "' is no type like \"float32 [28,28]\", \"int64 []\" or \"string [?]\""));
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits('[', 1));
  TensorSpec spec;
  const absl::StatusOr<DType> dtype = ParseDType(absl::StripAsciiWhitespace(parts.first));
  if (!dtype.ok()) return bad;
  spec.dtype = *dtype;
  if (text.find('[') == absl::string_view::npos) return spec;
  absl::string_view dims = absl::StripAsciiWhitespace(parts.second);
  if (!absl::ConsumeSuffix(&dims, "]")) return bad;
  for (const absl::string_view dim : absl::StrSplit(dims, ',', absl::SkipWhitespace())) {
    int64_t size = Shape::kUnknown;
    if (absl::StripAsciiWhitespace(dim) != "?" && (!absl::SimpleAtoi(dim, &size) || size < 0)) return bad;
    if (spec.shape.rank() == Shape::kMaxRank) return bad;
    spec.shape.push_back(size);
  }
  return spec;
}

absl::StatusOr<std::optional<std::string>> DefaultOf(absl::string_view text) {
  if (text.empty()) return std::optional<std::string>();
  if (absl::ConsumePrefix(&text, "=")) return std::optional<std::string>(std::string(text));
  return absl::InvalidArgumentError(absl::StrCat("the default '", text, "' must be written \"=", text, "\""));
}

}  // namespace cohort
