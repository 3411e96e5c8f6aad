#ifndef COHORT_CLIENT_CLI_MESSAGE_H_
#define COHORT_CLIENT_CLI_MESSAGE_H_

#include <cstdint>

#include "absl/status/status.h"

namespace cohort {

// Print one sentence to standard error and return the exit code for it: of something that went wrong before there was a
// job, and of a job's own end.
int Fail(const absl::Status& status);
int FailJob(int64_t job, const absl::Status& status);

}  // namespace cohort

#endif  // COHORT_CLIENT_CLI_MESSAGE_H_
