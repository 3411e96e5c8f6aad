#include "client/cli/message.h"

#include "absl/strings/str_format.h"
#include "runtime/base/exit_code.h"

namespace cohort {

int Fail(const absl::Status& status) {
  absl::FPrintF(stderr, "cohort: %s\n", status.message());
  return ExitCodeOf(status);
}

int FailJob(int64_t job, const absl::Status& status) {
  absl::FPrintF(stderr, "cohort: job %d: %s\n", job, status.message());
  return JobExitCodeOf(status);
}

}  // namespace cohort
