#ifndef COHORT_RUNTIME_BASE_INCARNATION_H_
#define COHORT_RUNTIME_BASE_INCARNATION_H_

#include <cstdint>

namespace cohort {

// A random number, never 0, from the kernel: one life of a task (0 stands for "unknown" on the wire). Made once at
// process start. Safe from any thread.
uint64_t NewIncarnation();

}  // namespace cohort

#endif  // COHORT_RUNTIME_BASE_INCARNATION_H_
