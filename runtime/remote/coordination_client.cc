#include "runtime/remote/coordination_client.h"

#include <grpcpp/channel.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/membership.grpc.pb.h"
#include "runtime/base/first_cause.h"
#include "runtime/base/log.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status_macros.h"
#include "runtime/base/thread.h"
#include "runtime/base/thread_pool.h"
#include "runtime/remote/common_coding.h"
#include "runtime/remote/member_coding.h"
#include "runtime/remote/message_stream.h"
#include "runtime/rpc/channel.h"
#include "runtime/rpc/status.h"

namespace cohort {
namespace {

using AttendStream = MessageStream<wire::AttendRequest, wire::AttendResponse>;

constexpr absl::Duration kBackoff = absl::Milliseconds(100);
constexpr absl::Duration kMaxBackoff = absl::Seconds(1);
constexpr absl::Duration kSayWhoIsMissing = absl::Seconds(10);

// Since some moment; not moved by who sets the clock.
absl::Duration Uptime() { return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch()); }

}  // namespace

// States of the loop, all of its thread:
//   no stream    -> the next attempt at next_attempt_
//   joining      stream_, !joined_: closed (try again, or refused), or the leader's answer -> joined
//   joined       heartbeats; closed or silent -> no stream
class CoordinationClient::Core {
 public:
  Core(CoordinationClientOptions options, CoordinationListener listener)
      : options_(std::move(options)),
        listener_(std::move(listener)),
        stub_(wire::MembershipService::NewStub(MakeChannel(options_.leader_address, ChannelKind::kHeartbeat))),
        info_(options_.self) {
    callee_.task = options_.leader;
    callee_.address = options_.leader_address;
  }

  // Not in the constructor: the stream's events hold this weakly.
  void Start(std::weak_ptr<Core> self) {
    self_ = std::move(self);
    delivery_ = std::make_unique<ThreadPool>("roster", 1);
    thread_ = Thread("heartbeat", [this] { Loop(); });
  }

