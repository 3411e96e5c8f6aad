#include "runtime/remote/worker_link.h"

#include <atomic>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/worker.grpc.pb.h"
#include "runtime/base/mutex.h"
#include "runtime/remote/calls.h"
#include "runtime/remote/common_coding.h"
#include "runtime/remote/run_stream.h"
#include "runtime/remote/worker_coding.h"
#include "runtime/rpc/channel.h"

namespace cohort {
namespace {

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
    RunsOf(session)->Run(std::move(request), std::move(report), std::move(done));
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
    CloseRuns(session);
    wire::CloseSessionRequest request;
    *request.mutable_caller() = calls_.MakeCaller(session, epoch_);
    *request.mutable_reason() = ToProto(reason);
    Call<wire::CloseSessionResponse>("CloseSession", Repeat::kWhileUnreachable, deadline, &Async::CloseSession,
                                     std::move(request), Acknowledge<wire::CloseSessionResponse>(std::move(done)));
  }

 private:
  using Async = class wire::WorkerService::Stub::async;

  // The stream of a session's runs; a new one if there is none, or if it has ended.
  std::shared_ptr<RunStream> RunsOf(uint64_t session) {
    MutexLock lock(&mu_);
    std::shared_ptr<RunStream>& stream = runs_[session];
    if (stream == nullptr || stream->ended()) {
      stream = std::make_shared<RunStream>(calls_);
      calls_.Add(stream);
      stream->Open(*stub_);
    }
    return stream;
  }

  void CloseRuns(uint64_t session) {
    std::shared_ptr<RunStream> stream;
    {
      MutexLock lock(&mu_);
      const auto it = runs_.find(session);
      if (it == runs_.end()) return;
      stream = std::move(it->second);
      runs_.erase(it);
    }
    stream->Close();
  }

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
  Mutex mu_;
  std::map<uint64_t, std::shared_ptr<RunStream>> runs_ ABSL_GUARDED_BY(mu_);  // by session
  Calls calls_;                                                               // destroyed first: waits for the calls
};

}  // namespace

std::unique_ptr<WorkerLink> ConnectWorker(TaskAddress worker, LinkOptions options) {
  const std::shared_ptr<grpc::Channel> channel = MakeChannel(worker.address, ChannelKind::kControl);
  return std::make_unique<RemoteWorkerLink>(std::move(worker), std::move(options), channel);
}

}  // namespace cohort
