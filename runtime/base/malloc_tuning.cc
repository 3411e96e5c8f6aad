#include "runtime/base/malloc_tuning.h"

#include <malloc.h>

namespace cohort {

void TuneMalloc() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 2'000'000'000);
  mallopt(M_TOP_PAD, 64 << 20);
#endif
}

}  // namespace cohort
