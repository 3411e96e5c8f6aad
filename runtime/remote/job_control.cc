#include "runtime/remote/job_control.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/cluster.grpc.pb.h"
#include "proto/leader.grpc.pb.h"
#include "runtime/base/first_cause.h"
#include "runtime/base/status_macros.h"
#include "runtime/driver/fan_out.h"
#include "runtime/remote/calls.h"
#include "runtime/remote/client_session.h"
#include "runtime/remote/common_coding.h"
#include "runtime/remote/job_coding.h"
#include "runtime/rpc/channel.h"

namespace cohort {
namespace {

constexpr absl::Duration kGrace = absl::Seconds(5);

// The answer of a UnaryCall, for a thread that may block.
template <typename Async, typename Request, typename Response>
absl::StatusOr<Response> CallAndWait(Calls& calls, const char* name, Repeat repeat, absl::Time deadline, Async* async,
                                     void (Async::*method)(grpc::ClientContext*, const Request*, Response*,
                                                           std::function<void(grpc::Status)>),
                                     Request request) {
  auto answer = std::make_shared<FanOut<Response>>(1);
  UnaryCall<Request, Response>::Start(
      calls, name, repeat, deadline,
      [async, method](grpc::ClientContext* context, const Request* asked, Response* response,
                      std::function<void(grpc::Status)> done) {
        (async->*method)(context, asked, response, std::move(done));
      },
      std::move(request), FanOut<Response>::Slot(answer, 0));
  if (!answer->WaitForAll(deadline + kGrace)) return absl::InternalError(absl::StrCat(name, ": gRPC did not answer"));
  return *answer->answers()[0];
}

class RemoteJobControl final : public JobControl {
 public:
  RemoteJobControl(TaskAddress leader, LinkOptions options, const std::shared_ptr<grpc::Channel>& channel)
      : links_(options),
        stub_(wire::LeaderService::NewStub(channel)),
        calls_(std::move(leader), std::move(options), channel) {}

  absl::StatusOr<int64_t> Submit(const Program& program, const JobOptions& options, absl::Time deadline) override {
    wire::SubmitRequest request = ToProto(program, options);
    COHORT_ASSIGN_OR_RETURN(const wire::SubmitResponse response,
                            Call("Submit", Repeat::kNever, deadline, &Async::Submit, std::move(request)));
    return response.job();
  }

  absl::Status Follow(int64_t job, bool from_now, std::function<bool(const JobEvent&)> event) override {
    wire::FollowRequest request;
    request.set_job(job);
    request.set_from_now(from_now);
    return Read<wire::FollowResponse>("Follow", &wire::LeaderService::Stub::Follow, std::move(request),
                                      [&](const wire::FollowResponse& response) -> absl::StatusOr<bool> {
                                        COHORT_ASSIGN_OR_RETURN(const JobEvent decoded, FromProto(response));
                                        return event(decoded);
                                      });
  }

  absl::Status Cancel(int64_t job, absl::Time deadline) override {
    wire::CancelRequest request;
    request.set_job(job);
    return Call("Cancel", Repeat::kWhileUnreachable, deadline, &Async::Cancel, std::move(request)).status();
  }

  absl::StatusOr<std::vector<JobInfo>> Jobs(absl::Time deadline) override {
    COHORT_ASSIGN_OR_RETURN(const wire::JobsResponse response,
                            Call("Jobs", Repeat::kWhileUnreachable, deadline, &Async::Jobs, wire::JobsRequest()));
    return ListFromProto<wire::JobInfo, JobInfo>(response.jobs(), FromProto);
  }

  absl::Status Logs(int64_t job, bool follow, std::function<bool(const std::string&)> line) override {
    wire::LogsRequest request;
    request.set_job(job);
    request.set_follow(follow);
    return Read<wire::LogsResponse>(
        "Logs", &wire::LeaderService::Stub::Logs, std::move(request),
        [&](const wire::LogsResponse& response) -> absl::StatusOr<bool> { return line(response.line()); });
  }

  absl::StatusOr<ClusterStatus> Status(absl::Time deadline) override {
    COHORT_ASSIGN_OR_RETURN(
        const wire::GetStatusResponse response,
        Call("GetStatus", Repeat::kWhileUnreachable, deadline, &Async::GetStatus, wire::GetStatusRequest()));
    return FromProto(response);
  }

  absl::StatusOr<std::unique_ptr<ClientSession>> OpenSession(const ClientSessionOptions& options,
                                                             absl::Time deadline) override {
    return OpenRemoteSession(calls_.callee(), links_, options, deadline);
  }

