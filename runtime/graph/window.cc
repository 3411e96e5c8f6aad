#include "runtime/graph/window.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace cohort {

absl::StatusOr<Window> WindowOver(int64_t input, int64_t size, int64_t stride, absl::string_view padding) {
  constexpr int64_t kMost = int64_t{1} << 31;
  if (size < 1 || stride < 1 || size > kMost || stride > kMost) {
    return absl::InvalidArgumentError(
        absl::StrCat("a window of size ", size, " with stride ", stride, "; both must be in [1, 2^31]"));
  }
  if (padding != "SAME" && padding != "VALID") {
    return absl::InvalidArgumentError(absl::StrCat("padding '", padding, "'; it must be SAME or VALID"));
  }
  if (input < 0) return Window{-1, 0, 0};
  if (padding == "VALID") return Window{std::max<int64_t>(input - size + stride, 0) / stride, 0, 0};
  const int64_t output = (input + stride - 1) / stride;
  const int64_t pad = std::max<int64_t>((output - 1) * stride + size - input, 0);
  return Window{output, pad / 2, pad - pad / 2};
}

}  // namespace cohort
