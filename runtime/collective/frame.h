#ifndef COHORT_RUNTIME_COLLECTIVE_FRAME_H_
#define COHORT_RUNTIME_COLLECTIVE_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/collective/communicator.h"
#include "runtime/tensor/dtype.h"

namespace cohort {

enum class CollectiveKind : uint8_t { kAllReduce, kBroadcast, kAllGather, kBarrier };

// What all ranks must agree on in one collective; the step rides along for messages.
struct CollectiveSignature {
  CollectiveKind kind = CollectiveKind::kBarrier;
  ReduceOp op = ReduceOp::kSum;
  DType dtype = DType::kInvalid;
  int32_t root = 0;
  int64_t count = 0;  // elements of the buffer (all-gather: of the input)
  int64_t step = 0;

  // Whether both ask for the same, the step aside.
  bool Agrees(const CollectiveSignature& other) const;
  // "all-reduce 'grads/0' (sum of float32 [10], step 7)".
  std::string ToString(absl::string_view name) const;
};

// What stands in front of a frame's payload. The frames between two ranks in one collective have a fixed order and are
// numbered by `part`; part 0 opens the collective, is always sent and carries its name.
struct FrameHeader {
  int64_t seq = 0;  // number of the collective in the group, from 1
  int32_t part = 0;
  CollectiveSignature signature;
};

// A frame as it came. The payload lies in pieces where the transport received it, or where the sender lent it, until
// the frame is destroyed.
class Frame {
 public:
  // Frees the payload's memory in its destructor.
  class Memory {
   public:
    virtual ~Memory() = default;
  };

  FrameHeader header;
  std::string name;                        // of the collective; only in part 0
  std::vector<absl::string_view> payload;  // pieces, in order, cut anywhere
  std::unique_ptr<Memory> memory;          // of `payload`

  size_t payload_bytes() const;
};

// Reads a frame's payload from front to back.
class FrameReader {
 public:
  explicit FrameReader(const Frame& frame);

  size_t remaining() const { return remaining_; }
  // What can be read without a copy from here on; empty only at the end.
  absl::string_view Run() const { return run_; }
  void Skip(size_t bytes);            // at most remaining()
  void Copy(void* to, size_t bytes);  // the same, copied

 private:
  const std::vector<absl::string_view>& pieces_;
  size_t next_ = 0;        // piece after `run_`
  absl::string_view run_;  // rest of the current piece
  size_t remaining_ = 0;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_COLLECTIVE_FRAME_H_
