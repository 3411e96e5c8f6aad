#include "runtime/collective/in_process/in_process_hub.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/first_cause.h"

namespace cohort {

class InProcessHub::CopiedMemory final : public Frame::Memory {
 public:
  explicit CopiedMemory(absl::string_view bytes) : bytes_(bytes) {}
  absl::string_view bytes() const { return bytes_; }

 private:
  const std::string bytes_;
};

// Tells the sender that its memory is free again.
class InProcessHub::LentMemory final : public Frame::Memory {
 public:
  LentMemory(std::shared_ptr<InProcessHub> hub, int sender) : hub_(std::move(hub)), sender_(sender) {}
  ~LentMemory() override { hub_->Return(sender_); }

 private:
  const std::shared_ptr<InProcessHub> hub_;  // a frame may be held longer than both endpoints
  const int sender_;
};

class InProcessHub::Endpoint final : public Transport {
 public:
  Endpoint(std::shared_ptr<InProcessHub> hub, int rank) : hub_(std::move(hub)), group_(hub_->group()) {
    group_.rank = rank;
  }
  ~Endpoint() override { hub_->Leave(group_.rank); }

  absl::Status Send(int to, const FrameHeader& header, absl::string_view name, absl::string_view payload) override {
    Frame frame;
    frame.header = header;
    frame.name = std::string(name);
    const bool lent = payload.size() > kCopyBytes;
    if (lent) {
      frame.payload = {payload};
      frame.memory = std::make_unique<LentMemory>(hub_, group_.rank);
    } else if (!payload.empty()) {
      auto copy = std::make_unique<CopiedMemory>(payload);
      frame.payload = {copy->bytes()};
      frame.memory = std::move(copy);
    }
    bytes_sent_.fetch_add(static_cast<int64_t>(payload.size()), std::memory_order_relaxed);
    return hub_->Push(group_.rank, to, std::move(frame), lent);
  }
  absl::StatusOr<Frame> Receive(int from, absl::Time deadline) override {
    return hub_->Pop(from, group_.rank, deadline);
  }
  absl::Status Flush(absl::Time deadline) override { return hub_->Flush(group_.rank, deadline); }
  absl::Status Abort(absl::Status reason) override { return hub_->Abort(std::move(reason)); }
  int64_t latest_seq(int from) const override { return hub_->LatestSeq(from, group_.rank); }
  const GroupSpec& group() const override { return group_; }
  int64_t bytes_sent() const override { return bytes_sent_.load(std::memory_order_relaxed); }

 private:
  const std::shared_ptr<InProcessHub> hub_;  // shared with the other endpoints: the last one ends it
  GroupSpec group_;
  std::atomic<int64_t> bytes_sent_{0};
};

InProcessHub::InProcessHub(GroupSpec group, absl::Duration spin)
    : group_(std::move(group)),
      spin_(spin),
      ranks_(group_.members.size()),
      pairs_(group_.members.size() * group_.members.size()) {}

absl::StatusOr<std::unique_ptr<Transport>> InProcessHub::Attach(std::shared_ptr<InProcessHub> hub, int rank) {
  {
    MutexLock lock(&hub->mu_);
    if (hub->ranks_[rank].attached) {
      return absl::AlreadyExistsError(
          absl::StrCat("rank ", rank, " of the group of ", hub->group_.id.ToString(), " has joined already"));
    }
    hub->ranks_[rank].attached = true;
  }
  return std::make_unique<Endpoint>(std::move(hub), rank);
}

absl::Status InProcessHub::AwaitAll(absl::Time deadline) {
  MutexLock lock(&mu_);
  const auto complete = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (!failure_.ok()) return true;
    for (const Rank& rank : ranks_) {
      if (!rank.attached) return false;
    }
    return true;
  };
  if (mu_.AwaitWithDeadline(complete, deadline)) return failure_;
  std::vector<bool> arrived;
  for (const Rank& rank : ranks_) arrived.push_back(rank.attached);
  return NotComplete(group_, arrived);
}

absl::Status InProcessHub::Abort(absl::Status reason) {
  std::vector<std::deque<Frame>> dropped;  // frames take the lock when they go: after it
  MutexLock lock(&mu_);
  if (!failure_.ok()) return failure_;
  failure_ = std::move(reason);
  failed_.store(true, std::memory_order_release);
  for (Pair& pair : pairs_) dropped.push_back(std::move(pair.frames));
  return failure_;
}

bool InProcessHub::open() {
  MutexLock lock(&mu_);
  if (!failure_.ok()) return false;
  for (const Rank& rank : ranks_) {
    if (rank.left) return false;
  }
  return true;
}

absl::Status InProcessHub::Push(int from, int to, Frame frame, bool lent) {
  Frame refused;  // outlives the lock, which its memory takes
  MutexLock lock(&mu_);
  if (lent) ++ranks_[from].lent;
  if (!failure_.ok() || ranks_[to].left) {
    refused = std::move(frame);
    return !failure_.ok() ? failure_ : Gone(to);
  }
  Pair& pair = PairOf(from, to);
  pair.latest_seq = frame.header.seq;
  pair.frames.push_back(std::move(frame));
  pair.sent.fetch_add(1, std::memory_order_release);
  return absl::OkStatus();
}

absl::StatusOr<Frame> InProcessHub::Pop(int from, int to, absl::Time deadline) {
  Pair& pair = PairOf(from, to);
  if (spin_ > absl::ZeroDuration()) {
    const absl::Time until = std::min(deadline, absl::Now() + spin_);
    while (pair.sent.load(std::memory_order_acquire) == pair.received && !failed_.load(std::memory_order_acquire) &&
           absl::Now() < until) {
    }
  }
  MutexLock lock(&mu_);
  const auto ready = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return !failure_.ok() || !pair.frames.empty() || ranks_[from].left;
  };
  const bool came = mu_.AwaitWithDeadline(ready, deadline);
  if (!failure_.ok()) return failure_;
  if (!came) return absl::DeadlineExceededError(absl::StrCat("no frame from ", group_.members[from].ToString()));
  if (pair.frames.empty()) return Gone(from);
  Frame frame = std::move(pair.frames.front());
  pair.frames.pop_front();
  ++pair.received;
  return frame;
}

absl::Status InProcessHub::Flush(int rank, absl::Time deadline) {
  MutexLock lock(&mu_);
  const auto back = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return ranks_[rank].lent == 0; };
  if (mu_.AwaitWithDeadline(back, deadline)) return absl::OkStatus();
  return absl::DeadlineExceededError(absl::StrCat(ranks_[rank].lent, " frames are not received yet"));
}

absl::Status InProcessHub::Gone(int rank) const {
  absl::Status status = absl::UnavailableError(absl::StrCat(group_.members[rank].ToString(), " has left the group"));
  SetFirstCause(status, Blame(group_.members[rank]));
  return status;
}

void InProcessHub::Return(int rank) {
  MutexLock lock(&mu_);
  --ranks_[rank].lent;
}

void InProcessHub::Leave(int rank) {
  std::vector<std::deque<Frame>> dropped;
  MutexLock lock(&mu_);
  ranks_[rank].left = true;
  for (size_t from = 0; from < ranks_.size(); ++from) dropped.push_back(std::move(PairOf(from, rank).frames));
}

int64_t InProcessHub::LatestSeq(int from, int to) {
  MutexLock lock(&mu_);
  return PairOf(from, to).latest_seq;
}

}  // namespace cohort
