#include "runtime/formats/tfrecord.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_format.h"
#include "runtime/base/crc32c.h"
#include "runtime/base/status_macros.h"

namespace cohort {
namespace {

constexpr size_t kHeaderBytes = 12;
constexpr size_t kFooterBytes = 4;
constexpr size_t kScanBytes = 64 * 1024;

template <typename T>
T Load(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

uint32_t Masked(const char* bytes, size_t size) { return MaskCrc32c(ExtendCrc32c(0, bytes, size)); }

bool IsHeader(const char* bytes) { return Masked(bytes, 8) == Load<uint32_t>(bytes + 8); }

absl::StatusOr<Compression> Detect(const ReadableFile& file) {
  char head[kHeaderBytes] = {};
  COHORT_ASSIGN_OR_RETURN(const size_t got, file.ReadAt(0, head, sizeof(head)));
  if (got == kHeaderBytes && IsHeader(head)) return Compression::kNone;
  const auto byte = [&](int i) { return static_cast<unsigned char>(head[i]); };
  if (got >= 3 && byte(0) == 0x1f && byte(1) == 0x8b && byte(2) == 8) return Compression::kGzip;
  if (got >= 2 && (byte(0) & 0x8f) == 8 && (byte(0) * 256 + byte(1)) % 31 == 0) return Compression::kZlib;
  return Compression::kNone;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TfRecordReader>> TfRecordReader::Open(const FileSystem& files, const std::string& path,
                                                                     const TfRecordOptions& options) {
  COHORT_ASSIGN_OR_RETURN(std::unique_ptr<ReadableFile> file, files.OpenForRead(path));
  return Create(std::move(file), path, options);
}

absl::StatusOr<std::unique_ptr<TfRecordReader>> TfRecordReader::Create(std::unique_ptr<ReadableFile> file,
                                                                       std::string name,
                                                                       const TfRecordOptions& options) {
  Compression compression = Compression::kNone;
  if (options.compression.has_value()) {
    compression = *options.compression;
  } else {
    COHORT_ASSIGN_OR_RETURN(compression, Detect(*file));
  }
  COHORT_ASSIGN_OR_RETURN(std::unique_ptr<InputStream> stream,
                          InputStream::Create(std::move(file), std::move(name), compression));
  return std::unique_ptr<TfRecordReader>(new TfRecordReader(std::move(stream), options.skip_damaged));
}

absl::Status TfRecordReader::Damaged(absl::string_view how) const {
  return absl::DataLossError(
      absl::StrFormat("'%s' is damaged: record %d at offset %d %s", stream_->name(), record_, offset(), how));
}

absl::StatusOr<std::optional<uint64_t>> TfRecordReader::ReadLength() {
  COHORT_ASSIGN_OR_RETURN(const absl::string_view header, stream_->Peek(kHeaderBytes));
  if (header.empty()) return std::optional<uint64_t>();
  if (header.size() < kHeaderBytes) {
    return Damaged(absl::StrFormat("is cut off: %d of the 12 bytes of its header are there", header.size()));
  }
  if (!IsHeader(header.data())) {
    return Damaged(absl::StrFormat("has a wrong checksum of its length: stored %08x, computed %08x",
                                   Load<uint32_t>(header.data() + 8), Masked(header.data(), 8)));
  }
  const auto length = Load<uint64_t>(header.data());
  const int64_t room = stream_->max_content() - offset() - static_cast<int64_t>(kHeaderBytes + kFooterBytes);
  if (room < 0 || length > static_cast<uint64_t>(room)) {
    return Damaged(absl::StrFormat("is cut off: its length is %d, at most %d bytes are there", length,
                                   std::max<int64_t>(room, 0)));
  }
  return std::optional<uint64_t>(length);
}

absl::StatusOr<bool> TfRecordReader::Next(absl::string_view& record) {
  while (true) {
    const absl::StatusOr<std::optional<uint64_t>> length = ReadLength();
    if (!length.ok() && skip_damaged_ && absl::IsDataLoss(length.status())) {
      COHORT_RETURN_IF_ERROR(Resynchronise());
      continue;
    }
    if (!length.ok()) return length.status();
    if (!length->has_value()) return false;
    const size_t size = **length;
    absl::Status damage;
    absl::StatusOr<absl::string_view> bytes = stream_->Peek(kHeaderBytes + size + kFooterBytes);
    if (!bytes.ok()) {
      damage = bytes.status();
    } else if (bytes->size() < kHeaderBytes + size + kFooterBytes) {
      damage = Damaged(absl::StrFormat("is cut off: it has %d bytes, %d are there", kHeaderBytes + size + kFooterBytes,
                                       bytes->size()));
    } else {
      record = bytes->substr(kHeaderBytes, size);
      const auto stored = Load<uint32_t>(record.data() + size);
      const uint32_t computed = Masked(record.data(), size);
      if (stored == computed) {
        stream_->Consume(kHeaderBytes + size + kFooterBytes);
        ++record_;
        return true;
      }
      damage = Damaged(absl::StrFormat("has a wrong checksum: stored %08x, computed %08x", stored, computed));
    }
    if (!skip_damaged_ || !absl::IsDataLoss(damage)) return damage;
    COHORT_RETURN_IF_ERROR(Resynchronise());
  }
}

absl::Status TfRecordReader::Resynchronise() {
  ++skipped_places_;
  const int64_t begin = offset();
  // What follows may begin anywhere behind the first byte: a length may be what is damaged.
  for (size_t step = 1;;) {
    const absl::StatusOr<absl::string_view> bytes = stream_->Peek(step + kScanBytes);
    if (!bytes.ok()) {  // nothing can follow where a compressed stream breaks
      if (!absl::IsDataLoss(bytes.status())) return bytes.status();
      skipped_bytes_ += offset() - begin;
      return absl::Status(bytes.status());
    }
    if (bytes->size() < step + kHeaderBytes) {
      stream_->Consume(bytes->size());
      break;
    }
    const size_t last = bytes->size() - kHeaderBytes;
    size_t at = step;
    while (at <= last && !IsHeader(bytes->data() + at)) ++at;
    stream_->Consume(std::min(at, last + 1));
    if (at <= last) break;
    step = 0;
  }
  skipped_bytes_ += offset() - begin;
  return absl::OkStatus();
}

absl::StatusOr<int64_t> TfRecordReader::Skip(int64_t count) {
  int64_t done = 0;
  for (absl::string_view record; skip_damaged_ && done < count; ++done) {
    COHORT_ASSIGN_OR_RETURN(const bool more, Next(record));
    if (!more) return done;
  }
  for (; done < count; ++done) {
    COHORT_ASSIGN_OR_RETURN(const std::optional<uint64_t> length, ReadLength());
    if (!length.has_value()) break;
    const auto size = static_cast<int64_t>(kHeaderBytes + *length + kFooterBytes);
    const int64_t begin = offset();
    COHORT_ASSIGN_OR_RETURN(const int64_t skipped, stream_->Skip(size));
    if (skipped < size) {
      return absl::DataLossError(absl::StrFormat("'%s' is damaged: record %d at offset %d is cut off: %d of %d bytes",
                                                 stream_->name(), record_, begin, skipped, size));
    }
    ++record_;
  }
  return done;
}

}  // namespace cohort
