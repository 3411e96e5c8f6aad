#include "worker/membership_service.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/membership.grpc.pb.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status_macros.h"
#include "runtime/remote/common_coding.h"
#include "runtime/remote/member_coding.h"
#include "runtime/remote/member_report.h"
#include "runtime/rpc/status.h"

namespace cohort {
namespace {

constexpr int64_t kNoEpoch = -1;

}  // namespace

// All streams of the leader. Lock order: Streams, then Stream; neither is held while coordination is called.
class MembershipService::Streams : public std::enable_shared_from_this<Streams> {
 public:
  explicit Streams(Coordination& coordination) : coordination_(coordination) {}

  // The roster's changes go to all streams until Unwatch.
  void Watch() {
    watch_ = coordination_.membership().Watch(
        [self = shared_from_this()](const RosterChange& change) { self->SendChange(change); });
  }
  void Unwatch() { coordination_.membership().Unwatch(watch_); }

  // The stream's Join, as its first request.
  absl::Status Join(Stream& stream, const wire::AttendRequest& request);
  absl::Status Heartbeat(Stream& stream, const wire::AttendRequest& request);
  void Goodbye(Stream& stream, const wire::AttendRequest& request);

  // Streams come and go. Add: the reason of Close.
  absl::Status Add(Stream* stream);
  void Remove(Stream* stream);

  void PublishJob(int64_t job);
  void SendToAll(const wire::AttendResponse& response);
  void Close(const absl::Status& reason);
  void Complete(ClusterStatus& status) const;

 private:
  struct Heard {
    MemberReport report;
    absl::Time at;
  };

  void SendChange(const RosterChange& change);

  Coordination& coordination_;
  int64_t watch_ = 0;
  mutable Mutex mu_;
  std::set<Stream*> open_ ABSL_GUARDED_BY(mu_);
  std::set<int64_t> jobs_ ABSL_GUARDED_BY(mu_);  // published
  std::map<TaskId, Heard> heard_ ABSL_GUARDED_BY(mu_);
  absl::Status closed_ ABSL_GUARDED_BY(mu_);
};

// One member's stream. Deletes itself when gRPC is done with it.
class MembershipService::Stream final : public grpc::ServerBidiReactor<wire::AttendRequest, wire::AttendResponse> {
 public:
  explicit Stream(std::shared_ptr<Streams> streams) : streams_(std::move(streams)) {
    if (const absl::Status status = streams_->Add(this); !status.ok()) {
      Finish(status);
    } else {
      StartRead(&request_);
    }
  }

  // Who joined over it; of gRPC's one reading thread, except where Streams' lock is held.
  TaskAddress member;
  bool joined = false;
  // Under Streams' lock: changes up to this epoch were sent, by themselves or in the roster; kNotJoined before the
  // join, and kJoining while its roster is read, when changes wait.
  int64_t epoch = kNotJoined;
  std::vector<std::pair<int64_t, wire::AttendResponse>> waiting;

  static constexpr int64_t kNotJoined = -2;
  static constexpr int64_t kJoining = -1;

  // `once`: dropped if one such message is on its way already.
  void Send(wire::AttendResponse response, bool once = false) {
    MutexLock lock(&mu_);
    if (finished_ || finish_.has_value() || queue_.size() >= kMaxQueue || (once && !queue_.empty())) return;
    queue_.push_back(std::move(response));
    if (queue_.size() == 1) StartWrite(&queue_.front());
  }

