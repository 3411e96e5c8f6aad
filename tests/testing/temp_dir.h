#ifndef COHORT_TESTS_TESTING_TEMP_DIR_H_
#define COHORT_TESTS_TESTING_TEMP_DIR_H_

#include <string>

#include "absl/strings/string_view.h"

namespace cohort::testing {

// A new folder under TEST_TMPDIR (else /tmp), removed with all that is in it.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  std::string File(absl::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

}  // namespace cohort::testing

#endif  // COHORT_TESTS_TESTING_TEMP_DIR_H_
