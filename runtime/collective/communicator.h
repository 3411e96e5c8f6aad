#ifndef COHORT_RUNTIME_COLLECTIVE_COMMUNICATOR_H_
#define COHORT_RUNTIME_COLLECTIVE_COMMUNICATOR_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/tensor/host_span.h"

namespace cohort {

// What the call is, for deadlines and messages. `name` outlives the call.
struct CollectiveContext {
  absl::string_view name;  // "grads/0", "header"; at most 4096 bytes
  int64_t step = 0;
  absl::Time deadline = absl::InfinitePast();
};

// A fixed group of ranks that act together; rank = replica. All ranks make the same calls in the same order, numbered
// by seq from 1. Used by one thread at a time; only Abort may come from another.
//
// Every call is a meeting of all ranks: none returns before all have made it. The memory of a call is the caller's
// again when the call returns, with an error too.
//
// Numbers: each element is folded by one owner, in rank order, from the unfolded contributions of all ranks, so
// chunking and transport never change bits. 16-bit floats accumulate in float32 and are rounded once. Integers wrap.
// Min and max of a NaN with anything is that NaN.
//
// Errors: Unavailable (a peer is gone) and DeadlineExceeded (alive but absent) carry FirstCause with seq, name, arrived
// and missing, the same on all ranks that the error can still reach. InvalidArgument: ranks disagree about op, dtype,
// count, root or name (says both and the position), or a dtype without numbers. Other codes: what Abort was given here
// or on another rank. The group is unusable afterwards: every later call returns the first error.
class Communicator {
 public:
  virtual ~Communicator() = default;
  // Reduces element-wise over all ranks, in place; every rank ends with identical bytes.
  virtual absl::Status AllReduce(HostSpan buffer, ReduceOp op, const CollectiveContext& context) = 0;
  // Copies rank `root`'s buffer into every other rank's.
  virtual absl::Status Broadcast(HostSpan buffer, int root, const CollectiveContext& context) = 0;
  // Rank r's `input` becomes elements [r * input.count, (r + 1) * input.count) of every rank's `output`. Inputs have
  // one length on all ranks; `input` may be its own place in `output`, but not overlap another.
  virtual absl::Status AllGather(HostSpan input, HostSpan output, const CollectiveContext& context) = 0;
  virtual absl::Status Barrier(const CollectiveContext& context) = 0;
  // Makes pending and later calls return `reason`, here and on the other ranks. Does not block. The first reason wins.
  virtual void Abort(absl::Status reason) = 0;

  virtual int rank() const = 0;
  virtual int world_size() const = 0;
  virtual int64_t bytes_sent() const = 0;  // payload, since it was made
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_COLLECTIVE_COMMUNICATOR_H_
