#include "worker/leader_service.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "proto/leader.grpc.pb.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status_macros.h"
#include "runtime/base/thread_pool.h"
#include "runtime/remote/answer.h"
#include "runtime/remote/common_coding.h"
#include "runtime/remote/graph_coding.h"
#include "runtime/remote/job_coding.h"
#include "runtime/remote/outbox.h"
#include "runtime/rpc/status.h"
#include "worker/follower_threads.h"

namespace cohort {
namespace {

constexpr absl::Duration kWriteTimeout = absl::Minutes(1);

// Shared by all followers: whether they are to end.
struct Closing {
  Mutex mu;
  absl::Status reason ABSL_GUARDED_BY(mu);

  absl::Status Get() {
    MutexLock lock(&mu);
    return reason;
  }
};

// A stream that a follower's thread writes to, one message after the other.
template <typename Response>
class BlockingWriter final : public grpc::ServerWriteReactor<Response> {
 public:
  // Shared by the thread and gRPC, whichever ends last.
  struct State {
    Mutex mu;
    BlockingWriter* stream ABSL_GUARDED_BY(mu);  // null once finished
    bool writing ABSL_GUARDED_BY(mu) = false;
    Response response;  // being written
  };

  const std::shared_ptr<State>& state() const { return state_; }

  // Waits until the client may be sent the next message. False: the client is gone, or reads nothing.
  static bool Write(State& state, Response response) {
    MutexLock lock(&state.mu);
    if (state.stream == nullptr) return false;
    state.response = std::move(response);
    state.writing = true;
    state.stream->StartWrite(&state.response);
    const auto written = [&state]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu) { return !state.writing; };
    return state.mu.AwaitWithDeadline(written, absl::Now() + kWriteTimeout) && state.stream != nullptr;
  }

  static bool IsOpen(State& state) {
    MutexLock lock(&state.mu);
    return state.stream != nullptr;
  }

  static void Finish(State& state, const absl::Status& status) {
    MutexLock lock(&state.mu);
    FinishLocked(state, ToGrpcStatus(status));
  }

  void OnWriteDone(bool ok) override {
    MutexLock lock(&state_->mu);
    state_->writing = false;
    if (!ok) FinishLocked(*state_, {grpc::StatusCode::CANCELLED, "the stream broke"});
  }

  void OnCancel() override {
    MutexLock lock(&state_->mu);
    FinishLocked(*state_, grpc::Status::CANCELLED);
  }

  void OnDone() override { delete this; }

 private:
  static void FinishLocked(State& state, const grpc::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu) {
    BlockingWriter* stream = std::exchange(state.stream, nullptr);
    if (stream != nullptr) static_cast<grpc::ServerWriteReactor<Response>*>(stream)->Finish(status);
  }

  const std::shared_ptr<State> state_ = MakeState(this);
  static std::shared_ptr<State> MakeState(BlockingWriter* stream) {
    auto state = std::make_shared<State>();
    MutexLock lock(&state->mu);
    state->stream = stream;
    return state;
  }
};

// The stream by which a client holds its session.
class HoldStream final : public grpc::ServerBidiReactor<wire::HoldSessionRequest, wire::HoldSessionResponse> {
 public:
  using Check = std::function<absl::Status(const wire::HoldSessionRequest&)>;

  HoldStream(LeaderSessions* sessions, Check check) : sessions_(sessions), check_(std::move(check)) {
    StartRead(&request_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) {  // broken, or closed without a word, or over
      if (stream_.session != 0) sessions_->Disconnected(stream_);
      return outbox_->Finish(absl::CancelledError("the client let its session go"));
    }
    if (stream_.session == 0) {
      if (const absl::Status status = Begin(); !status.ok()) return outbox_->Finish(status);
    } else if (request_.close()) {
      sessions_->Close(stream_.session);
    }
    StartRead(&request_);
  }
  void OnWriteDone(bool ok) override { outbox_->OnWriteDone(ok); }
  void OnCancel() override { outbox_->OnCancel(); }
  void OnDone() override { delete this; }

