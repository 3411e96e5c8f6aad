#ifndef COHORT_RUNTIME_DATASET_ARRAY_SOURCE_H_
#define COHORT_RUNTIME_DATASET_ARRAY_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/base/file_system.h"
#include "runtime/dataset/example_source.h"

namespace cohort {

// Example i = row i of each tensor. InvalidArgument: none, a scalar, or first dimensions that differ.
absl::StatusOr<std::unique_ptr<ExampleSource>> MakeArraySource(std::vector<Tensor> arrays);

// start, start + step, ... before stop, as int64 scalars. InvalidArgument: step 0, or more than 2^62 of them.
absl::StatusOr<std::unique_ptr<ExampleSource>> MakeRangeSource(int64_t start, int64_t stop, int64_t step);

// The arrays of .npy files, of members of an .npz file ({}: all, in its order), of IDX files; one component each.
// Errors as of runtime/formats; texts become strings.
absl::StatusOr<std::vector<Tensor>> ReadNpyTensors(const FileSystem& files, const std::vector<std::string>& paths);
absl::StatusOr<std::vector<Tensor>> ReadNpzTensors(const FileSystem& files, const std::string& path,
                                                   const std::vector<std::string>& keys);
absl::StatusOr<std::vector<Tensor>> ReadIdxTensors(const std::vector<std::string>& paths);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DATASET_ARRAY_SOURCE_H_