  // After what was sent.
  void Finish(const absl::Status& status) {
    MutexLock lock(&mu_);
    if (finished_ || finish_.has_value()) return;
    finish_ = ToGrpcStatus(status);
    if (queue_.empty()) FinishNow(*finish_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return Finish(absl::OkStatus());
    const absl::Status status = Take();
    if (!status.ok()) return Finish(status);
    StartRead(&request_);
  }

  void OnWriteDone(bool ok) override {
    MutexLock lock(&mu_);
    queue_.pop_front();
    if (finished_) return;
    if (!ok) return FinishNow({grpc::StatusCode::CANCELLED, "the stream broke"});
    if (!queue_.empty()) {
      StartWrite(&queue_.front());
    } else if (finish_.has_value()) {
      FinishNow(*finish_);
    }
  }

  void OnCancel() override {
    MutexLock lock(&mu_);
    if (!finished_) FinishNow(grpc::Status::CANCELLED);
  }

  void OnDone() override {
    streams_->Remove(this);
    delete this;
  }

 private:
  static constexpr size_t kMaxQueue = 10000;  // a member that reads nothing for so long is lost anyway

  absl::Status Take() {
    if (!joined) return streams_->Join(*this, request_);
    switch (request_.event_case()) {
      case wire::AttendRequest::kHeartbeat:
        return streams_->Heartbeat(*this, request_);
      case wire::AttendRequest::kGoodbye:
        streams_->Goodbye(*this, request_);
        return absl::OkStatus();
      default:
        return absl::InvalidArgumentError("membership: neither a heartbeat nor a goodbye");
    }
  }

  void FinishNow(const grpc::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    finished_ = true;
    grpc::ServerBidiReactor<wire::AttendRequest, wire::AttendResponse>::Finish(status);
  }

  const std::shared_ptr<Streams> streams_;
  wire::AttendRequest request_;
  Mutex mu_;
  std::deque<wire::AttendResponse> queue_ ABSL_GUARDED_BY(mu_);  // the first one is being written
  std::optional<grpc::Status> finish_ ABSL_GUARDED_BY(mu_);      // once the queue is empty
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
};

absl::Status MembershipService::Streams::Add(Stream* stream) {
  MutexLock lock(&mu_);
  if (closed_.ok()) open_.insert(stream);
  return closed_;
}

void MembershipService::Streams::Remove(Stream* stream) {
  bool replaced = !stream->joined;
  {
    MutexLock lock(&mu_);
    open_.erase(stream);
    for (const Stream* other : open_) {
      // The same life of the same task has a newer stream: only this one broke.
      replaced |= other->joined && other->member.task == stream->member.task &&
                  other->member.incarnation == stream->member.incarnation;
    }
  }
  if (!replaced) coordination_.membership().MarkDisconnected(stream->member.task, stream->member.incarnation);
}

absl::Status MembershipService::Streams::Join(Stream& stream, const wire::AttendRequest& request) {
  if (request.event_case() != wire::AttendRequest::kJoin) {
    return absl::InvalidArgumentError("membership: a stream begins with a join");
  }
  COHORT_ASSIGN_OR_RETURN(MemberInfo info, FromProto(request.join()));
  const TaskAddress member{info.task, info.address, info.incarnation};
  {
    MutexLock lock(&mu_);
    stream.epoch = Stream::kJoining;
  }
  COHORT_ASSIGN_OR_RETURN(const JoinResult result, coordination_.Join(std::move(info)));
  const Roster roster = coordination_.membership().GetRoster();
  wire::AttendResponse response;
  *response.mutable_joined()->mutable_roster() = ToProto(roster);
  response.mutable_joined()->mutable_warnings()->Add(result.warnings.begin(), result.warnings.end());
  std::vector<int64_t> jobs;
  {
    MutexLock lock(&mu_);
    stream.member = member;
    stream.joined = true;
    jobs.assign(jobs_.begin(), jobs_.end());
  }
  stream.Send(std::move(response));
  for (const int64_t job : jobs) {
    const absl::StatusOr<JobRecord> record = coordination_.jobs().Get(job);
    if (!record.ok()) continue;
    wire::AttendResponse kept;
    *kept.mutable_job() = ToProto(*record);
    stream.Send(std::move(kept));
  }
  MutexLock lock(&mu_);
  stream.epoch = roster.epoch;
  for (auto& [epoch, news] : stream.waiting) {
    if (epoch != kNoEpoch && epoch <= stream.epoch) continue;
    stream.epoch = std::max(stream.epoch, epoch);
    stream.Send(std::move(news));
  }
  stream.waiting.clear();
  return absl::OkStatus();
}

absl::Status MembershipService::Streams::Heartbeat(Stream& stream, const wire::AttendRequest& request) {
  COHORT_ASSIGN_OR_RETURN(const int64_t epoch,
                          coordination_.membership().Heartbeat(stream.member.task, stream.member.incarnation));
  {
    MutexLock lock(&mu_);
    Heard& heard = heard_[stream.member.task];
    heard.report.last_step = request.heartbeat().last_step();
    heard.report.bytes_sent = request.heartbeat().bytes_sent();
    heard.at = absl::Now();
  }
  wire::AttendResponse response;
  response.mutable_heartbeat()->set_epoch(epoch);
  stream.Send(std::move(response), /*once=*/true);
  return absl::OkStatus();
}

void MembershipService::Streams::Goodbye(Stream& stream, const wire::AttendRequest& request) {
  coordination_.membership().MarkLost(stream.member.task, stream.member.incarnation,
                                      absl::StrCat("it left: ", request.goodbye().reason()));
  stream.Finish(absl::OkStatus());
}

void MembershipService::Streams::SendChange(const RosterChange& change) {
  wire::AttendResponse response;
  *response.mutable_change() = ToProto(change);
  MutexLock lock(&mu_);
  for (Stream* stream : open_) {
    if (stream->epoch == Stream::kJoining) {
      stream->waiting.emplace_back(change.roster.epoch, response);
    } else if (stream->joined && stream->epoch < change.roster.epoch) {
      stream->epoch = change.roster.epoch;
      stream->Send(response);
    }
  }
}

void MembershipService::Streams::SendToAll(const wire::AttendResponse& response) {
  MutexLock lock(&mu_);
  for (Stream* stream : open_) {
    if (stream->epoch == Stream::kJoining) {
      stream->waiting.emplace_back(kNoEpoch, response);
    } else if (stream->joined) {
      stream->Send(response);
    }
  }
}

void MembershipService::Streams::PublishJob(int64_t job) {
  const absl::StatusOr<JobRecord> record = coordination_.jobs().Get(job);
  if (!record.ok()) return;
  {
    MutexLock lock(&mu_);
    if (!jobs_.insert(job).second) return;
  }
  wire::AttendResponse response;
  *response.mutable_job() = ToProto(*record);
  SendToAll(response);
  auto last = std::make_shared<JobState>(record->state);
  const auto tell = [self = shared_from_this(), last](const JobRecord& changed) {
    if (changed.state == *last) return;  // progress only
    *last = changed.state;
    wire::AttendResponse news;
    *news.mutable_job() = ToProto(changed);
    self->SendToAll(news);
  };
  coordination_.jobs().Watch(job, tell).IgnoreError();  // until the job has ended
}

void MembershipService::Streams::Close(const absl::Status& reason) {
  MutexLock lock(&mu_);
  closed_ = reason;
  for (Stream* stream : open_) stream->Finish(reason);
}

void MembershipService::Streams::Complete(ClusterStatus& status) const {
  MutexLock lock(&mu_);
  for (MemberStatus& member : status.members) {
    const auto heard = heard_.find(member.task.task);
    if (heard == heard_.end()) continue;
    member.last_step = heard->second.report.last_step;
    member.bytes_sent = heard->second.report.bytes_sent;
    member.last_heartbeat_age_seconds = absl::ToDoubleSeconds(absl::Now() - heard->second.at);
  }
}

class MembershipService::Service final : public wire::MembershipService::CallbackService {
 public:
  explicit Service(std::shared_ptr<Streams> streams) : streams_(std::move(streams)) {}

  grpc::ServerBidiReactor<wire::AttendRequest, wire::AttendResponse>* Attend(grpc::CallbackServerContext*) override {
    return new Stream(streams_);
  }

 private:
  const std::shared_ptr<Streams> streams_;
};

MembershipService::MembershipService(Coordination& coordination)
    : streams_(std::make_shared<Streams>(coordination)), service_(std::make_unique<Service>(streams_)) {
  streams_->Watch();
}

MembershipService::~MembershipService() { streams_->Unwatch(); }

grpc::Service& MembershipService::service() { return *service_; }

void MembershipService::PublishJob(int64_t job) { streams_->PublishJob(job); }

void MembershipService::SendShutdown() {
  wire::AttendResponse response;
  response.mutable_shutdown();
  streams_->SendToAll(response);
}

void MembershipService::Close(const absl::Status& reason) { streams_->Close(reason); }

void MembershipService::Complete(ClusterStatus& status) const { streams_->Complete(status); }

}  // namespace cohort
