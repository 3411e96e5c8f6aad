#include "runtime/remote/run_stream.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/remote/common_coding.h"
#include "runtime/remote/worker_coding.h"

namespace cohort {

void RunStream::Open(wire::WorkerService::Stub& stub) {
  // The events keep this alive until the stream is closed.
  Stream::Events events;
  events.received = [self = shared_from_this()](wire::RunResponse& response) { self->OnReceived(response); };
  events.closed = [self = shared_from_this()](const grpc::Status& status) { self->OnClosed(status); };
  // Held meanwhile, so that the stream's end finds it: gRPC reacts on other threads.
  MutexLock lock(&mu_);
  stream_ = Stream::Open(std::move(events),
                         [&stub](grpc::ClientContext* context, auto* reactor) { stub.async()->Run(context, reactor); });
  if (cancelled_) stream_->Cancel();
}

void RunStream::Run(wire::RunRequest request, std::function<void(StepReport)> report,
                    WorkerLink::Done<RunResult> done) {
  Pending pending{std::make_shared<const std::function<void(StepReport)>>(std::move(report)), std::move(done)};
  {
    MutexLock lock(&mu_);
    if (stream_ != nullptr && !closed_) {
      request.set_run(next_run_);
      // Noted first: the answer may be faster than this thread.
      const auto noted = pending_.emplace(next_run_++, std::move(pending)).first;
      if (stream_->Send(std::move(request))) return;
      pending = std::move(noted->second);
      pending_.erase(noted);
    }
  }
  absl::Status status = calls_.Explain({grpc::StatusCode::UNAVAILABLE, "the stream of the session has ended"}, "Run");
  pending.done(std::move(status));
}

bool RunStream::ended() const {
  MutexLock lock(&mu_);
  return stream_ == nullptr;
}

void RunStream::Close() {
  MutexLock lock(&mu_);
  closed_ = true;
  if (stream_ != nullptr) stream_->HalfClose();
}

void RunStream::Cancel() {
  MutexLock lock(&mu_);
  cancelled_ = true;
  if (stream_ != nullptr) stream_->Cancel();
}

void RunStream::OnReceived(wire::RunResponse& response) {
  absl::Status status;
  switch (response.event_case()) {
    case wire::RunResponse::kReport:
      status = OnReport(response);
      break;
    case wire::RunResponse::kResult: {
      absl::StatusOr<RunResult> result = FromProto(response.result());
      status = result.status();
      if (status.ok()) Answer(response.run(), std::move(result));
      break;
    }
    case wire::RunResponse::kFailure:
      status = FromProto(response.failure());
      if (status.ok()) status = absl::InternalError("a run failed without saying why");
      return Answer(response.run(), std::move(status));
    case wire::RunResponse::EVENT_NOT_SET:
      status = absl::InvalidArgumentError("run: an answer of a kind that is not known here");
  }
  if (status.ok() || !error_.ok()) return;
  error_ = status;
  Cancel();
}

absl::Status RunStream::OnReport(const wire::RunResponse& response) {
  COHORT_ASSIGN_OR_RETURN(StepReport report, FromProto(response.report()));
  std::shared_ptr<const std::function<void(StepReport)>> target;
  {
    MutexLock lock(&mu_);
    const auto it = pending_.find(response.run());
    if (it != pending_.end()) target = it->second.report;
  }
  if (target != nullptr && *target) (*target)(std::move(report));
  return absl::OkStatus();
}

void RunStream::Answer(int64_t run, absl::StatusOr<RunResult> result) {
  WorkerLink::Done<RunResult> done;
  {
    MutexLock lock(&mu_);
    const auto it = pending_.find(run);
    if (it == pending_.end()) return;
    done = std::move(it->second.done);
    pending_.erase(it);
  }
  done(std::move(result));
}

void RunStream::OnClosed(const grpc::Status& status) {
  const std::shared_ptr<RunStream> self = shared_from_this();  // the events may be all that keeps it
  absl::Status explained = error_.ok() ? calls_.Explain(status, "Run") : error_;
  if (explained.ok()) {
    explained = absl::InternalError(absl::StrCat(calls_.callee().task.ToString(), " ended a run without its result"));
  }
  std::map<int64_t, Pending> unanswered;
  {
    MutexLock lock(&mu_);
    stream_ = nullptr;
    unanswered.swap(pending_);
  }
  for (auto& [run, pending] : unanswered) pending.done(explained);
  unanswered.clear();
  calls_.Remove(self);
}

}  // namespace cohort
