#ifndef COHORT_TESTS_TESTING_BYTES_FILE_H_
#define COHORT_TESTS_TESTING_BYTES_FILE_H_

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "runtime/base/file_system.h"

namespace cohort::testing {

// A file that is only its bytes.
class BytesFile final : public ReadableFile {
 public:
  explicit BytesFile(std::string bytes) : bytes_(std::move(bytes)) {}

  absl::StatusOr<size_t> ReadAt(int64_t offset, char* out, size_t size) const override {
    if (offset >= static_cast<int64_t>(bytes_.size())) return 0;
    const size_t got = std::min(size, bytes_.size() - static_cast<size_t>(offset));
    std::memcpy(out, bytes_.data() + offset, got);
    return got;
  }
  absl::StatusOr<int64_t> Size() const override { return static_cast<int64_t>(bytes_.size()); }

 private:
  const std::string bytes_;
};

}  // namespace cohort::testing

#endif  // COHORT_TESTS_TESTING_BYTES_FILE_H_
