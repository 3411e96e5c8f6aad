#ifndef COHORT_RUNTIME_REMOTE_ATTEND_STREAM_H_
#define COHORT_RUNTIME_REMOTE_ATTEND_STREAM_H_

#include <grpcpp/client_context.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "proto/membership.grpc.pb.h"
#include "runtime/base/mutex.h"

namespace cohort {

// One attempt at a member's stream to the leader. Keeps itself alive until gRPC has closed it. Safe from any thread.
class AttendStream final : public grpc::ClientBidiReactor<wire::AttendRequest, wire::AttendResponse>,
                           public std::enable_shared_from_this<AttendStream> {
 public:
  // Called on gRPC's threads, one at a time; must not block. `closed` is the last call.
  struct Events {
    std::function<void(wire::AttendResponse)> received;
    std::function<void(const grpc::Status&)> closed;
  };

  // Opens the stream and sends `first`.
  static std::shared_ptr<AttendStream> Open(wire::MembershipService::Stub& stub, wire::AttendRequest first,
                                            Events events);

  // Sends after what is queued. Dropped once the stream has broken.
  void Send(wire::AttendRequest request);
  // Whether all that was queued has been sent.
  bool idle() const;
  void Cancel();

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

 private:
  explicit AttendStream(Events events) : events_(std::move(events)) {}
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Events events_;
  wire::AttendResponse response_;
  mutable Mutex mu_;
  std::optional<grpc::ClientContext> context_;                  // under mu_; until OnDone (see Calls)
  std::deque<wire::AttendRequest> queue_ ABSL_GUARDED_BY(mu_);  // the first one is being sent
  bool broken_ ABSL_GUARDED_BY(mu_) = false;
  std::shared_ptr<AttendStream> self_;  // until OnDone
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_REMOTE_ATTEND_STREAM_H_
