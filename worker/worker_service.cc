#include "worker/worker_service.h"

#include <functional>
#include <memory>
#include <utility>

#include "proto/worker.grpc.pb.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status_macros.h"
#include "runtime/remote/answer.h"
#include "runtime/remote/common_coding.h"
#include "runtime/remote/outbox.h"
#include "runtime/remote/worker_coding.h"
#include "runtime/rpc/status.h"

namespace cohort {
namespace {

class RunStream;
using RunOutbox = Outbox<wire::RunResponse, RunStream>;

// The runs of one stream: what outlives it, since they go on when it breaks.
struct Runs {
  explicit Runs(RunStream* stream) : outbox(stream) {}

  RunOutbox outbox;
  Mutex mu;
  int under_way ABSL_GUARDED_BY(mu) = 0;
  bool asked_all ABSL_GUARDED_BY(mu) = false;  // the caller has closed its side

  void Begin() {
    MutexLock lock(&mu);
    ++under_way;
  }
  void End(wire::RunResponse response) {
    outbox.Send(std::move(response));
    MutexLock lock(&mu);
    if (--under_way == 0 && asked_all) outbox.Finish(absl::OkStatus());
  }
  void EndOfRequests() {
    MutexLock lock(&mu);
    asked_all = true;
    if (under_way == 0) outbox.Finish(absl::OkStatus());
  }
};

class RunStream final : public grpc::ServerBidiReactor<wire::RunRequest, wire::RunResponse> {
 public:
  using Start = std::function<absl::Status(const wire::RunRequest&, const std::shared_ptr<Runs>&)>;

  explicit RunStream(Start start) : start_(std::move(start)) { StartRead(&request_); }

  void OnReadDone(bool ok) override {
    if (!ok) return runs_->EndOfRequests();
    if (const absl::Status status = start_(request_, runs_); !status.ok()) return runs_->outbox.Finish(status);
    StartRead(&request_);
  }
  void OnWriteDone(bool ok) override { runs_->outbox.OnWriteDone(ok); }
  void OnCancel() override { runs_->outbox.OnCancel(); }
  void OnDone() override { delete this; }

 private:
  const Start start_;
  const std::shared_ptr<Runs> runs_ = std::make_shared<Runs>(this);
  wire::RunRequest request_;
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

  grpc::ServerBidiReactor<wire::RunRequest, wire::RunResponse>* Run(grpc::CallbackServerContext* context) override {
    return new RunStream([this, context](const wire::RunRequest& request, const std::shared_ptr<Runs>& runs) {
      return StartRun(ReadCallContext(request.caller(), *context), request, runs);
    });
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

  absl::Status StartRun(const CallContext& call, const wire::RunRequest& request, const std::shared_ptr<Runs>& runs) {
    COHORT_RETURN_IF_ERROR(check_(call));
    COHORT_ASSIGN_OR_RETURN(const RunSpec run, FromProto(request));
    runs->Begin();
    worker_.Run(
        call.session, run,
        [runs, id = request.run()](const StepReport& report) {
          wire::RunResponse response;
          response.set_run(id);
          *response.mutable_report() = ToProto(report);
          runs->outbox.Send(std::move(response));
        },
        [runs, id = request.run()](const absl::StatusOr<RunResult>& result) {
          wire::RunResponse response;
          response.set_run(id);
          if (result.ok()) {
            *response.mutable_result() = ToProto(*result);
          } else {
            *response.mutable_failure() = ToProto(result.status());
          }
          runs->End(std::move(response));
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
