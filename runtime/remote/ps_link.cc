#include "runtime/remote/ps_link.h"

#include <atomic>
#include <utility>

#include "proto/ps.grpc.pb.h"
#include "runtime/remote/calls.h"
#include "runtime/remote/common_coding.h"
#include "runtime/remote/ps_coding.h"
#include "runtime/rpc/channel.h"

namespace cohort {
namespace {

class RemotePsLink final : public PsLink {
 public:
  RemotePsLink(TaskAddress ps, LinkOptions options, const std::shared_ptr<grpc::Channel>& channel)
      : stub_(wire::PsService::NewStub(channel)), calls_(std::move(ps), std::move(options), channel) {}

  const TaskAddress& task() const override { return calls_.callee(); }

  void OpenSession(const PsSessionSpec& spec, absl::Time deadline, Done<bool> done) override {
    epoch_ = spec.epoch;
    wire::OpenPsSessionRequest request = ToProto(spec);
    *request.mutable_caller() = calls_.MakeCaller(spec.session, spec.epoch);
    Call<wire::OpenPsSessionResponse>("OpenPsSession", Repeat::kNever, deadline, &Async::OpenPsSession,
                                      std::move(request), Acknowledge<wire::OpenPsSessionResponse>(std::move(done)));
  }

  void Summarize(uint64_t session, absl::Time deadline, Done<PsSummary> done) override {
    wire::SummarizePsRequest request;
    *request.mutable_caller() = calls_.MakeCaller(session, epoch_);
    Call<wire::SummarizePsResponse>("SummarizePs", Repeat::kWhileUnreachable, deadline, &Async::SummarizePs,
                                    std::move(request),
                                    [done = std::move(done)](absl::StatusOr<wire::SummarizePsResponse> response) {
                                      done(response.ok() ? FromProto(*response) : response.status());
                                    });
  }

  void CloseSession(uint64_t session, absl::Status reason, absl::Time deadline, Done<bool> done) override {
    wire::ClosePsSessionRequest request;
    *request.mutable_caller() = calls_.MakeCaller(session, epoch_);
    *request.mutable_reason() = ToProto(reason);
    Call<wire::ClosePsSessionResponse>("ClosePsSession", Repeat::kWhileUnreachable, deadline, &Async::ClosePsSession,
                                       std::move(request), Acknowledge<wire::ClosePsSessionResponse>(std::move(done)));
  }

 private:
  using Async = class wire::PsService::Stub::async;

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
  const std::unique_ptr<wire::PsService::Stub> stub_;
  Calls calls_;  // destroyed first: waits for the calls
};

}  // namespace

std::unique_ptr<PsLink> ConnectParameterServer(TaskAddress ps, LinkOptions options) {
  const std::shared_ptr<grpc::Channel> channel = MakeChannel(ps.address, ChannelKind::kControl);
  return std::make_unique<RemotePsLink>(std::move(ps), std::move(options), channel);
}

}  // namespace cohort
