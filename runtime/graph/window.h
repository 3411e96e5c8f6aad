#ifndef COHORT_RUNTIME_GRAPH_WINDOW_H_
#define COHORT_RUNTIME_GRAPH_WINDOW_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cohort {

// How a window of `size` elements slides over one spatial dimension (convolution, pooling).
struct Window {
  int64_t output = 0;  // positions
  int64_t pad_before = 0;
  int64_t pad_after = 0;
};

// TensorFlow's rule. SAME: ceil(input / stride) positions, the padding split evenly, an odd element behind. VALID:
// positions wholly inside, none if the window is larger than the input. An unknown input (-1) gives an unknown output.
// InvalidArgument: size or stride below 1, another padding.
absl::StatusOr<Window> WindowOver(int64_t input, int64_t size, int64_t stride, absl::string_view padding);

}  // namespace cohort

#endif  // COHORT_RUNTIME_GRAPH_WINDOW_H_
