#ifndef COHORT_RUNTIME_REMOTE_LINK_OPTIONS_H_
#define COHORT_RUNTIME_REMOTE_LINK_OPTIONS_H_

#include <cstdint>

#include "absl/time/time.h"
#include "runtime/base/task_id.h"

namespace cohort {

// How a process calls other tasks.
struct LinkOptions {
  TaskId self;               // an empty job: a client
  uint64_t incarnation = 0;  // of this process
  // How long a call that may be repeated is, while its callee cannot be reached; never beyond the call's deadline.
  absl::Duration retry_for = absl::Seconds(3);
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_REMOTE_LINK_OPTIONS_H_
