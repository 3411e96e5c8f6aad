#include "runtime/collective/frame.h"

#include <cstring>

#include "absl/strings/str_cat.h"

namespace cohort {
namespace {

absl::string_view KindName(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return "all-reduce";
    case CollectiveKind::kBroadcast:
      return "broadcast";
    case CollectiveKind::kAllGather:
      return "all-gather";
    case CollectiveKind::kBarrier:
      return "barrier";
  }
  return "unknown collective";
}

absl::string_view OpName(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return "sum";
    case ReduceOp::kMin:
      return "min";
    case ReduceOp::kMax:
      return "max";
    case ReduceOp::kProd:
      return "product";
  }
  return "unknown reduction";
}

}  // namespace

bool CollectiveSignature::Agrees(const CollectiveSignature& other) const {
  return kind == other.kind && op == other.op && dtype == other.dtype && root == other.root && count == other.count;
}

std::string CollectiveSignature::ToString(absl::string_view name) const {
  std::string text = absl::StrCat(KindName(kind), " '", name, "' (");
  if (kind == CollectiveKind::kAllReduce) absl::StrAppend(&text, OpName(op), " of ");
  if (kind != CollectiveKind::kBarrier) absl::StrAppend(&text, DTypeName(dtype), " [", count, "], ");
  if (kind == CollectiveKind::kBroadcast) absl::StrAppend(&text, "from rank ", root, ", ");
  absl::StrAppend(&text, "step ", step, ")");
  return text;
}

size_t Frame::payload_bytes() const {
  size_t bytes = 0;
  for (const absl::string_view piece : payload) bytes += piece.size();
  return bytes;
}

FrameReader::FrameReader(const Frame& frame) : pieces_(frame.payload), remaining_(frame.payload_bytes()) { Skip(0); }

void FrameReader::Skip(size_t bytes) {
  remaining_ -= bytes;
  while (bytes >= run_.size()) {
    bytes -= run_.size();
    run_ = {};
    if (next_ == pieces_.size()) return;
    run_ = pieces_[next_++];
  }
  run_.remove_prefix(bytes);
}

void FrameReader::Copy(void* to, size_t bytes) {
  char* out = static_cast<char*>(to);
  while (bytes > 0) {
    const size_t part = bytes < run_.size() ? bytes : run_.size();
    std::memcpy(out, run_.data(), part);
    Skip(part);
    out += part;
    bytes -= part;
  }
}

}  // namespace cohort
