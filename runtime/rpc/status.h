#ifndef COHORT_RUNTIME_RPC_STATUS_H_
#define COHORT_RUNTIME_RPC_STATUS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/base/first_cause.h"

namespace grpc {
class Status;
}  // namespace grpc

namespace cohort {

// The same code, message and FirstCause for the wire. A message longer than 64 KiB is cut (and says so).
grpc::Status ToGrpcStatus(const absl::Status& status);

// Who was asked, for the statuses that gRPC itself makes.
struct Callee {
  TaskId task;               // an empty job if it is not known yet, only its address
  std::string address;       // host:port
  uint64_t incarnation = 0;  // 0: unknown
};

// The status of a call that ended with `status`. What the callee answered comes back as it was. What gRPC made of a
// broken connection, a refused one or an expired deadline keeps its code, names callee and call ("Run"), and gets a
// FirstCause that blames the callee (Cancelled: nobody).
absl::Status FromGrpcStatus(const grpc::Status& status, const Callee& callee, absl::string_view call);

}  // namespace cohort

#endif  // COHORT_RUNTIME_RPC_STATUS_H_
