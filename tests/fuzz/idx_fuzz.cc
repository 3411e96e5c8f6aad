// Any bytes are an IDX array or an error.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "runtime/base/check.h"
#include "runtime/formats/idx.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int fd = memfd_create("idx", MFD_CLOEXEC);
  COHORT_CHECK(fd >= 0 && write(fd, data, size) == static_cast<ssize_t>(size), "a file in memory");
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  (void)cohort::ReadIdx(path);
  (void)cohort::ReadIdx(path, 2);
  close(fd);
  return 0;
}
