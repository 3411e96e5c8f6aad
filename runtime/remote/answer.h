#ifndef COHORT_RUNTIME_REMOTE_ANSWER_H_
#define COHORT_RUNTIME_REMOTE_ANSWER_H_

#include <grpcpp/support/server_callback.h>

#include <functional>
#include <utility>

#include "absl/status/statusor.h"
#include "runtime/rpc/status.h"

namespace cohort {

// For handlers of unary calls whose target answers later: a `done` that fills the response by fill(value) and finishes
// the call, or finishes it with the error.
template <typename T, typename Fill>
std::function<void(absl::StatusOr<T>)> AnswerWith(grpc::ServerUnaryReactor* reactor, Fill fill) {
  return [reactor, fill = std::move(fill)](absl::StatusOr<T> value) {
    if (value.ok()) fill(*std::move(value));
    reactor->Finish(ToGrpcStatus(value.status()));
  };
}

// For answers that say no more than that it is done.
inline std::function<void(absl::StatusOr<bool>)> Acknowledge(grpc::ServerUnaryReactor* reactor) {
  return AnswerWith<bool>(reactor, [](bool) {});
}

}  // namespace cohort

#endif  // COHORT_RUNTIME_REMOTE_ANSWER_H_