  absl::Status WaitJoined(absl::Time deadline) {
    MutexLock lock(&mu_);
    const auto settled = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return ever_joined_ || !refused_.ok(); };
    if (mu_.AwaitWithDeadline(settled, deadline)) return refused_;
    const std::string text =
        absl::StrCat("the leader ", TaskText(options_.leader, options_.leader_address), " did not take this task in",
                     last_error_.ok() ? "" : absl::StrCat(": ", last_error_.message()));
    absl::Status status =
        absl::IsUnavailable(last_error_) ? absl::UnavailableError(text) : absl::DeadlineExceededError(text);
    BlameLeader(status, 0);
    return status;
  }

  void Leave(const std::string& reason, absl::Time deadline) {
    {
      MutexLock lock(&mu_);
      if (leaving_) return;
      leaving_ = true;
      leave_reason_ = reason;
      leave_deadline_ = deadline;
    }
    thread_.Join();
    delivery_.reset();
    MutexLock lock(&mu_);
    const auto closed = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return open_streams_ == 0; };
    mu_.AwaitWithDeadline(closed, absl::InfiniteFuture());  // gRPC closes a cancelled stream at once
    stub_.reset();  // ends the channel in this thread (see Calls): an event may hold the rest a moment longer
  }

  int64_t epoch() const {
    MutexLock lock(&mu_);
    return epoch_;
  }

 private:
  // What a stream brought: an answer, or its end.
  struct Event {
    int stream = 0;
    std::optional<wire::AttendResponse> response;
    grpc::Status closed;
  };

  void Loop() {
    while (true) {
      std::vector<Event> events;
      bool leaving = false;
      {
        MutexLock lock(&mu_);
        const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return leaving_ || !inbox_.empty(); };
        mu_.AwaitWithDeadline(ready, absl::Now() + UntilNextTask());
        events.swap(inbox_);
        leaving = leaving_;
      }
      for (Event& event : events) {
        if (event.stream == stream_number_ && stream_ != nullptr) Handle(event);
      }
      if (leaving) return SayGoodbye();
      DoWhatIsDue();
    }
  }

  absl::Duration UntilNextTask() const {
    absl::Duration next = absl::InfiniteDuration();
    if (stream_ == nullptr) {
      if (!given_up_) next = next_attempt_;
    } else if (joined_) {
      next = std::min(next_heartbeat_, last_heard_ + options_.peer_lost);
    } else {
      next = opened_ + options_.peer_lost;
    }
    if (ever_ && !lost_) next = std::min(next, last_heard_ + options_.peer_lost);
    return std::clamp(next - Uptime(), absl::ZeroDuration(), options_.heartbeat);
  }

  void DoWhatIsDue() {
    const absl::Duration now = Uptime();
    if (ever_ && !lost_ && now - last_heard_ >= options_.peer_lost) LoseLeader(now);
    if (stream_ != nullptr && !joined_ && now - opened_ >= options_.peer_lost) {
      NoteError(absl::UnavailableError("it is connected but does not answer"));
      DropStream(now);
    }
    if (stream_ == nullptr && !given_up_ && now >= next_attempt_) Open(now);
    if (stream_ != nullptr && joined_ && now >= next_heartbeat_) {
      if (stream_->idle()) SendHeartbeat();
      next_heartbeat_ = now + options_.heartbeat;
    }
  }

  void Open(absl::Duration now) {
    wire::AttendRequest request;
    *request.mutable_caller() = MakeCaller();
    info_.last_epoch = epoch();
    info_.known_jobs.clear();
    for (const auto& [id, job] : jobs_) info_.known_jobs.push_back(job);
    *request.mutable_join() = ToProto(info_);
    const int number = ++stream_number_;
    joined_ = false;
    opened_ = now;
    AttendStream::Events events;
    events.received = [self = self_, number](wire::AttendResponse& response) {
      Put(self, Event{number, std::move(response), {}});
    };
    events.closed = [self = self_, number](const grpc::Status& status) {
      Put(self, Event{number, std::nullopt, status});
    };
    {
      MutexLock lock(&mu_);
      ++open_streams_;
    }
    stream_ = AttendStream::Open(std::move(events), [this](grpc::ClientContext* context, auto* reactor) {
      stub_->async()->Attend(context, reactor);
    });
    stream_->Send(std::move(request));
  }

  static void Put(const std::weak_ptr<Core>& self, Event event) {
    if (const std::shared_ptr<Core> core = self.lock()) {
      MutexLock lock(&core->mu_);
      if (!event.response.has_value()) --core->open_streams_;
      core->inbox_.push_back(std::move(event));
    }
  }

  void Handle(Event& event) {
    if (!event.response.has_value()) return OnClosed(FromGrpcStatus(event.closed, callee_, "Attend"));
    last_heard_ = Uptime();
    const absl::Status status = Take(*event.response);
    if (!status.ok()) {
      LogError("member", absl::StrCat("from the leader: ", status.message()));
      DropStream(last_heard_);
    }
  }

  absl::Status Take(const wire::AttendResponse& response) {
    switch (response.event_case()) {
      case wire::AttendResponse::kJoined:
        return TakeJoined(response.joined());
      case wire::AttendResponse::kChange: {
        COHORT_ASSIGN_OR_RETURN(RosterChange change, FromProto(response.change()));
        NoteEpoch(change.roster.epoch);
        NoteComplete(change.roster);
        Deliver([change = std::move(change)](const CoordinationListener& to) {
          if (to.on_change) to.on_change(change);
        });
        return absl::OkStatus();
      }
      case wire::AttendResponse::kHeartbeat:
        NoteEpoch(response.heartbeat().epoch());
        return absl::OkStatus();
      case wire::AttendResponse::kJob: {
        COHORT_ASSIGN_OR_RETURN(JobRecord job, FromProto(response.job()));
        Deliver([job](const CoordinationListener& to) {
          if (to.on_job) to.on_job(job);
        });
        KeepJob(std::move(job));
        return absl::OkStatus();
      }
      case wire::AttendResponse::kShutdown:
        Deliver([](const CoordinationListener& to) {
          if (to.on_shutdown) to.on_shutdown();
        });
        return absl::OkStatus();
      case wire::AttendResponse::EVENT_NOT_SET:
        break;  // of a later version
    }
    return absl::OkStatus();
  }

  absl::Status TakeJoined(const wire::Joined& joined) {
    JoinResult result;
    COHORT_ASSIGN_OR_RETURN(result.roster, FromProto(joined.roster()));
    result.warnings.assign(joined.warnings().begin(), joined.warnings().end());
    const RosterMember* leader = result.roster.Find(options_.leader);
    const uint64_t incarnation = leader == nullptr ? 0 : leader->incarnation;
    if (ever_ && !lost_ && incarnation != leader_incarnation_) ReportLoss("was restarted");
    leader_incarnation_ = incarnation;
    callee_.incarnation = incarnation;
    ever_ = true;
    joined_ = true;
    lost_ = false;
    backoff_ = kBackoff;
    already_exists_since_.reset();
    next_heartbeat_ = Uptime() + options_.heartbeat;
    NoteEpoch(result.roster.epoch);
    NoteComplete(result.roster);
    Deliver([result = std::move(result)](const CoordinationListener& to) {
      if (to.on_joined) to.on_joined(result);
    });
    MutexLock lock(&mu_);
    ever_joined_ = true;
    return absl::OkStatus();
  }

  void OnClosed(const absl::Status& status) {
    const absl::Duration now = Uptime();
    stream_ = nullptr;
    // The leader ends a start for all, if one of them does not fit or does not come.
    const bool over = absl::IsFailedPrecondition(status) || absl::IsDeadlineExceeded(status);
    if (joined_ && !(over && !ever_complete_)) {
      joined_ = false;
      LogWarn("member", absl::StrCat("the stream to the leader ended, joining again: ", status.message()));
    } else if (joined_ || IsFinal(status, now)) {
      given_up_ = true;
      lost_ = true;  // no more of it
      {
        MutexLock lock(&mu_);
        refused_ = status;
      }
      Deliver([status](const CoordinationListener& to) {
        if (to.on_refused) to.on_refused(status);
      });
      return;
    }
    NoteError(status.ok() ? absl::UnavailableError("it ended the stream") : status);
    Retry(now);
  }

  // Whether a Join that was answered with `status` would never be answered otherwise.
  bool IsFinal(const absl::Status& status, absl::Duration now) {
    switch (status.code()) {
      case absl::StatusCode::kFailedPrecondition:
      case absl::StatusCode::kInvalidArgument:
      case absl::StatusCode::kAborted:
        return true;
      case absl::StatusCode::kAlreadyExists:  // the other process may have died a moment ago
        if (!already_exists_since_.has_value()) already_exists_since_ = now;
        return now - *already_exists_since_ > options_.peer_lost + 2 * options_.heartbeat;
      default:
        return false;
    }
  }

  void LoseLeader(absl::Duration now) {
    ReportLoss(absl::StrCat("was not heard of for ", absl::FormatDuration(options_.peer_lost)));
    if (stream_ != nullptr && joined_) DropStream(now);
  }

  void ReportLoss(absl::string_view how) {
    lost_ = true;
    absl::Status status = absl::UnavailableError(
        absl::StrCat("the leader ", TaskText(options_.leader, options_.leader_address), " is lost: it ", how));
    BlameLeader(status, leader_incarnation_);
    LogWarn("member", status.message());
    Deliver([status](const CoordinationListener& to) {
      if (to.on_leader_lost) to.on_leader_lost(status);
    });
  }

  void BlameLeader(absl::Status& status, uint64_t incarnation) const {
    FirstCause cause;
    cause.task = options_.leader;
    cause.address = options_.leader_address;
    cause.incarnation = incarnation;
    cause.name = "heartbeat";
    SetFirstCause(status, cause);
  }

  void DropStream(absl::Duration now) {
    stream_->Cancel();  // its end is not ours any more
    stream_ = nullptr;
    joined_ = false;
    Retry(now);
  }

  void Retry(absl::Duration now) {
    next_attempt_ = now + backoff_;
    backoff_ = std::min(backoff_ * 2, kMaxBackoff);
    if (!ever_ && now >= next_say_) {
      if (next_say_ > absl::ZeroDuration()) {
        MutexLock lock(&mu_);
        LogInfo("member", absl::StrCat("waiting for the leader ", TaskText(options_.leader, options_.leader_address),
                                       ": ", last_error_.message()));
      }
      next_say_ = now + kSayWhoIsMissing;
    }
  }

  void SendHeartbeat() {
    const MemberReport report = listener_.report ? listener_.report() : MemberReport();
    wire::AttendRequest request;
    *request.mutable_caller() = MakeCaller();
    request.mutable_heartbeat()->set_last_step(report.last_step);
    request.mutable_heartbeat()->set_bytes_sent(report.bytes_sent);
    stream_->Send(std::move(request));
  }

  void SayGoodbye() {
    if (stream_ == nullptr) return;
    if (joined_) {
      std::string reason;
      absl::Time deadline;
      {
        MutexLock lock(&mu_);
        reason = leave_reason_;
        deadline = leave_deadline_;
      }
      wire::AttendRequest request;
      *request.mutable_caller() = MakeCaller();
      request.mutable_goodbye()->set_reason(reason);
      stream_->Send(std::move(request));
      MutexLock lock(&mu_);
      const auto closed = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
        return std::any_of(inbox_.begin(), inbox_.end(), [this](const Event& event) {
          return event.stream == stream_number_ && !event.response.has_value();
        });
      };
      mu_.AwaitWithDeadline(closed, deadline);
    }
    stream_->Cancel();
  }

  wire::Caller MakeCaller() const {
    wire::Caller caller;
    *caller.mutable_task() = ToProto(options_.self.task);
    caller.set_incarnation(options_.self.incarnation);
    caller.set_epoch(epoch());
    return caller;
  }

  void KeepJob(JobRecord job) {
    JobRecord& kept = jobs_[job.id];
    // Changes of a running job come without its program.
    if (job.program_bytes.empty() && !HasEnded(job.state)) job.program_bytes = std::move(kept.program_bytes);
    std::swap(kept, job);  // an assignment could keep the memory of the old program
    while (jobs_.size() > kMaxJobs) jobs_.erase(jobs_.begin());
  }

  void NoteComplete(const Roster& roster) {
    ever_complete_ |= std::all_of(roster.members.begin(), roster.members.end(), [](const RosterMember& member) {
      return member.state == MemberState::kAlive || member.task.job == "evaluator";
    });
  }

  void NoteEpoch(int64_t epoch) {
    MutexLock lock(&mu_);
    epoch_ = std::max(epoch_, epoch);
  }

  void NoteError(absl::Status status) {
    MutexLock lock(&mu_);
    last_error_ = std::move(status);
  }

  void Deliver(std::function<void(const CoordinationListener&)> what) {
    delivery_->Post([this, what = std::move(what)] { what(listener_); });
  }

  static constexpr size_t kMaxJobs = 1000;

  const CoordinationClientOptions options_;
  const CoordinationListener listener_;
  std::unique_ptr<wire::MembershipService::Stub> stub_;
  std::weak_ptr<Core> self_;

  // Of the heartbeat's thread.
  Callee callee_;
  MemberInfo info_;
  std::map<int64_t, JobRecord> jobs_;
  std::shared_ptr<AttendStream> stream_;
  int stream_number_ = 0;
  bool joined_ = false;    // on stream_
  bool ever_ = false;      // joined at some time
  bool lost_ = false;      // the loss of the leader was reported
  bool given_up_ = false;  // refused
  bool ever_complete_ = false;
  uint64_t leader_incarnation_ = 0;
  absl::Duration opened_, last_heard_, next_heartbeat_, next_attempt_, next_say_;  // Uptime()
  absl::Duration backoff_ = kBackoff;
  std::optional<absl::Duration> already_exists_since_;

  mutable Mutex mu_;
  std::vector<Event> inbox_ ABSL_GUARDED_BY(mu_);
  int open_streams_ ABSL_GUARDED_BY(mu_) = 0;
  bool ever_joined_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status refused_ ABSL_GUARDED_BY(mu_);
  absl::Status last_error_ ABSL_GUARDED_BY(mu_);
  int64_t epoch_ ABSL_GUARDED_BY(mu_) = 0;
  bool leaving_ ABSL_GUARDED_BY(mu_) = false;
  std::string leave_reason_ ABSL_GUARDED_BY(mu_);
  absl::Time leave_deadline_ ABSL_GUARDED_BY(mu_);

  std::unique_ptr<ThreadPool> delivery_;
  Thread thread_;
};

CoordinationClient::CoordinationClient(CoordinationClientOptions options, CoordinationListener listener)
    : core_(std::make_shared<Core>(std::move(options), std::move(listener))) {
  core_->Start(core_);
}

CoordinationClient::~CoordinationClient() { core_->Leave("it ends", absl::Now()); }

absl::Status CoordinationClient::WaitJoined(absl::Time deadline) { return core_->WaitJoined(deadline); }

void CoordinationClient::Leave(const std::string& reason, absl::Time deadline) { core_->Leave(reason, deadline); }

int64_t CoordinationClient::epoch() const { return core_->epoch(); }

}  // namespace cohort
