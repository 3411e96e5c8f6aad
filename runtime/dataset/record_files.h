#ifndef COHORT_RUNTIME_DATASET_RECORD_FILES_H_
#define COHORT_RUNTIME_DATASET_RECORD_FILES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/dataset/iterator.h"

namespace cohort {

// An open file of records, read from its start. Errors name file and offset or row.
class RecordFile {
 public:
  virtual ~RecordFile() = default;
  // The next record into `element`; false at the end.
  virtual absl::StatusOr<bool> Next(Element& element) = 0;
  // Moves over up to `count` records, as cheaply as the format allows; returns how many there were.
  virtual absl::StatusOr<int64_t> Skip(int64_t count) = 0;
};

using OpenRecordFile = std::function<absl::StatusOr<std::unique_ptr<RecordFile>>(const std::string& path)>;

// The records of the files, one file after the other, the same in every epoch. What a file's number of records is
// becomes known when it is read or skipped over, and is then used to skip whole files.
std::unique_ptr<DatasetIterator> MakeRecordFiles(std::vector<std::string> paths, std::vector<TensorSpec> element_spec,
                                                 OpenRecordFile open);

// The sources of runtime/graph/dataset_def.h that read such files. `node` has been checked for unknown attributes.
absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeTfRecordSource(const DatasetDef& node,
                                                                    const IteratorContext& context);
absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeTextLinesSource(const DatasetDef& node,
                                                                     const IteratorContext& context);
absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeFixedLengthSource(const DatasetDef& node,
                                                                       const IteratorContext& context);
absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeCsvSource(const DatasetDef& node, const IteratorContext& context);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DATASET_RECORD_FILES_H_
