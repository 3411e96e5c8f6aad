#ifndef COHORT_RUNTIME_DATASET_FILE_PATTERN_H_
#define COHORT_RUNTIME_DATASET_FILE_PATTERN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/base/file_system.h"

namespace cohort {

// The files that the patterns mean: pattern by pattern in the order given, what a pattern matches ascending by bytes,
// so that all workers agree. '*', '?' and "[a-z]" match within one component of the path, as in a shell; a pattern
// without them is a file's name and not looked up here.
// NotFound: a pattern that matches nothing, naming it.
absl::StatusOr<std::vector<std::string>> ExpandFilePatterns(const FileSystem& files,
                                                            const std::vector<std::string>& patterns);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DATASET_FILE_PATTERN_H_
