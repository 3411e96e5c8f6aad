#include "tests/testing/temp_dir.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace cohort::testing {

TempDir::TempDir() {
  const char* const parent = std::getenv("TEST_TMPDIR");
  path_ = std::string(parent == nullptr ? "/tmp" : parent) + "/cohort-XXXXXX";
  if (mkdtemp(path_.data()) == nullptr) {
    std::perror(path_.c_str());
    std::abort();
  }
}

TempDir::~TempDir() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

}  // namespace cohort::testing
