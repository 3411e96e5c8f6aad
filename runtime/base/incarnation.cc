#include "runtime/base/incarnation.h"

#include <sys/random.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace cohort {

uint64_t NewIncarnation() {
  uint64_t incarnation = 0;
  while (incarnation == 0) {
    // Up to 256 bytes come whole; only a signal before the pool is ready interrupts.
    if (getrandom(&incarnation, sizeof(incarnation), 0) == sizeof(incarnation)) continue;
    incarnation = 0;
    if (errno == EINTR) continue;
    std::perror("getrandom");
    std::abort();  // without a number of its own a task could be taken for its earlier life
  }
  return incarnation;
}

}  // namespace cohort
