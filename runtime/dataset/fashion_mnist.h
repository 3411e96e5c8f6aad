#ifndef COHORT_RUNTIME_DATASET_FASHION_MNIST_H_
#define COHORT_RUNTIME_DATASET_FASHION_MNIST_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/dataset/example_source.h"

namespace cohort {

// Where Debian's package dataset-fashion-mnist puts the files.
inline constexpr char kFashionMnistDirectory[] = "/usr/share/datasets/fashion-mnist";

// Pictures of clothes in ten classes. `split`: "train" (60000) or "test" (10000); `examples`: only the first so many,
// 0 for all. Examples: images float32 [28,28,1], pixel / 255 in float32; labels int32 [], 0 to 9.
//
// NotFound: a file, naming the package that brings it. InvalidArgument: no such split, or more examples than there are.
// DataLoss: a file is damaged or no picture of that kind.
absl::StatusOr<std::unique_ptr<ExampleSource>> OpenFashionMnist(absl::string_view split, int64_t examples,
                                                                const std::string& directory = kFashionMnistDirectory);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DATASET_FASHION_MNIST_H_
