#ifndef COHORT_RUNTIME_COLLECTIVE_TRANSPORT_H_
#define COHORT_RUNTIME_COLLECTIVE_TRANSPORT_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace cohort {

// Moves bytes between the ranks of one group. The algorithms (direct_exchange.h) exist once, over this.
//
// Frames between a pair arrive in the order they were sent. Each carries a tag; a receiver that finds another tag than
// it expects has a peer that runs another collective.
class Transport {
 public:
  // Identifies a frame: what both sides compute from the collective they are in.
  struct Tag {
    int64_t seq = 0;         // number of the collective in the group
    uint64_t signature = 0;  // hash of op, dtype, count: differs if the ranks disagree
    int32_t chunk = 0;
    friend bool operator==(const Tag&, const Tag&) = default;
  };

  virtual ~Transport() = default;
  // Lends `data` to the transport until `Flush` of that peer, or the destructor, returns. Does not wait for the peer.
  virtual absl::Status Send(int to, Tag tag, const void* data, size_t bytes) = 0;
  // Waits for the next frame from `from` and copies it. InvalidArgument: another tag or size came (names both).
  // Unavailable: the peer is gone. DeadlineExceeded: nothing came.
  virtual absl::Status Receive(int from, Tag tag, void* data, size_t bytes, absl::Time deadline) = 0;
  // Waits until everything sent to `to` has left the lent memory.
  virtual absl::Status Flush(int to, absl::Time deadline) = 0;
  // Wakes everything that waits with `reason`; later calls return it too. From any thread.
  virtual void Abort(absl::Status reason) = 0;

  virtual int rank() const = 0;
  virtual int world_size() const = 0;
  virtual int64_t bytes_sent() const = 0;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_COLLECTIVE_TRANSPORT_H_
