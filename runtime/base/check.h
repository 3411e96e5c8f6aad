#ifndef COHORT_RUNTIME_BASE_CHECK_H_
#define COHORT_RUNTIME_BASE_CHECK_H_

#include <cstdio>
#include <cstdlib>

// Ends the process with file, line and `what` (a C string) if `condition` is false. For bugs of ours only: input,
// peers, files and devices give a Status.
#define COHORT_CHECK(condition, what) \
  (static_cast<bool>(condition)       \
       ? static_cast<void>(0)         \
       : (std::fprintf(stderr, "%s:%d: check '%s' failed: %s\n", __FILE__, __LINE__, #condition, what), std::abort()))

#endif  // COHORT_RUNTIME_BASE_CHECK_H_
