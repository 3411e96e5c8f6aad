#include "runtime/collective/grpc/grpc_group.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/first_cause.h"
#include "runtime/collective/grpc/incoming_stream.h"

namespace cohort {
namespace {

// What may wait for a rank that computes, all peers together, and of each at least.
constexpr size_t kMaxWaitingBytes = 64 << 20;
constexpr size_t kMinWaitingBytes = 4 << 20;
// A peer that fails tells us why on one connection and cuts the other. Only if it was cut alone is this waited for.
constexpr absl::Duration kReasonComes = absl::Seconds(2);

}  // namespace

GrpcGroup::GrpcGroup(const GroupSpec& spec, absl::Duration spin)
    : spec_(spec),
      spin_(spin),
      max_waiting_bytes_(std::max(kMinWaitingBytes, kMaxWaitingBytes / spec.members.size())),
      peers_(spec.members.size()),
      waiting_(spec.members.size()) {}

absl::Status GrpcGroup::Attach(int from, std::shared_ptr<IncomingStream> stream) {
  MutexLock lock(&mu_);
  if (!failure_.ok()) return failure_;
  if (peers_[from].incoming != nullptr) {
    return absl::AlreadyExistsError(
        absl::StrCat("rank ", from, " of the group of ", spec_.id.ToString(), " sends on another stream already"));
  }
  peers_[from].incoming = std::move(stream);
  return absl::OkStatus();
}

void GrpcGroup::OnWelcome(int to) {
  MutexLock lock(&mu_);
  peers_[to].welcomed = true;
}

bool GrpcGroup::OnFrame(int from, Frame frame) {
  MutexLock lock(&mu_);
  if (!failure_.ok()) return false;
  Peer& peer = peers_[from];
  peer.latest_seq = frame.header.seq;
  peer.waiting_bytes += frame.payload_bytes();
  peer.frames.push_back(std::move(frame));
  waiting_[from].fetch_add(1, std::memory_order_release);
  peer.resting = peer.waiting_bytes > max_waiting_bytes_;
  return !peer.resting;
}

void GrpcGroup::OnGoodbye(int from) {
  MutexLock lock(&mu_);
  peers_[from].left = true;
}

void GrpcGroup::OnIncomingBroken(int from) {
  MutexLock lock(&mu_);
  if (!peers_[from].left && peers_[from].broken_at == absl::InfiniteFuture()) peers_[from].broken_at = absl::Now();
}

void GrpcGroup::OnOutgoingStart(int to) {
  MutexLock lock(&mu_);
  peers_[to].sending = true;
}

void GrpcGroup::OnOutgoingEnd(int to, absl::Status status) {
  if (!status.ok()) Fail(std::move(status)).IgnoreError();
  MutexLock lock(&mu_);
  peers_[to].sending = false;  // from here on the transport may free the stream
}

absl::Status GrpcGroup::Fail(absl::Status reason) {
  if (reason.ok()) reason = absl::CancelledError("the group was ended");
  std::vector<std::deque<Frame>> dropped;  // freed without the lock
  {
    MutexLock lock(&mu_);
    if (!failure_.ok()) return failure_;
    failure_ = reason;
    failed_.store(true, std::memory_order_release);
    for (Peer& peer : peers_) dropped.push_back(std::move(peer.frames));
  }
  for (const auto& stream : TakeIncoming()) stream->End(reason);
  return reason;
}

void GrpcGroup::Leave() {
  std::vector<std::deque<Frame>> dropped;  // freed without the lock
  {
    MutexLock lock(&mu_);
    if (!failure_.ok()) return;
    left_ = true;
    failure_ = absl::CancelledError(absl::StrCat("left the group of ", spec_.id.ToString()));
    failed_.store(true, std::memory_order_release);
    for (Peer& peer : peers_) dropped.push_back(std::move(peer.frames));
  }
  for (const auto& stream : TakeIncoming()) stream->End(absl::OkStatus());
}

absl::Status GrpcGroup::failure() const {
  MutexLock lock(&mu_);
  return left_ ? absl::OkStatus() : failure_;
}

std::vector<std::shared_ptr<IncomingStream>> GrpcGroup::TakeIncoming() {
  std::vector<std::shared_ptr<IncomingStream>> streams;
  MutexLock lock(&mu_);
  for (Peer& peer : peers_) {
    if (peer.incoming != nullptr) streams.push_back(std::move(peer.incoming));
    peer.incoming = nullptr;
  }
  return streams;
}

absl::Status GrpcGroup::Gone(int rank, absl::string_view why) const {
  absl::Status status = absl::UnavailableError(absl::StrCat(spec_.members[rank].ToString(), " ", why));
  SetFirstCause(status, Blame(spec_.members[rank]));
  return status;
}

void GrpcGroup::Spin(int from, absl::Time deadline) const {
  if (spin_ <= absl::ZeroDuration()) return;
  const absl::Time until = std::min(deadline, absl::Now() + spin_);
  while (waiting_[from].load(std::memory_order_acquire) == 0 && !failed() && absl::Now() < until) {
  }
}

absl::StatusOr<Frame> GrpcGroup::Receive(int from, absl::Time deadline) {
  Spin(from, deadline);
  std::shared_ptr<IncomingStream> rested;
  absl::StatusOr<Frame> result = absl::DeadlineExceededError("no frame came");
  {
    MutexLock lock(&mu_);
    Peer& peer = peers_[from];
    const auto ready = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return !failure_.ok() || !peer.frames.empty() || peer.left;
    };
    const auto changed = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return ready() || peer.broken_at != absl::InfiniteFuture();
    };
    mu_.AwaitWithDeadline(changed, deadline);
    if (!ready() && peer.broken_at != absl::InfiniteFuture()) {
      const absl::Time told = peer.broken_at + kReasonComes;
      if (!mu_.AwaitWithDeadline(ready, std::min(deadline, told)) && told <= deadline) {
        return Gone(from, "is gone: its connection broke");
      }
    }
    if (!failure_.ok()) return failure_;
    if (peer.frames.empty()) return peer.left ? Gone(from, "has left the group") : result.status();
    result = std::move(peer.frames.front());
    peer.frames.pop_front();
    waiting_[from].fetch_sub(1, std::memory_order_relaxed);
    peer.waiting_bytes -= result->payload_bytes();
    if (peer.resting && peer.waiting_bytes <= max_waiting_bytes_ / 2) {
      peer.resting = false;
      rested = peer.incoming;
    }
  }
  if (rested != nullptr) rested->Read();
  return result;
}