 private:
  absl::Status Begin() {
    COHORT_RETURN_IF_ERROR(check_(request_));
    if (sessions_ == nullptr) return absl::FailedPreconditionError("this leader gives no sessions to clients");
    LeaderSessions::Events events;
    events.opened = [outbox = outbox_, lease = sessions_->lease()](const SessionGrant& grant) {
      wire::HoldSessionResponse response;
      *response.mutable_opened() = ToProto(grant, lease);
      outbox->Send(std::move(response));
    };
    events.ended = [outbox = outbox_](const absl::Status& status) { outbox->Finish(status); };
    const wire::Caller& caller = request_.caller();
    if (caller.session() != 0) {
      COHORT_ASSIGN_OR_RETURN(
          stream_, sessions_->Resume(static_cast<int64_t>(caller.session()), caller.incarnation(), std::move(events)));
      return absl::OkStatus();
    }
    COHORT_ASSIGN_OR_RETURN(const ClientSessionOptions options, FromProto(request_));
    COHORT_ASSIGN_OR_RETURN(stream_, sessions_->Open(options, caller.incarnation(), std::move(events)));
    wire::HoldSessionResponse response;
    response.set_waiting(sessions_->Behind(stream_.session));
    if (!response.waiting().empty()) outbox_->Send(std::move(response));
    return absl::OkStatus();
  }

  LeaderSessions* const sessions_;
  const Check check_;
  const std::shared_ptr<Outbox<wire::HoldSessionResponse, HoldStream>> outbox_ =
      std::make_shared<Outbox<wire::HoldSessionResponse, HoldStream>>(this);
  wire::HoldSessionRequest request_;
  SessionStream stream_;
};

}  // namespace

class LeaderService::Service final : public wire::LeaderService::CallbackService {
 public:
  Service(JobControl& jobs, LeaderServiceHooks hooks)
      : jobs_(jobs), hooks_(std::move(hooks)), calls_("leader-calls", 2), followers_(hooks_.max_followers) {}

  void Close(const absl::Status& reason) {
    MutexLock lock(&closing_->mu);
    closing_->reason = reason;
  }

  bool WaitFollowers(absl::Time deadline) const { return followers_.WaitIdle(deadline); }

  grpc::ServerUnaryReactor* Submit(grpc::CallbackServerContext* context, const wire::SubmitRequest* request,
                                   wire::SubmitResponse* response) override {
    return Handle(context, request, [=, this](const CallContext& call) -> absl::Status {
      COHORT_ASSIGN_OR_RETURN(const Program program, FromProto(request->program()));
      COHORT_ASSIGN_OR_RETURN(const int64_t job, jobs_.Submit(program, OptionsFromProto(*request), call.deadline));
      if (hooks_.on_submitted) hooks_.on_submitted(job);
      response->set_job(job);
      return absl::OkStatus();
    });
  }

  grpc::ServerWriteReactor<wire::FollowResponse>* Follow(grpc::CallbackServerContext* context,
                                                         const wire::FollowRequest* request) override {
    const int64_t job = request->job();
    const bool from_now = request->from_now();
    return Stream<wire::FollowResponse>(context, *request, [=, this, closing = closing_](auto& state) {
      std::string last_state;  // the leader repeats a job's state as a sign of life
      const auto write = [&](const JobEvent& event) {
        if (!closing->Get().ok()) return false;
        wire::FollowResponse response = ToProto(event);
        if (event.kind == JobEvent::Kind::kState) {
          std::string text = response.SerializeAsString();
          if (text == last_state) return BlockingWriter<wire::FollowResponse>::IsOpen(state);
          last_state = std::move(text);
        }
        return BlockingWriter<wire::FollowResponse>::Write(state, std::move(response));
      };
      return jobs_.Follow(job, from_now, write);
    });
  }

  grpc::ServerUnaryReactor* Cancel(grpc::CallbackServerContext* context, const wire::CancelRequest* request,
                                   wire::CancelResponse*) override {
    return Handle(context, request,
                  [=, this](const CallContext& call) { return jobs_.Cancel(request->job(), call.deadline); });
  }

  grpc::ServerUnaryReactor* Jobs(grpc::CallbackServerContext* context, const wire::JobsRequest* request,
                                 wire::JobsResponse* response) override {
    return Handle(context, request, [=, this](const CallContext& call) -> absl::Status {
      COHORT_ASSIGN_OR_RETURN(const std::vector<JobInfo> jobs, jobs_.Jobs(call.deadline));
      ListToProto(jobs, response->mutable_jobs());
      return absl::OkStatus();
    });
  }

