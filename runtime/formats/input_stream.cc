#include "runtime/formats/input_stream.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "runtime/base/status_macros.h"

namespace cohort {
namespace {

// Half of it fits into a core's cache next to what the reader makes of it.
constexpr size_t kBufferBytes = 256 * 1024;
// Deflate makes at most 1032 bytes from one.
constexpr int64_t kMaxInflation = 1032;

// Where a stream's bytes come from.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills `out` and sets `got`: fewer bytes than `size` only at the end, or before the place of an error.
  virtual absl::Status Read(char* out, size_t size, size_t& got) = 0;
  // Moves over up to `size` bytes; returns how many.
  virtual absl::StatusOr<int64_t> Skip(int64_t size) = 0;
};

class FileSource final : public ByteSource {
 public:
  explicit FileSource(std::unique_ptr<ReadableFile> file) : file_(std::move(file)) {}

  absl::Status Read(char* out, size_t size, size_t& got) override {
    got = 0;
    COHORT_ASSIGN_OR_RETURN(got, file_->ReadAt(offset_, out, size));
    offset_ += got;
    return absl::OkStatus();
  }

  absl::StatusOr<int64_t> Skip(int64_t size) override {
    COHORT_ASSIGN_OR_RETURN(const int64_t end, file_->Size());
    const int64_t step = std::clamp<int64_t>(end - offset_, 0, size);
    offset_ += step;
    return step;
  }

 private:
  const std::unique_ptr<ReadableFile> file_;
  int64_t offset_ = 0;
};

class InflateSource final : public ByteSource {
 public:
  InflateSource(std::unique_ptr<ReadableFile> file, std::string name, Compression compression)
      : file_(std::move(file)), name_(std::move(name)), gzip_(compression == Compression::kGzip), input_(64 * 1024) {}
  ~InflateSource() override {
    if (started_) inflateEnd(&stream_);
  }

