#ifndef COHORT_RUNTIME_DATASET_SYNTHETIC_H_
#define COHORT_RUNTIME_DATASET_SYNTHETIC_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "runtime/dataset/example_source.h"

namespace cohort {

// Made-up examples that cost nothing to read and can be learned: images float32 `shape` in [0, 1), the mean of a fixed
// picture of the class and of noise; labels int32 [], 0 to classes - 1. Example i depends on (shape, classes, seed, i)
// alone, not on how many there are, so that Skip makes a test set of the same classes.
//
// InvalidArgument: no classes, a negative number of examples, or a shape that is not fully defined.
absl::StatusOr<std::unique_ptr<ExampleSource>> MakeSynthetic(int64_t examples, const Shape& shape, int64_t classes,
                                                             uint64_t seed);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DATASET_SYNTHETIC_H_
