#include "runtime/rpc/call_context.h"

#include <grpcpp/server_context.h>

#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/first_cause.h"

namespace cohort {

absl::Status CheckCallee(const CallContext& call, const TaskId& self, uint64_t incarnation) {
  if (call.callee_incarnation == 0 || call.callee_incarnation == incarnation) return absl::OkStatus();
  absl::Status status = absl::AbortedError(
      absl::StrFormat("%s was restarted: the call is for incarnation %016x, this is %016x; read the roster again",
                      self.ToString(), call.callee_incarnation, incarnation));
  FirstCause cause;
  cause.task = self;
  cause.incarnation = call.callee_incarnation;
  SetFirstCause(status, cause);
  return status;
}

void ReadServerContext(const grpc::ServerContextBase& server, CallContext& call) {
  const auto deadline = server.deadline();
  call.deadline =
      deadline == std::chrono::system_clock::time_point::max() ? absl::InfiniteFuture() : absl::FromChrono(deadline);
  call.peer = server.peer();
}

}  // namespace cohort