  absl::Status Read(char* out, size_t size, size_t& got) override {
    got = 0;
    if (!started_) {
      if (inflateInit2(&stream_, gzip_ ? 15 + 16 : 15) != Z_OK) return absl::ResourceExhaustedError("zlib: no memory");
      started_ = true;
    }
    while (got < size && !ended_) {
      if (stream_.avail_in == 0) COHORT_RETURN_IF_ERROR(Refill());
      COHORT_RETURN_IF_ERROR(Inflate(out, size, got));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<int64_t> Skip(int64_t size) override {
    std::vector<char> waste(kBufferBytes);
    int64_t done = 0;
    while (done < size) {
      const size_t piece = static_cast<size_t>(std::min<int64_t>(size - done, waste.size()));
      size_t got = 0;
      COHORT_RETURN_IF_ERROR(Read(waste.data(), piece, got));
      done += got;
      if (got < piece) break;
    }
    return done;
  }

 private:
  absl::Status Refill() {
    COHORT_ASSIGN_OR_RETURN(const size_t got, file_->ReadAt(offset_, input_.data(), input_.size()));
    offset_ += got;
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(got);
    if (got > 0) return absl::OkStatus();
    if (between_members_) {
      ended_ = true;
      return absl::OkStatus();
    }
    return Broken("ends too early");
  }

  // Adds bytes behind the first `got` from the input there is; goes from one member of a gzip file to the next.
  absl::Status Inflate(char* out, size_t size, size_t& got) {
    if (between_members_) {
      while (stream_.avail_in > 0 && *stream_.next_in == 0) ++stream_.next_in, --stream_.avail_in;  // padding
      if (stream_.avail_in == 0) return absl::OkStatus();
      if (!gzip_) return Broken("goes on after its end");
      if (inflateReset(&stream_) != Z_OK) return Broken("cannot be reset");
      between_members_ = false;
    }
    stream_.next_out = reinterpret_cast<Bytef*>(out + got);
    stream_.avail_out = static_cast<uInt>(std::min<size_t>(size - got, 1u << 30));
    const uInt room = stream_.avail_out;
    const int code = inflate(&stream_, Z_NO_FLUSH);
    got += room - stream_.avail_out;
    if (code == Z_STREAM_END) {
      between_members_ = true;
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      return Broken(stream_.msg != nullptr ? stream_.msg : "is broken");
    }
    return absl::OkStatus();
  }

  absl::Status Broken(absl::string_view how) const {
    return absl::DataLossError(absl::StrFormat("'%s' is damaged: its compressed data breaks at byte %d (%s)", name_,
                                               offset_ - stream_.avail_in, how));
  }

  const std::unique_ptr<ReadableFile> file_;
  const std::string name_;
  const bool gzip_;
  std::vector<char> input_;
  int64_t offset_ = 0;  // of the next byte to read from the file
  z_stream stream_ = {};
  bool started_ = false;
  bool between_members_ = false;
  bool ended_ = false;
};

class BufferedStream final : public InputStream {
 public:
  BufferedStream(std::unique_ptr<ByteSource> source, std::string name, int64_t max_content)
      : source_(std::move(source)), name_(std::move(name)), max_content_(max_content) {}

  absl::StatusOr<absl::string_view> Peek(size_t size) override {
    if (end_ - begin_ < size && !at_end_) Fill(size);
    if (end_ - begin_ < size && !error_.ok()) return error_;
    return absl::string_view(buffer_.get() + begin_, end_ - begin_);
  }

  void Consume(size_t size) override {
    begin_ += size;
    offset_ += size;
  }

  absl::StatusOr<int64_t> Skip(int64_t size) override {
    const int64_t buffered = std::min<int64_t>(size, end_ - begin_);
    Consume(buffered);
    if (buffered == size) return buffered;
    COHORT_RETURN_IF_ERROR(error_);
    if (at_end_) return buffered;
    COHORT_ASSIGN_OR_RETURN(const int64_t skipped, source_->Skip(size - buffered));
    begin_ = end_ = 0;
    offset_ += skipped;
    return buffered + skipped;
  }

  int64_t offset() const override { return offset_; }
  int64_t max_content() const override { return max_content_; }
  const std::string& name() const override { return name_; }

 private:
  void Fill(size_t size) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    while (end_ < size && !at_end_) {
      if (end_ == capacity_) Grow();
      size_t got = 0;
      error_ = source_->Read(buffer_.get() + end_, capacity_ - end_, got);
      at_end_ = got < capacity_ - end_ || !error_.ok();
      end_ += got;
    }
  }

  void Grow() {
    const size_t larger = std::max(kBufferBytes, capacity_ * 2);
    std::unique_ptr<char[]> buffer(new char[larger]);
    if (end_ > 0) std::memcpy(buffer.get(), buffer_.get(), end_);
    buffer_ = std::move(buffer);
    capacity_ = larger;
  }

  const std::unique_ptr<ByteSource> source_;
  const std::string name_;
  const int64_t max_content_;
  std::unique_ptr<char[]> buffer_ = std::unique_ptr<char[]>(new char[kBufferBytes]);
  size_t capacity_ = kBufferBytes;
  size_t begin_ = 0;  // of what is buffered
  size_t end_ = 0;
  bool at_end_ = false;  // the source has no more
  absl::Status error_;   // at the end of what is buffered
  int64_t offset_ = 0;
};

}  // namespace

absl::string_view CompressionName(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      return "NONE";
    case Compression::kGzip:
      return "GZIP";
    case Compression::kZlib:
      return "ZLIB";
  }
  return "?";
}

absl::StatusOr<std::unique_ptr<InputStream>> InputStream::Create(std::unique_ptr<ReadableFile> file, std::string name,
                                                                 Compression compression) {
  COHORT_ASSIGN_OR_RETURN(const int64_t size, file->Size());
  std::unique_ptr<ByteSource> source;
  if (compression == Compression::kNone) {
    source = std::make_unique<FileSource>(std::move(file));
    return std::make_unique<BufferedStream>(std::move(source), std::move(name), size);
  }
  source = std::make_unique<InflateSource>(std::move(file), name, compression);
  const int64_t most = size > INT64_MAX / kMaxInflation ? INT64_MAX : size * kMaxInflation;
  return std::make_unique<BufferedStream>(std::move(source), std::move(name), most);
}

}  // namespace cohort
