#ifndef COHORT_RUNTIME_COLLECTIVE_GRPC_GRPC_TRANSPORT_H_
#define COHORT_RUNTIME_COLLECTIVE_GRPC_GRPC_TRANSPORT_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/collective/exchange_options.h"
#include "runtime/collective/grpc/grpc_group.h"
#include "runtime/collective/grpc/outgoing_stream.h"
#include "runtime/collective/grpc/wire_format.h"
#include "runtime/collective/transport.h"

namespace cohort {

// The streams of one rank to its peers. What the peers send comes to the GrpcGroup.
class GrpcTransport final : public Transport {
 public:
  // `on_end` is called once, by the destructor, when no stream is left.
  GrpcTransport(std::shared_ptr<GrpcGroup> group, std::function<void()> on_end);
  // Says goodbye and waits, for a few seconds at most, until the peers have read all that was sent.
  ~GrpcTransport() override;

  // Connects to all peers; does not wait for them. Once.
  void Dial(const std::function<std::shared_ptr<grpc::Channel>(const std::string& address)>& make_channel,
            const ExchangeOptions& options);

  absl::Status Send(int to, const FrameHeader& header, absl::string_view name, absl::string_view payload) override;
  absl::StatusOr<Frame> Receive(int from, absl::Time deadline) override { return group_->Receive(from, deadline); }
  absl::Status Flush(absl::Time deadline) override;
  absl::Status Abort(absl::Status reason) override { return group_->Fail(std::move(reason)); }
  int64_t latest_seq(int from) const override { return group_->latest_seq(from); }
  const GroupSpec& group() const override { return group_->spec(); }
  int64_t bytes_sent() const override { return bytes_sent_.load(std::memory_order_relaxed); }

 private:
  // Of a group that has failed or is left: nothing will be sent any more.
  void EndOutgoing();

  const std::shared_ptr<GrpcGroup> group_;  // shared with the streams, which gRPC ends when it likes
  const std::function<void()> on_end_;
  const std::shared_ptr<LendingLedger> ledger_;
  std::vector<std::unique_ptr<OutgoingStream>> outgoing_;  // by rank, our own is empty; none after a failure
  std::atomic<int64_t> bytes_sent_{0};
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_COLLECTIVE_GRPC_GRPC_TRANSPORT_H_
