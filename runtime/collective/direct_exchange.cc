#include "runtime/collective/direct_exchange.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/first_cause.h"
#include "runtime/base/log.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status_macros.h"
#include "runtime/collective/collective_call.h"
#include "runtime/collective/fold.h"

namespace cohort {
namespace {

constexpr size_t kMaxNameBytes = 4096;
// After a failure: connections are cut at once, and what a stuck peer holds back goes with its connection.
constexpr absl::Duration kMemoryBack = absl::Seconds(60);

// One contiguous part of a buffer, cut into pieces of one frame each.
struct Segment {
  char* data = nullptr;
  size_t bytes = 0;
  size_t piece = 1;  // bytes

  int pieces() const { return static_cast<int>((bytes + piece - 1) / piece); }
  // Frames that carry it when the first must be sent even if it is empty, because it opens the collective.
  int opening_parts() const { return std::max(1, pieces()); }
  absl::string_view Piece(int k) const {
    const size_t begin = std::min(bytes, k * piece);
    return {data + begin, std::min(piece, bytes - begin)};
  }
};

class DirectExchange final : public Communicator {
 public:
  DirectExchange(std::unique_ptr<Transport> transport, const ExchangeOptions& options)
      : transport_(std::move(transport)),
        options_(options),
        rank_(transport_->group().rank),
        size_(static_cast<int>(transport_->group().members.size())) {}

  absl::Status AllReduce(HostSpan buffer, ReduceOp op, const CollectiveContext& context) override;
  absl::Status Broadcast(HostSpan buffer, int root, const CollectiveContext& context) override;
  absl::Status AllGather(HostSpan input, HostSpan output, const CollectiveContext& context) override;
  absl::Status Barrier(const CollectiveContext& context) override;
  void Abort(absl::Status reason) override;
  int rank() const override { return rank_; }
  int world_size() const override { return size_; }
  int64_t bytes_sent() const override { return transport_->bytes_sent(); }

 private:
  absl::StatusOr<CollectiveCall> Begin(CollectiveKind kind, HostSpan buffer, const CollectiveContext& context);
  absl::Status End(const CollectiveCall& call, absl::Status status);
  absl::Status Fail(const CollectiveCall& call, absl::Status status);

  absl::Status Send(const CollectiveCall& call, int to, int part, absl::string_view payload);
  absl::StatusOr<Frame> Next(const CollectiveCall& call, int from, int part, size_t bytes);
  absl::Status CopyNext(const CollectiveCall& call, int from, int part, absl::string_view to);
  // Visits the other ranks, each rank in another order, so that not all turn to the same one at once.
  int Other(int i) const { return (rank_ + i) % size_; }

  absl::Status ReduceSmall(const CollectiveCall& call, HostSpan buffer);
  absl::Status ReduceLarge(const CollectiveCall& call, HostSpan buffer);
  absl::Status SendParts(const CollectiveCall& call, const std::vector<Segment>& segments);
  absl::Status FoldOwn(const CollectiveCall& call, const std::vector<Segment>& segments);
  absl::Status CollectFolded(const CollectiveCall& call, const std::vector<Segment>& segments);
  absl::Status FoldNext(const CollectiveCall& call, int part, absl::string_view own);
  absl::Status BroadcastTo(const CollectiveCall& call, HostSpan buffer, int root);
  absl::Status GatherInto(const CollectiveCall& call, HostSpan input, HostSpan output);

  Segment Cut(HostSpan buffer, int64_t begin, int64_t count) const;

