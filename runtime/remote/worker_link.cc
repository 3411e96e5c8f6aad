#include "runtime/remote/worker_link.h"

#include <atomic>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/worker.grpc.pb.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status_macros.h"
#include "runtime/remote/calls.h"
#include "runtime/remote/common_coding.h"
#include "runtime/remote/worker_coding.h"
#include "runtime/rpc/channel.h"

namespace cohort {
namespace {

// A run of steps: the answers of one Run call, in order, until its end.
class RunCall final : public PendingCall,
                      public grpc::ClientReadReactor<wire::RunResponse>,
                      public std::enable_shared_from_this<RunCall> {
 public:
  RunCall(Calls& calls, wire::RunRequest request, std::function<void(StepReport)> report,
          WorkerLink::Done<RunResult> done)
      : calls_(calls), request_(std::move(request)), report_(std::move(report)), done_(std::move(done)) {}

  void Start(wire::WorkerService::Stub& stub) {
    self_ = shared_from_this();  // until OnDone
    stub.async()->Run(&*context_, &request_, this);
    StartRead(&response_);
    StartCall();
  }

  void Cancel() override {
    MutexLock lock(&mu_);
    if (context_.has_value()) context_->TryCancel();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    if (const absl::Status status = Take(); !status.ok()) {
      error_ = status;
      Cancel();
    }
    StartRead(&response_);
  }

  void OnDone(const grpc::Status& status) override {
    const std::shared_ptr<RunCall> self = std::move(self_);
    const absl::Status explained = error_.ok() ? calls_.Explain(status, "Run") : error_;
    if (!explained.ok()) {
      done_(explained);
    } else if (!result_.has_value()) {
      done_(absl::InternalError(absl::StrCat(calls_.callee().task.ToString(), " ended a run without its result")));
    } else {
      done_(*std::move(result_));
    }
    done_ = nullptr;
    report_ = nullptr;
    {
      MutexLock lock(&mu_);
      context_.reset();
    }
    calls_.Remove(self);
  }

 private:
  absl::Status Take() {
    switch (response_.event_case()) {
      case wire::RunResponse::kReport: {
        COHORT_ASSIGN_OR_RETURN(StepReport report, FromProto(response_.report()));
        report_(std::move(report));
        return absl::OkStatus();
      }
      case wire::RunResponse::kResult: {
        COHORT_ASSIGN_OR_RETURN(result_, FromProto(response_.result()));
        return absl::OkStatus();
      }
      case wire::RunResponse::EVENT_NOT_SET:
        break;
    }
    return absl::InvalidArgumentError("run: an answer of a kind that is not known here");
  }

  Calls& calls_;
  const wire::RunRequest request_;
  std::function<void(StepReport)> report_;
  WorkerLink::Done<RunResult> done_;
  Mutex mu_;
  std::optional<grpc::ClientContext> context_{std::in_place};  // under mu_; until OnDone
  wire::RunResponse response_;
  std::optional<RunResult> result_;
  absl::Status error_;
  std::shared_ptr<RunCall> self_;
};

class RemoteWorkerLink final : public WorkerLink {
 public:
  RemoteWorkerLink(TaskAddress worker, LinkOptions options, const std::shared_ptr<grpc::Channel>& channel)
      : stub_(wire::WorkerService::NewStub(channel)), calls_(std::move(worker), std::move(options), channel) {}

  const TaskAddress& task() const override { return calls_.callee(); }

  void OpenSession(const SessionSpec& spec, absl::Time deadline, Done<OpenedSession> done) override {
    epoch_ = spec.epoch;
    wire::OpenSessionRequest request = ToProto(spec);
    *request.mutable_caller() = calls_.MakeCaller(spec.session, spec.epoch);
    Call<wire::OpenSessionResponse>("OpenSession", Repeat::kNever, deadline, &Async::OpenSession, std::move(request),
                                    [done = std::move(done)](absl::StatusOr<wire::OpenSessionResponse> response) {
                                      done(response.ok() ? FromProto(*response) : response.status());
                                    });
  }

