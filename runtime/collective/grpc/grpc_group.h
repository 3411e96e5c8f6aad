#ifndef COHORT_RUNTIME_COLLECTIVE_GRPC_GRPC_GROUP_H_
#define COHORT_RUNTIME_COLLECTIVE_GRPC_GRPC_GROUP_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/base/mutex.h"
#include "runtime/collective/frame.h"
#include "runtime/collective/group.h"

namespace cohort {

class IncomingStream;

// What the streams of one rank's group and its transport share: what came, who is connected, the first failure.
// Held by all of them, because gRPC ends streams when it likes. Safe from any thread; never called by a stream that
// holds its own lock, and calls streams without holding its lock.
class GrpcGroup {
 public:
  GrpcGroup(const GroupSpec& spec, absl::Duration spin);

  const GroupSpec& spec() const { return spec_; }

  // The stream on which rank `from` sends. AlreadyExists: there is one. Or the group's failure.
  absl::Status Attach(int from, std::shared_ptr<IncomingStream> stream);
  // The peer took our hello: it has joined the group.
  void OnWelcome(int to);
  // A frame came. False: enough is waiting; the stream rests until Receive calls its Read.
  bool OnFrame(int from, Frame frame);
  // Rank `from` left in peace: nothing more comes, all it sent has come.
  void OnGoodbye(int from);
  // The stream from that rank ended otherwise. Why, the stream to it will tell: Receive waits a little for that.
  void OnIncomingBroken(int from);
  // The stream to rank `to` ended: ok if the peer has left, what the peer answered, or Unavailable. Last call for `to`.
  void OnOutgoingEnd(int to, absl::Status status);

  // The first failure wins and is returned; the others are told.
  absl::Status Fail(absl::Status reason);

  // See Transport.
  absl::StatusOr<Frame> Receive(int from, absl::Time deadline);
  int64_t latest_seq(int from) const;
  // Whether something can be sent to `to`: the failure, or Unavailable if that rank has left.
  absl::Status CheckSend(int to) const;

  // Waits until every peer has welcomed us and has its stream here. DeadlineExceeded: names those that have not.
  absl::Status AwaitConnected(absl::Time deadline);
  // Waits until no stream to a peer is under way.
  bool AwaitOutgoingEnd(absl::Time deadline);
  // The same for streams to peers that have joined: those end them when they learn that the group has failed.
  bool AwaitPeersEnd(absl::Time deadline);
  void OnOutgoingStart(int to);
  // Ends the streams from the peers in peace, unless the group has failed.
  void Leave();
  // The first failure; ok if there is none or the group was left in peace.
  absl::Status failure() const;
  bool failed() const { return failed_.load(std::memory_order_acquire); }

 private:
  struct Peer {
    std::deque<Frame> frames;
    size_t waiting_bytes = 0;  // in `frames`
    int64_t latest_seq = 0;
    std::shared_ptr<IncomingStream> incoming;
    bool resting = false;  // `incoming` waits for Read
    bool welcomed = false;
    bool sending = false;  // the stream to it is under way
    bool left = false;
    absl::Time broken_at = absl::InfiniteFuture();
  };

  absl::Status Gone(int rank, absl::string_view why) const;
  void Spin(int from, absl::Time deadline) const;
  std::vector<std::shared_ptr<IncomingStream>> TakeIncoming();

  const GroupSpec spec_;
  const absl::Duration spin_;
  const size_t max_waiting_bytes_;  // of one peer
  mutable Mutex mu_;
  absl::Status failure_ ABSL_GUARDED_BY(mu_);
  bool left_ ABSL_GUARDED_BY(mu_) = false;  // by Leave, which is no failure
  std::vector<Peer> peers_ ABSL_GUARDED_BY(mu_);
  std::atomic<bool> failed_{false};
  std::vector<std::atomic<int64_t>> waiting_;  // frames of each peer, for spinning
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_COLLECTIVE_GRPC_GRPC_GROUP_H_