  const std::unique_ptr<Transport> transport_;
  const ExchangeOptions options_;
  const int rank_;
  const int size_;
  int64_t seq_ = 0;
  Mutex mu_;
  absl::Status failure_ ABSL_GUARDED_BY(mu_);
};

Segment DirectExchange::Cut(HostSpan buffer, int64_t begin, int64_t count) const {
  const size_t element = DTypeSize(buffer.dtype);
  Segment segment;
  segment.data = static_cast<char*>(buffer.data) + begin * element;
  segment.bytes = count * element;
  segment.piece = std::max<size_t>(1, options_.piece_bytes / element) * element;
  return segment;
}

absl::StatusOr<CollectiveCall> DirectExchange::Begin(CollectiveKind kind, HostSpan buffer,
                                                     const CollectiveContext& context) {
  {
    MutexLock lock(&mu_);
    if (!failure_.ok()) return failure_;
  }
  CollectiveCall call;
  call.seq = ++seq_;
  call.signature.kind = kind;
  call.signature.dtype = buffer.dtype;
  call.signature.count = buffer.count;
  call.signature.step = context.step;
  call.name = context.name.substr(0, kMaxNameBytes);
  call.deadline = context.deadline;
  if (kind != CollectiveKind::kBarrier && (DTypeSize(buffer.dtype) == 0 || buffer.count < 0)) {
    return Fail(call, absl::InvalidArgumentError(absl::StrCat(call.ToString(), ": not an array of numbers")));
  }
  return call;
}

absl::Status DirectExchange::End(const CollectiveCall& call, absl::Status status) {
  if (status.ok()) status = transport_->Flush(call.deadline);
  if (!status.ok()) return Fail(call, std::move(status));
  MutexLock lock(&mu_);
  return failure_;  // not ok: aborted while it waited for its memory
}

absl::Status DirectExchange::Fail(const CollectiveCall& call, absl::Status status) {
  const absl::Status winner = WithPosition(transport_->Abort(std::move(status)), call, *transport_);
  if (const absl::Status back = transport_->Flush(absl::Now() + kMemoryBack); !back.ok()) {
    LogError("collective", absl::StrCat(call.ToString(), ": memory is still being sent: ", back.ToString()));
  }
  MutexLock lock(&mu_);
  if (failure_.ok()) failure_ = winner;
  return failure_;
}

void DirectExchange::Abort(absl::Status reason) {
  if (reason.ok()) reason = absl::CancelledError("the group was ended");
  absl::Status winner = transport_->Abort(std::move(reason));
  MutexLock lock(&mu_);
  if (failure_.ok()) failure_ = std::move(winner);
}

absl::Status DirectExchange::Send(const CollectiveCall& call, int to, int part, absl::string_view payload) {
  FrameHeader header;
  header.seq = call.seq;
  header.part = part;
  header.signature = call.signature;
  return transport_->Send(to, header, part == 0 ? call.name : absl::string_view(), payload);
}

absl::StatusOr<Frame> DirectExchange::Next(const CollectiveCall& call, int from, int part, size_t bytes) {
  absl::StatusOr<Frame> frame = transport_->Receive(from, call.deadline);
  if (!frame.ok()) {
    if (absl::IsDeadlineExceeded(frame.status()) && !GetFirstCause(frame.status()).has_value()) {
      return Late(call, *transport_, from);
    }
    return frame;
  }
  const FrameHeader& header = frame->header;
  const bool opens = part == 0 && header.part == 0 && header.seq == call.seq;
  if (opens && !(header.signature.Agrees(call.signature) && frame->name == call.name)) {
    return Mismatch(call, transport_->group(), from, *frame);
  }
  if (header.seq != call.seq || header.part != part || frame->payload_bytes() != bytes) {
    return absl::InternalError(absl::StrCat(call.ToString(), ": part ", part, " of ", bytes, " bytes expected from ",
                                            transport_->group().members[from].ToString(), ", part ", header.part,
                                            " of operation ", header.seq, " with ", frame->payload_bytes(),
                                            " bytes came"));
  }
  return frame;
}

absl::Status DirectExchange::CopyNext(const CollectiveCall& call, int from, int part, absl::string_view to) {
  COHORT_ASSIGN_OR_RETURN(const Frame frame, Next(call, from, part, to.size()));
  FrameReader(frame).Copy(const_cast<char*>(to.data()), to.size());
  return absl::OkStatus();
}

absl::Status DirectExchange::AllReduce(HostSpan buffer, ReduceOp op, const CollectiveContext& context) {
  COHORT_ASSIGN_OR_RETURN(CollectiveCall call, Begin(CollectiveKind::kAllReduce, buffer, context));
  call.signature.op = op;
  if (size_ == 1) return absl::OkStatus();
  const size_t small = std::min<size_t>(options_.small_bytes, Transport::kCopyBytes);
  return End(call, buffer.bytes() <= small ? ReduceSmall(call, buffer) : ReduceLarge(call, buffer));
}

// One round: everybody folds everything.
absl::Status DirectExchange::ReduceSmall(const CollectiveCall& call, HostSpan buffer) {
  const absl::string_view own(static_cast<const char*>(buffer.data), buffer.bytes());
  for (int i = 1; i < size_; ++i) {
    COHORT_RETURN_IF_ERROR(Send(call, Other(i), 0, own));
  }
  return FoldNext(call, 0, own);
}

// Takes the others' frame `part` and folds them with this rank's `own` bytes, in place, in rank order.
absl::Status DirectExchange::FoldNext(const CollectiveCall& call, int part, absl::string_view own) {
  std::vector<Frame> frames(size_);  // by rank; our own stays empty
  for (int r = 0; r < size_; ++r) {
    if (r == rank_) continue;
    COHORT_ASSIGN_OR_RETURN(frames[r], Next(call, r, part, own.size()));
  }
  std::vector<FrameReader> readers(frames.begin(), frames.end());
  std::vector<const char*> parts(size_);
  std::vector<std::array<char, 8>> torn(size_);  // an element that lies in two pieces
  const size_t element = DTypeSize(call.signature.dtype);
  const FoldFunction fold = FindFold(call.signature.dtype, call.signature.op);
  char* out = const_cast<char*>(own.data());
  for (char* const end = out + own.size(); out < end;) {
    size_t count = std::min<size_t>(kFoldElements, (end - out) / element);
    for (int r = 0; r < size_; ++r) {
      if (r != rank_) count = std::min(count, readers[r].Run().size() / element);
    }
    count = std::max<size_t>(count, 1);
    for (int r = 0; r < size_; ++r) {
      if (r == rank_) {
        parts[r] = out;
      } else if (readers[r].Run().size() < count * element) {
        readers[r].Copy(torn[r].data(), element);
        parts[r] = torn[r].data();
      } else {
        parts[r] = readers[r].Run().data();
        readers[r].Skip(count * element);
      }
    }
    fold(parts, count, out);
    out += count * element;
  }
  return absl::OkStatus();
}

// Frames to rank q: the pieces of q's segment, then the folded pieces of ours.
absl::Status DirectExchange::ReduceLarge(const CollectiveCall& call, HostSpan buffer) {
  std::vector<Segment> segments;  // by owner
  const int64_t each = buffer.count / size_;
  const int64_t rest = buffer.count % size_;
  int64_t begin = 0;
  for (int r = 0; r < size_; ++r) {
    const int64_t count = each + (r < rest ? 1 : 0);
    segments.push_back(Cut(buffer, begin, count));
    begin += count;
  }
  COHORT_RETURN_IF_ERROR(SendParts(call, segments));
  COHORT_RETURN_IF_ERROR(FoldOwn(call, segments));
  return CollectFolded(call, segments);
}

absl::Status DirectExchange::SendParts(const CollectiveCall& call, const std::vector<Segment>& segments) {
  const int parts = segments[0].opening_parts();  // no segment is longer than the first
  for (int k = 0; k < parts; ++k) {
    for (int i = 1; i < size_; ++i) {
      const Segment& segment = segments[Other(i)];
      if (k >= segment.opening_parts()) continue;
      COHORT_RETURN_IF_ERROR(Send(call, Other(i), k, segment.Piece(k)));
    }
  }
  return absl::OkStatus();
}

absl::Status DirectExchange::FoldOwn(const CollectiveCall& call, const std::vector<Segment>& segments) {
  const Segment& own = segments[rank_];
  for (int k = 0; k < own.opening_parts(); ++k) {
    COHORT_RETURN_IF_ERROR(FoldNext(call, k, own.Piece(k)));
    if (k == own.pieces()) break;  // an empty segment: nothing to send
    for (int i = 1; i < size_; ++i) {
      const int to = Other(i);
      COHORT_RETURN_IF_ERROR(Send(call, to, segments[to].opening_parts() + k, own.Piece(k)));
    }
  }
  return absl::OkStatus();
}

absl::Status DirectExchange::CollectFolded(const CollectiveCall& call, const std::vector<Segment>& segments) {
  const int before = segments[rank_].opening_parts();
  for (int k = 0; k < segments[0].pieces(); ++k) {
    for (int i = 1; i < size_; ++i) {
      const Segment& segment = segments[Other(i)];
      if (k >= segment.pieces()) continue;
      COHORT_RETURN_IF_ERROR(CopyNext(call, Other(i), before + k, segment.Piece(k)));
    }
  }
  return absl::OkStatus();
}

absl::Status DirectExchange::Broadcast(HostSpan buffer, int root, const CollectiveContext& context) {
  COHORT_ASSIGN_OR_RETURN(CollectiveCall call, Begin(CollectiveKind::kBroadcast, buffer, context));
  call.signature.root = root;
  if (root < 0 || root >= size_) {
    return Fail(call, absl::InvalidArgumentError(absl::StrCat(call.ToString(), ": there are ", size_, " ranks")));
  }
  if (size_ == 1) return absl::OkStatus();
  return End(call, BroadcastTo(call, buffer, root));
}

// The root sends its pieces to everybody; the others only say that they are there.
absl::Status DirectExchange::BroadcastTo(const CollectiveCall& call, HostSpan buffer, int root) {
  const Segment all = Cut(buffer, 0, buffer.count);
  const int parts = rank_ == root ? all.opening_parts() : 1;
  for (int k = 0; k < parts; ++k) {
    for (int i = 1; i < size_; ++i) {
      COHORT_RETURN_IF_ERROR(Send(call, Other(i), k, rank_ == root ? all.Piece(k) : absl::string_view()));
    }
  }
  for (int i = 1; i < size_; ++i) {
    const int from = Other(i);
    COHORT_RETURN_IF_ERROR(CopyNext(call, from, 0, from == root ? all.Piece(0) : absl::string_view()));
  }
  for (int k = 1; rank_ != root && k < all.pieces(); ++k) {
    COHORT_RETURN_IF_ERROR(CopyNext(call, root, k, all.Piece(k)));
  }
  return absl::OkStatus();
}

absl::Status DirectExchange::AllGather(HostSpan input, HostSpan output, const CollectiveContext& context) {
  COHORT_ASSIGN_OR_RETURN(const CollectiveCall call, Begin(CollectiveKind::kAllGather, input, context));
  if (output.dtype != input.dtype || output.count != input.count * size_) {
    return Fail(call, absl::InvalidArgumentError(absl::StrCat(
                          call.ToString(), ": the output of ", size_, " ranks must be ", DTypeName(input.dtype), " [",
                          input.count * size_, "], not ", DTypeName(output.dtype), " [", output.count, "]")));
  }
  return End(call, GatherInto(call, input, output));
}

absl::Status DirectExchange::GatherInto(const CollectiveCall& call, HostSpan input, HostSpan output) {
  const Segment own = Cut(input, 0, input.count);
  for (int k = 0; k < own.opening_parts(); ++k) {
    for (int i = 1; i < size_; ++i) {
      COHORT_RETURN_IF_ERROR(Send(call, Other(i), k, own.Piece(k)));
    }
  }
  const Segment place = Cut(output, rank_ * input.count, input.count);
  if (place.data != own.data && own.bytes > 0) std::memcpy(place.data, own.data, own.bytes);
  for (int k = 0; k < own.opening_parts(); ++k) {
    for (int i = 1; i < size_; ++i) {
      const Segment theirs = Cut(output, Other(i) * input.count, input.count);
      COHORT_RETURN_IF_ERROR(CopyNext(call, Other(i), k, theirs.Piece(k)));
    }
  }
  return absl::OkStatus();
}

absl::Status DirectExchange::Barrier(const CollectiveContext& context) {
  COHORT_ASSIGN_OR_RETURN(const CollectiveCall call, Begin(CollectiveKind::kBarrier, {}, context));
  for (int i = 1; i < size_; ++i) {
    if (absl::Status sent = Send(call, Other(i), 0, {}); !sent.ok()) return Fail(call, std::move(sent));
  }
  for (int i = 1; i < size_; ++i) {
    if (absl::Status came = CopyNext(call, Other(i), 0, {}); !came.ok()) return Fail(call, std::move(came));
  }
  return absl::OkStatus();
}

}  // namespace

std::unique_ptr<Communicator> MakeDirectExchange(std::unique_ptr<Transport> transport, const ExchangeOptions& options) {
  return std::make_unique<DirectExchange>(std::move(transport), options);
}

}  // namespace cohort
