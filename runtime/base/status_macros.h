#ifndef COHORT_RUNTIME_BASE_STATUS_MACROS_H_
#define COHORT_RUNTIME_BASE_STATUS_MACROS_H_

#include <sstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cohort {

// `status` with "context: " before its message; code and payloads stay. An empty context or an ok status changes
// nothing.
absl::Status Annotate(absl::Status status, absl::string_view context);

// An error on its way up, to which the returning function streams what it knows. Converts to Status and StatusOr<T>.
class StatusBuilder {
 public:
  explicit StatusBuilder(absl::Status status) : status_(std::move(status)) {}

  template <typename T>
  StatusBuilder& operator<<(const T& value) {
    context_ << value;
    return *this;
  }

  operator absl::Status() const { return Annotate(status_, context_.str()); }  // NOLINT: made to convert
  template <typename T>
  operator absl::StatusOr<T>() const {  // NOLINT: made to convert
    return Annotate(status_, context_.str());
  }

 private:
  absl::Status status_;
  std::ostringstream context_;
};

}  // namespace cohort

// Returns from the enclosing function if `expr` is an error. What is streamed goes before the message:
//   COHORT_RETURN_IF_ERROR(file->Sync()) << "saving '" << path << "'";
// A loop that runs at most once, not an if, whose else an if around it could lose.
#define COHORT_RETURN_IF_ERROR(expr)                                \
  for (absl::Status cohort_status_ = (expr); !cohort_status_.ok();) \
  return ::cohort::StatusBuilder(std::move(cohort_status_))

// Declares or assigns `lhs` from a StatusOr, or returns its error. A third argument adds context to `_`, the error:
//   COHORT_ASSIGN_OR_RETURN(Shape shape, Parse(text), _ << "in '" << path << "'");
#define COHORT_ASSIGN_OR_RETURN(...)                                                    \
  COHORT_INTERNAL_PICK(__VA_ARGS__, COHORT_INTERNAL_ASSIGN_3, COHORT_INTERNAL_ASSIGN_2) \
  (COHORT_INTERNAL_CONCAT(cohort_statusor_, __LINE__), __VA_ARGS__)
#define COHORT_INTERNAL_PICK(a, b, c, NAME, ...) NAME
#define COHORT_INTERNAL_CONCAT(a, b) COHORT_INTERNAL_CONCAT_(a, b)
#define COHORT_INTERNAL_CONCAT_(a, b) a##b
#define COHORT_INTERNAL_ASSIGN_2(temp, lhs, expr)               \
  auto temp = (expr);                                           \
  if (!temp.ok()) return ::cohort::Annotate(temp.status(), ""); \
  lhs = *std::move(temp)
#define COHORT_INTERNAL_ASSIGN_3(temp, lhs, expr, context) \
  auto temp = (expr);                                      \
  if (!temp.ok()) {                                        \
    ::cohort::StatusBuilder _(temp.status());              \
    return context;                                        \
  }                                                        \
  lhs = *std::move(temp)

#endif  // COHORT_RUNTIME_BASE_STATUS_MACROS_H_
