#ifndef COHORT_RUNTIME_BASE_MALLOC_TUNING_H_
#define COHORT_RUNTIME_BASE_MALLOC_TUNING_H_

namespace cohort {

// Makes glibc keep large freed blocks instead of giving them back to the system: otherwise every message of a megabyte
// is mapped, faulted in and unmapped again (measured: half of gRPC's tensor rate). Call it first in a daemon's main,
// before any thread. Does nothing under sanitizers.
void TuneMalloc();

}  // namespace cohort

#endif  // COHORT_RUNTIME_BASE_MALLOC_TUNING_H_