  absl::Status Shutdown(absl::Time deadline) override {
    return Call("Shutdown", Repeat::kWhileUnreachable, deadline, &Async::Shutdown, wire::ShutdownRequest()).status();
  }

 private:
  using Async = class wire::LeaderService::Stub::async;

  template <typename Request, typename Response>
  absl::StatusOr<Response> Call(const char* name, Repeat repeat, absl::Time deadline,
                                void (Async::*method)(grpc::ClientContext*, const Request*, Response*,
                                                      std::function<void(grpc::Status)>),
                                Request request) {
    *request.mutable_caller() = calls_.MakeCaller(0, 0);
    return CallAndWait<Async, Request, Response>(calls_, name, repeat, deadline, stub_->async(), method,
                                                 std::move(request));
  }

  // Hands over what a stream brings until its end, whose status it returns, or until `take` says false: ok.
  template <typename Response, typename Request>
  absl::Status Read(const char* name,
                    std::unique_ptr<grpc::ClientReader<Response>> (wire::LeaderService::Stub::*method)(
                        grpc::ClientContext*, const Request&),
                    Request request, absl::FunctionRef<absl::StatusOr<bool>(const Response&)> take) {
    *request.mutable_caller() = calls_.MakeCaller(0, 0);
    grpc::ClientContext context;
    const auto reader = (stub_.get()->*method)(&context, request);
    Response response;
    while (reader->Read(&response)) {
      const absl::StatusOr<bool> more = take(response);
      if (more.ok() && *more) continue;
      context.TryCancel();
      reader->Finish();
      return more.status();
    }
    return calls_.Explain(reader->Finish(), name);
  }

  const LinkOptions links_;
  const std::unique_ptr<wire::LeaderService::Stub> stub_;
  Calls calls_;  // destroyed first: waits for the calls
};

absl::Status Unreachable(const absl::Status& why, absl::string_view address) {
  if (!absl::IsUnavailable(why) && !absl::IsDeadlineExceeded(why)) return why;
  absl::Status status = absl::UnavailableError(
      absl::StrCat("no cluster answers at ", address, "; start its tasks, or name another one of them with --cluster (",
                   why.message(), ")"));
  if (const auto cause = GetFirstCause(why)) SetFirstCause(status, *cause);
  return status;
}

}  // namespace

std::unique_ptr<JobControl> ConnectLeader(TaskAddress leader, LinkOptions options) {
  const std::shared_ptr<grpc::Channel> channel = MakeChannel(leader.address, ChannelKind::kControl);
  return std::make_unique<RemoteJobControl>(std::move(leader), std::move(options), channel);
}

absl::StatusOr<std::unique_ptr<JobControl>> ConnectCluster(const std::string& address, absl::Time deadline,
                                                           LinkOptions options) {
  TaskAddress callee;
  callee.address = address;
  using Async = class wire::ClusterService::Stub::async;
  const auto ask = [&](const TaskAddress& task) {
    const std::shared_ptr<grpc::Channel> channel = MakeChannel(task.address, ChannelKind::kControl);
    const auto cluster = wire::ClusterService::NewStub(channel);
    Calls calls(task, options, channel);
    wire::WhoLeadsRequest request;
    *request.mutable_caller() = calls.MakeCaller(0, 0);
    return CallAndWait<Async, wire::WhoLeadsRequest, wire::WhoLeadsResponse>(
        calls, "WhoLeads", Repeat::kWhileUnreachable, deadline, cluster->async(), &Async::WhoLeads, std::move(request));
  };
  const absl::StatusOr<wire::WhoLeadsResponse> answer = ask(callee);
  if (!answer.ok()) return Unreachable(answer.status(), address);
  COHORT_ASSIGN_OR_RETURN(TaskAddress leader, FromProto(answer->leader()));
  COHORT_ASSIGN_OR_RETURN(const TaskAddress asked, FromProto(answer->self()));
  if (asked.task == leader.task) {
    leader.address = address;  // a name that reaches it from here, whatever TF_CONFIG calls it
  } else if (const auto there = ask(leader); !there.ok()) {
    return Annotate(there.status(), absl::StrCat("the leader of the cluster at ", address, " does not answer"));
  }
  leader.incarnation = 0;  // a client means the leader, not one life of it
  return ConnectLeader(std::move(leader), std::move(options));
}

}  // namespace cohort
