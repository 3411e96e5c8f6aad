#include "runtime/rpc/status.h"

#include <grpcpp/support/status.h>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace cohort {
namespace {

// Begins the details of every status that one of our handlers made; gRPC's own have none. The FirstCause payload, if
// there is one, follows.
constexpr absl::string_view kOurs = "cohort1\n";
constexpr size_t kMaxMessageBytes = 64 << 10;
constexpr size_t kMaxPayloadBytes = 64 << 10;

// gRPC's message, with what users know it by before it where that is missing.
std::string Explain(const std::string& message) {
  return absl::StrCat(absl::StrContains(message, "DNS resolution failed") ? "name not resolved: " : "", message);
}

std::string CalleeText(const Callee& callee) {
  if (callee.task.job.empty()) return callee.address;
  return absl::StrCat(callee.task.ToString(), " at ", callee.address);
}

}  // namespace

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  std::string message(status.message().substr(0, kMaxMessageBytes));
  if (message.size() < status.message().size()) {
    absl::StrAppend(&message, "... (", status.message().size() - message.size(), " bytes cut)");
  }
  std::string details(kOurs);
  const auto payload = status.GetPayload(kFirstCauseUrl);
  if (payload.has_value() && payload->size() <= kMaxPayloadBytes) absl::StrAppend(&details, std::string(*payload));
  return {static_cast<grpc::StatusCode>(status.raw_code()), message, details};
}

absl::Status FromGrpcStatus(const grpc::Status& status, const Callee& callee, absl::string_view call) {
  if (status.ok()) return absl::OkStatus();
  const auto code = static_cast<absl::StatusCode>(status.error_code());
  const std::string details = status.error_details();
  if (absl::StartsWith(details, kOurs)) {
    absl::Status result(code, status.error_message());
    if (details.size() > kOurs.size()) {
      result.SetPayload(kFirstCauseUrl, absl::Cord(absl::string_view(details).substr(kOurs.size())));
    }
    return result;
  }
  absl::Status result(code, absl::StrCat(CalleeText(callee), ": ", call, ": ", Explain(status.error_message())));
  FirstCause cause;
  cause.name = std::string(call);
  switch (code) {
    case absl::StatusCode::kDeadlineExceeded:
      if (!callee.task.job.empty()) cause.missing = {callee.task};
      [[fallthrough]];
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kAborted:
      cause.task = callee.task;
      cause.address = callee.address;
      cause.incarnation = callee.incarnation;
      [[fallthrough]];
    case absl::StatusCode::kCancelled:
      SetFirstCause(result, cause);
      break;
    default:
      break;
  }
  return result;
}

}  // namespace cohort
