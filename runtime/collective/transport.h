#ifndef COHORT_RUNTIME_COLLECTIVE_TRANSPORT_H_
#define COHORT_RUNTIME_COLLECTIVE_TRANSPORT_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/collective/frame.h"
#include "runtime/collective/group.h"

namespace cohort {

// Moves frames between the ranks of one group. The algorithms (direct_exchange.h) exist once, over this.
//
// Frames between a pair arrive in the order they were sent, or the group fails. The first failure wins: all waits end
// with it and all later calls return it. Used by one thread at a time; only Abort may come from another. The destructor
// says goodbye: peers that still wait for this rank get Unavailable, those that do not notice nothing.
class Transport {
 public:
  virtual ~Transport() = default;

  // Frames up to this size are copied by Send; larger ones lend their memory.
  static constexpr size_t kCopyBytes = 32 << 10;

  // Hands a frame to the transport; does not wait for the peer. `name` goes with part 0 only.
  virtual absl::Status Send(int to, const FrameHeader& header, absl::string_view name, absl::string_view payload) = 0;
  // Waits for the next frame from `from`.
  //   Unavailable: the peer is gone; FirstCause names it.  DeadlineExceeded: nothing came (the group goes on: the
  //   caller decides).  Others: the reason of an Abort here or there.
  virtual absl::StatusOr<Frame> Receive(int from, absl::Time deadline) = 0;
  // Waits until all memory lent by Send is free again, in a failed group too.
  virtual absl::Status Flush(absl::Time deadline) = 0;
  // Fails the group, here and on the other ranks; returns the reason that won. Does not block. From any thread.
  virtual absl::Status Abort(absl::Status reason) = 0;

  // Number of the latest collective of which a frame has come from `from`, whether received or still waiting.
  virtual int64_t latest_seq(int from) const = 0;
  virtual const GroupSpec& group() const = 0;
  virtual int64_t bytes_sent() const = 0;  // payload, since it was made
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_COLLECTIVE_TRANSPORT_H_