  void InitializeVariables(uint64_t session, absl::Time deadline, Done<bool> done) override {
    wire::InitializeVariablesRequest request;
    *request.mutable_caller() = calls_.MakeCaller(session, epoch_);
    Call<wire::InitializeVariablesResponse>("InitializeVariables", Repeat::kNever, deadline,
                                            &Async::InitializeVariables, std::move(request),
                                            Acknowledge<wire::InitializeVariablesResponse>(std::move(done)));
  }

  void Run(uint64_t session, const RunSpec& run, std::function<void(StepReport)> report,
           Done<RunResult> done) override {
    wire::RunRequest request = ToProto(run);
    *request.mutable_caller() = calls_.MakeCaller(session, epoch_);
    auto call = std::make_shared<RunCall>(calls_, std::move(request), std::move(report), std::move(done));
    calls_.Add(call);
    call->Start(*stub_);
  }

  void RequestStop(uint64_t session, absl::Time deadline, Done<bool> done) override {
    wire::RequestStopRequest request;
    *request.mutable_caller() = calls_.MakeCaller(session, epoch_);
    Call<wire::RequestStopResponse>("RequestStop", Repeat::kWhileUnreachable, deadline, &Async::RequestStop,
                                    std::move(request), Acknowledge<wire::RequestStopResponse>(std::move(done)));
  }

  void Summarize(uint64_t session, absl::Time deadline, Done<WorkerSummary> done) override {
    wire::SummarizeRequest request;
    *request.mutable_caller() = calls_.MakeCaller(session, epoch_);
    Call<wire::SummarizeResponse>("Summarize", Repeat::kWhileUnreachable, deadline, &Async::Summarize,
                                  std::move(request),
                                  [done = std::move(done)](absl::StatusOr<wire::SummarizeResponse> response) {
                                    done(response.ok() ? FromProto(response->summary()) : response.status());
                                  });
  }

  void CloseSession(uint64_t session, absl::Status reason, absl::Time deadline, Done<bool> done) override {
    wire::CloseSessionRequest request;
    *request.mutable_caller() = calls_.MakeCaller(session, epoch_);
    *request.mutable_reason() = ToProto(reason);
    Call<wire::CloseSessionResponse>("CloseSession", Repeat::kWhileUnreachable, deadline, &Async::CloseSession,
                                     std::move(request), Acknowledge<wire::CloseSessionResponse>(std::move(done)));
  }

 private:
  using Async = class wire::WorkerService::Stub::async;

  template <typename Response>
  static std::function<void(absl::StatusOr<Response>)> Acknowledge(Done<bool> done) {
    return [done = std::move(done)](absl::StatusOr<Response> response) {
      done(response.ok() ? absl::StatusOr<bool>(true) : response.status());
    };
  }

  template <typename Response, typename Request>
  void Call(const char* name, Repeat repeat, absl::Time deadline,
            void (Async::*method)(grpc::ClientContext*, const Request*, Response*, std::function<void(grpc::Status)>),
            Request request, std::function<void(absl::StatusOr<Response>)> answer) {
    UnaryCall<Request, Response>::Start(
        calls_, name, repeat, deadline,
        [this, method](grpc::ClientContext* context, const Request* asked, Response* response,
                       std::function<void(grpc::Status)> done) {
          (stub_->async()->*method)(context, asked, response, std::move(done));
        },
        std::move(request), std::move(answer));
  }

  std::atomic<int64_t> epoch_ = 0;  // of the session opened last
  const std::unique_ptr<wire::WorkerService::Stub> stub_;
  Calls calls_;  // destroyed first: waits for the calls
};

}  // namespace

std::unique_ptr<WorkerLink> ConnectWorker(TaskAddress worker, LinkOptions options) {
  const std::shared_ptr<grpc::Channel> channel = MakeChannel(worker.address, ChannelKind::kControl);
  return std::make_unique<RemoteWorkerLink>(std::move(worker), std::move(options), channel);
}

}  // namespace cohort
