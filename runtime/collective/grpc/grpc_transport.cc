#include "runtime/collective/grpc/grpc_transport.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"
#include "runtime/base/status_macros.h"
#include "runtime/collective/grpc/hello.h"

namespace cohort {
namespace {

constexpr absl::Duration kGoodbye = absl::Seconds(5);
// A peer that has learned why the group failed ends our stream. Until all have, this process must not go: connections
// that break while the reason is on its way would make it look like the culprit.
constexpr absl::Duration kPeersKnow = absl::Seconds(1);
constexpr absl::Duration kLook = absl::Milliseconds(20);  // whether the group has failed while memory is lent
constexpr absl::Duration kCancelled = absl::Seconds(60);  // takes microseconds: gRPC asks nobody

}  // namespace

GrpcTransport::GrpcTransport(std::shared_ptr<GrpcGroup> group, std::function<void()> on_end)
    : group_(std::move(group)), on_end_(std::move(on_end)), ledger_(std::make_shared<LendingLedger>()) {}

GrpcTransport::~GrpcTransport() {
  if (!group_->failed()) {
    for (const auto& stream : outgoing_) {
      if (stream != nullptr) stream->Send(EncodeGoodbye());
    }
    group_->AwaitOutgoingEnd(absl::Now() + kGoodbye);
  }
  group_->Leave();
  EndOutgoing();
  on_end_();
}

void GrpcTransport::Dial(const std::function<std::shared_ptr<grpc::Channel>(const std::string& address)>& make_channel,
                         const ExchangeOptions& options) {
  const GroupSpec& spec = group_->spec();
  outgoing_.resize(spec.members.size());
  for (int to = 0; to < static_cast<int>(spec.members.size()); ++to) {
    if (to == spec.rank) continue;
    outgoing_[to] = std::make_unique<OutgoingStream>(group_, to, make_channel(spec.members[to].address));
    outgoing_[to]->Start(EncodeHello(spec, to, options));
  }
}

absl::Status GrpcTransport::Send(int to, const FrameHeader& header, absl::string_view name, absl::string_view payload) {
  COHORT_RETURN_IF_ERROR(group_->CheckSend(to));
  const bool lend = payload.size() > kCopyBytes;
  outgoing_[to]->Send(EncodeFrame(header, name, payload, lend ? ledger_ : nullptr));
  bytes_sent_.fetch_add(static_cast<int64_t>(payload.size()), std::memory_order_relaxed);
  return absl::OkStatus();
}

absl::Status GrpcTransport::Flush(absl::Time deadline) {
  const auto late = [] { return absl::DeadlineExceededError("what was sent is not read by the peers"); };
  while (!group_->failed()) {
    const absl::Time now = absl::Now();
    if (ledger_->AwaitNone(std::min(deadline, now + kLook))) return absl::OkStatus();
    if (now >= deadline) return late();
  }
  // gRPC keeps what waits for the peer's window until the call itself is freed.
  EndOutgoing();
  return ledger_->AwaitNone(deadline) ? absl::OkStatus() : late();
}

void GrpcTransport::EndOutgoing() {
  group_->AwaitPeersEnd(absl::Now() + kPeersKnow);
  for (const auto& stream : outgoing_) {
    if (stream != nullptr) stream->Cancel();
  }
  COHORT_CHECK(group_->AwaitOutgoingEnd(absl::Now() + kCancelled), "a cancelled stream did not end");
  outgoing_.clear();
}

}  // namespace cohort
