#ifndef COHORT_RUNTIME_RPC_CALL_CONTEXT_H_
#define COHORT_RUNTIME_RPC_CALL_CONTEXT_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/base/task_id.h"

namespace grpc {
class ServerContextBase;
}  // namespace grpc

namespace cohort {

// Who calls, whom they mean, and until when: what a handler knows of its call before it looks at the request.
struct CallContext {
  TaskId caller;                    // an empty job: a client
  uint64_t caller_incarnation = 0;  // 0: a client without one
  uint64_t callee_incarnation = 0;  // the life of this task that is meant; 0: any
  int64_t epoch = 0;                // the caller's; 0: the call does not depend on it
  uint64_t session = 0;             // 0: none
  absl::Time deadline = absl::InfiniteFuture();
  std::string peer;  // "ipv4:127.0.0.1:40123", as the connection has it
};

// Says whether a call may be answered. Aborted: stale; names what came and what is. Called on gRPC's threads: must not
// block.
using CallChecker = std::function<absl::Status(const CallContext&)>;

// Aborted unless the call means `incarnation` (or any life of this task); names both.
absl::Status CheckCallee(const CallContext& call, const TaskId& self, uint64_t incarnation);

// Fills `peer` and `deadline`.
void ReadServerContext(const grpc::ServerContextBase& server, CallContext& call);

// The context of a call whose request carries `caller`, a cohort.wire.Caller: the one place that reads it.
template <typename WireCaller>
CallContext ReadCallContext(const WireCaller& caller, const grpc::ServerContextBase& server) {
  CallContext call;
  call.caller = {caller.task().job(), caller.task().index()};
  call.caller_incarnation = caller.incarnation();
  call.callee_incarnation = caller.callee_incarnation();
  call.epoch = caller.epoch();
  call.session = caller.session();
  ReadServerContext(server, call);
  return call;
}

}  // namespace cohort

#endif  // COHORT_RUNTIME_RPC_CALL_CONTEXT_H_
