#include "runtime/remote/calls.h"

#include "runtime/base/first_cause.h"
#include "runtime/remote/common_coding.h"

namespace cohort {

Calls::Calls(TaskAddress callee, LinkOptions options, std::shared_ptr<grpc::Channel> channel)
    : callee_(std::move(callee)), options_(std::move(options)), channel_(std::move(channel)) {}

Calls::~Calls() {
  std::set<std::shared_ptr<PendingCall>> pending;
  {
    MutexLock lock(&mu_);
    cancelled_ = true;
    pending = pending_;
  }
  for (const std::shared_ptr<PendingCall>& call : pending) call->Cancel();
  MutexLock lock(&mu_);
  const auto idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return pending_.empty(); };
  mu_.AwaitWithDeadline(idle, absl::InfiniteFuture());  // gRPC answers a cancelled call at once
}

wire::Caller Calls::MakeCaller(uint64_t session, int64_t epoch) const {
  wire::Caller caller;
  if (!options_.self.job.empty()) *caller.mutable_task() = ToProto(options_.self);
  caller.set_incarnation(options_.incarnation);
  caller.set_callee_incarnation(callee_.incarnation);
  caller.set_epoch(epoch);
  caller.set_session(session);
  return caller;
}

void Calls::Add(std::shared_ptr<PendingCall> call) {
  MutexLock lock(&mu_);
  if (cancelled_) call->Cancel();
  pending_.insert(std::move(call));
}

void Calls::Remove(const std::shared_ptr<PendingCall>& call) {
  MutexLock lock(&mu_);
  pending_.erase(call);
}

absl::Status Calls::Explain(const grpc::Status& status, absl::string_view name) const {
  if (status.ok()) return absl::OkStatus();
  Callee callee;
  callee.task = callee_.task;
  callee.address = callee_.address;
  callee.incarnation = callee_.incarnation;
  const bool late = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED && status.error_details().empty();
  if (late && channel_->GetState(false) != GRPC_CHANNEL_READY) {
    return FromGrpcStatus({grpc::StatusCode::UNAVAILABLE, "no connection within the deadline"}, callee, name);
  }
  return FromGrpcStatus(status, callee, name);
}

bool Calls::MayRepeat(const absl::Status& status, absl::Time start, absl::Time now, absl::Time deadline) const {
  if (!absl::IsUnavailable(status) || now >= deadline || now > start + options_.retry_for) return false;
  const auto cause = GetFirstCause(status);
  return cause.has_value() && cause->task == callee_.task && cause->address == callee_.address;
}

}  // namespace cohort