  grpc::ServerWriteReactor<wire::LogsResponse>* Logs(grpc::CallbackServerContext* context,
                                                     const wire::LogsRequest* request) override {
    const int64_t job = request->job();
    const bool follow = request->follow();
    return Stream<wire::LogsResponse>(context, *request, [=, this, closing = closing_](auto& state) {
      const auto write = [&](const std::string& line) {
        if (!closing->Get().ok()) return false;
        if (line.empty()) return BlockingWriter<wire::LogsResponse>::IsOpen(state);  // a sign of life
        wire::LogsResponse response;
        response.set_line(line);
        return BlockingWriter<wire::LogsResponse>::Write(state, std::move(response));
      };
      return jobs_.Logs(job, follow, write);
    });
  }

  grpc::ServerUnaryReactor* GetStatus(grpc::CallbackServerContext* context, const wire::GetStatusRequest* request,
                                      wire::GetStatusResponse* response) override {
    return Handle(context, request, [=, this](const CallContext& call) -> absl::Status {
      COHORT_ASSIGN_OR_RETURN(ClusterStatus status, jobs_.Status(call.deadline));
      if (hooks_.complete) hooks_.complete(status);
      *response = ToProto(status);
      return absl::OkStatus();
    });
  }

  grpc::ServerBidiReactor<wire::HoldSessionRequest, wire::HoldSessionResponse>* HoldSession(
      grpc::CallbackServerContext* context) override {
    return new HoldStream(hooks_.sessions, [this, context](const wire::HoldSessionRequest& request) {
      return Check(ReadCallContext(request.caller(), *context));
    });
  }

  grpc::ServerUnaryReactor* Shutdown(grpc::CallbackServerContext* context, const wire::ShutdownRequest* request,
                                     wire::ShutdownResponse*) override {
    return Handle(context, request, [this](const CallContext& call) { return jobs_.Shutdown(call.deadline); });
  }

 private:
  // Checks the call, then runs it on a thread that may block.
  template <typename Request, typename Body>
  grpc::ServerUnaryReactor* Handle(grpc::CallbackServerContext* context, const Request* request, Body body) {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    CallContext call = ReadCallContext(request->caller(), *context);
    if (const absl::Status status = Check(call); !status.ok()) {
      reactor->Finish(ToGrpcStatus(status));
      return reactor;
    }
    calls_.Post(
        [call = std::move(call), reactor, body = std::move(body)] { reactor->Finish(ToGrpcStatus(body(call))); });
    return reactor;
  }

  // Checks the call, then runs `body` on a follower's thread; it writes to the state that it is given and returns the
  // stream's status.
  template <typename Response, typename Request, typename Body>
  grpc::ServerWriteReactor<Response>* Stream(grpc::CallbackServerContext* context, const Request& request, Body body) {
    auto* stream = new BlockingWriter<Response>();
    const auto state = stream->state();  // `stream` is gone once it was finished
    absl::Status status = Check(ReadCallContext(request.caller(), *context));
    if (status.ok()) {
      status = followers_.Start([state, closing = closing_, body = std::move(body)] {
        absl::Status ended = body(*state);
        const absl::Status reason = closing->Get();
        BlockingWriter<Response>::Finish(*state, ended.ok() && !reason.ok() ? reason : ended);
      });
    }
    if (!status.ok()) BlockingWriter<Response>::Finish(*state, status);
    return stream;
  }

  absl::Status Check(const CallContext& call) const { return hooks_.check ? hooks_.check(call) : absl::OkStatus(); }

  JobControl& jobs_;
  const LeaderServiceHooks hooks_;
  const std::shared_ptr<Closing> closing_ = std::make_shared<Closing>();
  ThreadPool calls_;
  FollowerThreads followers_;
};

LeaderService::LeaderService(JobControl& jobs, LeaderServiceHooks hooks)
    : service_(std::make_unique<Service>(jobs, std::move(hooks))) {}

LeaderService::~LeaderService() { Close(absl::CancelledError("the leader is shutting down")); }

grpc::Service& LeaderService::service() { return *service_; }

bool LeaderService::WaitFollowers(absl::Time deadline) const { return service_->WaitFollowers(deadline); }

void LeaderService::Close(const absl::Status& reason) { service_->Close(reason); }

}  // namespace cohort