int64_t GrpcGroup::latest_seq(int from) const {
  MutexLock lock(&mu_);
  return peers_[from].latest_seq;
}

absl::Status GrpcGroup::CheckSend(int to) const {
  MutexLock lock(&mu_);
  if (!failure_.ok()) return failure_;
  return peers_[to].left ? Gone(to, "has left the group") : absl::OkStatus();
}

absl::Status GrpcGroup::AwaitConnected(absl::Time deadline) {
  MutexLock lock(&mu_);
  std::vector<bool> arrived(peers_.size());
  const auto complete = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    bool all = true;
    for (size_t r = 0; r < peers_.size(); ++r) {
      const Peer& peer = peers_[r];
      arrived[r] = static_cast<int>(r) == spec_.rank || (peer.welcomed && (peer.incoming != nullptr || peer.left));
      all = all && arrived[r];
    }
    return all || !failure_.ok();
  };
  const bool done = mu_.AwaitWithDeadline(complete, deadline);
  if (!failure_.ok()) return failure_;
  return done ? absl::OkStatus() : NotComplete(spec_, arrived);
}

bool GrpcGroup::AwaitOutgoingEnd(absl::Time deadline) {
  MutexLock lock(&mu_);
  const auto ended = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return std::none_of(peers_.begin(), peers_.end(), [](const Peer& peer) { return peer.sending; });
  };
  return mu_.AwaitWithDeadline(ended, deadline);
}

bool GrpcGroup::AwaitPeersEnd(absl::Time deadline) {
  MutexLock lock(&mu_);
  const auto ended = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return std::none_of(peers_.begin(), peers_.end(), [](const Peer& peer) { return peer.sending && peer.welcomed; });
  };
  return mu_.AwaitWithDeadline(ended, deadline);
}

}  // namespace cohort
