#include "worker/worker_service.h"

#include <deque>
#include <utility>

#include "proto/worker.grpc.pb.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status_macros.h"
#include "runtime/remote/answer.h"
#include "runtime/remote/common_coding.h"
#include "runtime/remote/worker_coding.h"
#include "runtime/rpc/status.h"

namespace cohort {
namespace {

// What a run has to say, on its way to a stream that may end before it.
class RunOutbox {
 public:
  explicit RunOutbox(grpc::ServerWriteReactor<wire::RunResponse>* stream) : stream_(stream) {}

  void Send(wire::RunResponse response) {
    MutexLock lock(&mu_);
    if (stream_ == nullptr) return;
    queue_.push_back(std::move(response));
    if (queue_.size() == 1) stream_->StartWrite(&queue_.front());
  }

  // After everything that was sent.
  void Finish(const absl::Status& status) {
    MutexLock lock(&mu_);
    if (stream_ == nullptr || finish_) return;
    finish_ = true;
    status_ = status;
    if (queue_.empty()) FinishNow(ToGrpcStatus(status_));
  }

  void OnWriteDone(bool ok) {
    MutexLock lock(&mu_);
    queue_.pop_front();
    if (stream_ == nullptr) return;
    if (!ok) return FinishNow({grpc::StatusCode::CANCELLED, "the stream broke"});
    if (!queue_.empty()) {
      stream_->StartWrite(&queue_.front());
    } else if (finish_) {
      FinishNow(ToGrpcStatus(status_));
    }
  }

  void OnCancel() {
    MutexLock lock(&mu_);
    if (stream_ != nullptr) FinishNow(grpc::Status::CANCELLED);
  }

 private:
  void FinishNow(const grpc::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    std::exchange(stream_, nullptr)->Finish(status);
  }

  Mutex mu_;
  grpc::ServerWriteReactor<wire::RunResponse>* stream_ ABSL_GUARDED_BY(mu_);  // null once finished
  std::deque<wire::RunResponse> queue_ ABSL_GUARDED_BY(mu_);                  // the first one is being written
  bool finish_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
};

class RunStream final : public grpc::ServerWriteReactor<wire::RunResponse> {
 public:
  const std::shared_ptr<RunOutbox>& outbox() const { return outbox_; }

  void OnWriteDone(bool ok) override { outbox_->OnWriteDone(ok); }
  void OnCancel() override { outbox_->OnCancel(); }
  void OnDone() override { delete this; }

 private:
  const std::shared_ptr<RunOutbox> outbox_ = std::make_shared<RunOutbox>(this);
};

class WorkerService final : public wire::WorkerService::CallbackService {
 public:
  WorkerService(WorkerLink& worker, CallChecker check) : worker_(worker), check_(std::move(check)) {}

  grpc::ServerUnaryReactor* OpenSession(grpc::CallbackServerContext* context, const wire::OpenSessionRequest* request,
                                        wire::OpenSessionResponse* response) override {
    return Handle(context, request, [&](const CallContext& call, grpc::ServerUnaryReactor* reactor) -> absl::Status {
      COHORT_ASSIGN_OR_RETURN(const SessionSpec spec, FromProto(*request));
      worker_.OpenSession(spec, call.deadline, AnswerWith<OpenedSession>(reactor, [response](const OpenedSession& s) {
                            *response = ToProto(s);
                          }));
      return absl::OkStatus();
    });
  }

  grpc::ServerUnaryReactor* InitializeVariables(grpc::CallbackServerContext* context,
                                                const wire::InitializeVariablesRequest* request,
                                                wire::InitializeVariablesResponse*) override {
    return Handle(context, request, [&](const CallContext& call, grpc::ServerUnaryReactor* reactor) {
      worker_.InitializeVariables(call.session, call.deadline, Acknowledge(reactor));
      return absl::OkStatus();
    });
  }

  grpc::ServerWriteReactor<wire::RunResponse>* Run(grpc::CallbackServerContext* context,
                                                   const wire::RunRequest* request) override {
    auto* stream = new RunStream();
    const std::shared_ptr<RunOutbox> outbox = stream->outbox();  // `stream` is gone once it was finished
    const CallContext call = ReadCallContext(request->caller(), *context);
    if (const absl::Status status = StartRun(call, *request, outbox); !status.ok()) outbox->Finish(status);
    return stream;
  }

  grpc::ServerUnaryReactor* RequestStop(grpc::CallbackServerContext* context, const wire::RequestStopRequest* request,
                                        wire::RequestStopResponse*) override {
    return Handle(context, request, [&](const CallContext& call, grpc::ServerUnaryReactor* reactor) {
      worker_.RequestStop(call.session, call.deadline, Acknowledge(reactor));
      return absl::OkStatus();
    });
  }

  grpc::ServerUnaryReactor* Summarize(grpc::CallbackServerContext* context, const wire::SummarizeRequest* request,
                                      wire::SummarizeResponse* response) override {
    return Handle(context, request, [&](const CallContext& call, grpc::ServerUnaryReactor* reactor) {
      const auto fill = [response](const WorkerSummary& s) { *response->mutable_summary() = ToProto(s); };
      worker_.Summarize(call.session, call.deadline, AnswerWith<WorkerSummary>(reactor, fill));
      return absl::OkStatus();
    });
  }

  grpc::ServerUnaryReactor* CloseSession(grpc::CallbackServerContext* context, const wire::CloseSessionRequest* request,
                                         wire::CloseSessionResponse*) override {
    return Handle(context, request, [&](const CallContext& call, grpc::ServerUnaryReactor* reactor) {
      worker_.CloseSession(call.session, FromProto(request->reason()), call.deadline, Acknowledge(reactor));
      return absl::OkStatus();
    });
  }

 private:
  // Checks the call and starts it; what start returns, if not ok, is the answer.
  template <typename Request, typename Start>
  grpc::ServerUnaryReactor* Handle(grpc::CallbackServerContext* context, const Request* request, Start start) {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    const CallContext call = ReadCallContext(request->caller(), *context);
    absl::Status status = check_(call);
    if (status.ok()) status = start(call, reactor);
    if (!status.ok()) reactor->Finish(ToGrpcStatus(status));
    return reactor;
  }

  absl::Status StartRun(const CallContext& call, const wire::RunRequest& request,
                        const std::shared_ptr<RunOutbox>& outbox) {
    COHORT_RETURN_IF_ERROR(check_(call));
    COHORT_ASSIGN_OR_RETURN(const RunSpec run, FromProto(request));
    worker_.Run(
        call.session, run,
        [outbox](const StepReport& report) {
          wire::RunResponse response;
          *response.mutable_report() = ToProto(report);
          outbox->Send(std::move(response));
        },
        [outbox](absl::StatusOr<RunResult> result) {
          if (result.ok()) {
            wire::RunResponse response;
            *response.mutable_result() = ToProto(*result);
            outbox->Send(std::move(response));
          }
          outbox->Finish(result.status());
        });
    return absl::OkStatus();
  }

  WorkerLink& worker_;
  const CallChecker check_;
};

}  // namespace

ServicePtr MakeWorkerService(WorkerLink& worker, CallChecker check) {
  return ServicePtr(new WorkerService(worker, std::move(check)));
}

}  // namespace cohort
