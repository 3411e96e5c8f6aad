#ifndef COHORT_RUNTIME_COLLECTIVE_IN_PROCESS_IN_PROCESS_HUB_H_
#define COHORT_RUNTIME_COLLECTIVE_IN_PROCESS_IN_PROCESS_HUB_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "runtime/base/mutex.h"
#include "runtime/collective/transport.h"

namespace cohort {

// Where the endpoints of one group in one process meet. Frames change hands without a copy: a large frame's payload is
// the sender's own memory until the receiver has let go of the frame. Safe from any thread.
class InProcessHub {
 public:
  explicit InProcessHub(GroupSpec group, absl::Duration spin);

  // Transport of `rank`, which holds the hub. AlreadyExists: that rank was here.
  static absl::StatusOr<std::unique_ptr<Transport>> Attach(std::shared_ptr<InProcessHub> hub, int rank);
  // Waits until all ranks are attached. DeadlineExceeded: names those that are not.
  absl::Status AwaitAll(absl::Time deadline);
  absl::Status Abort(absl::Status reason);  // the reason that won
  const GroupSpec& group() const { return group_; }
  // Whether a rank can still join: neither failed nor left by anybody.
  bool open();

 private:
  class Endpoint;
  class CopiedMemory;
  class LentMemory;
  struct Pair {  // frames from one rank to another
    std::deque<Frame> frames;
    std::atomic<int64_t> sent{0};  // frames, ever: what a spinning receiver watches
    int64_t received = 0;          // by the receiver's thread
    int64_t latest_seq = 0;
  };
  struct Rank {
    bool attached = false;
    bool left = false;
    int64_t lent = 0;  // frames whose memory is still out
  };

  Pair& PairOf(int from, int to) { return pairs_[from * group_.members.size() + to]; }
  absl::Status Push(int from, int to, Frame frame, bool lent);
  absl::StatusOr<Frame> Pop(int from, int to, absl::Time deadline);
  absl::Status Flush(int rank, absl::Time deadline);
  absl::Status Gone(int rank) const;
  void Return(int rank);
  void Leave(int rank);
  int64_t LatestSeq(int from, int to);

  const GroupSpec group_;  // its rank means nothing
  const absl::Duration spin_;
  Mutex mu_;
  absl::Status failure_ ABSL_GUARDED_BY(mu_);
  std::atomic<bool> failed_{false};
  std::vector<Rank> ranks_ ABSL_GUARDED_BY(mu_);
  std::vector<Pair> pairs_;  // [from * n + to]; `sent` is atomic, the rest guarded by mu_
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_COLLECTIVE_IN_PROCESS_IN_PROCESS_HUB_H_
