#include "runtime/base/error_kind.h"

#include "absl/strings/cord.h"

namespace cohort {
namespace {

constexpr absl::string_view kInvalidTypeText = "InvalidType";
constexpr absl::string_view kWrongContextText = "WrongContext";

absl::Status WithKind(absl::Status status, absl::string_view kind) {
  status.SetPayload(kErrorKindUrl, absl::Cord(kind));
  return status;
}

}  // namespace

absl::Status InvalidTypeError(absl::string_view message) {
  return WithKind(absl::InvalidArgumentError(message), kInvalidTypeText);
}

absl::Status WrongContextError(absl::string_view message) {
  return WithKind(absl::FailedPreconditionError(message), kWrongContextText);
}

ErrorKind ErrorKindOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kErrorKindUrl);
  if (!payload.has_value()) return ErrorKind::kPlain;
  if (*payload == kInvalidTypeText) return ErrorKind::kInvalidType;
  return *payload == kWrongContextText ? ErrorKind::kWrongContext : ErrorKind::kPlain;
}

}  // namespace cohort
