#ifndef COHORT_RUNTIME_BASE_ERROR_KIND_H_
#define COHORT_RUNTIME_BASE_ERROR_KIND_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cohort {

// Finer than a status code: which of tf.distribute's errors an InvalidArgument or a FailedPrecondition stands for. A
// payload carries it, so context added on the way keeps it; code that only looks at the code stays right. It does not
// cross to another task.
enum class ErrorKind {
  kPlain,         // the code says it all
  kInvalidType,   // InvalidArgument: the wrong kind of object (TypeError), where another value would not help
  kWrongContext,  // FailedPrecondition: the wrong context or nesting, a missing environment (RuntimeError)
};

absl::Status InvalidTypeError(absl::string_view message);
absl::Status WrongContextError(absl::string_view message);

ErrorKind ErrorKindOf(const absl::Status& status);

// The payload's type.
inline constexpr char kErrorKindUrl[] = "cohort/error_kind";

}  // namespace cohort

#endif  // COHORT_RUNTIME_BASE_ERROR_KIND_H_
