#include <zlib.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/crc32c.h"
#include "runtime/base/status_macros.h"
#include "runtime/formats/tfrecord.h"

namespace cohort {
namespace {

constexpr size_t kBufferBytes = 256 * 1024;

void AppendMasked(std::string& out, absl::string_view bytes) {
  const uint32_t masked = MaskCrc32c(Crc32c(bytes));
  out.append(reinterpret_cast<const char*>(&masked), sizeof(masked));
}

class Writer final : public TfRecordWriter {
 public:
  Writer(std::unique_ptr<WritableFile> file, Compression compression)
      : file_(std::move(file)), compression_(compression) {}
  ~Writer() override {
    if (deflating_) deflateEnd(&stream_);
  }

  absl::Status Start() {
    if (compression_ == Compression::kNone) return absl::OkStatus();
    const int window = compression_ == Compression::kGzip ? 15 + 16 : 15;
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
      return absl::ResourceExhaustedError("zlib: no memory");
    }
    deflating_ = true;
    return absl::OkStatus();
  }

  absl::Status Write(absl::string_view record) override {
    const uint64_t length = record.size();
    const absl::string_view length_bytes(reinterpret_cast<const char*>(&length), sizeof(length));
    absl::StrAppend(&buffer_, length_bytes);
    AppendMasked(buffer_, length_bytes);
    absl::StrAppend(&buffer_, record);
    AppendMasked(buffer_, record);
    return buffer_.size() < kBufferBytes ? absl::OkStatus() : Flush(Z_NO_FLUSH);
  }

  absl::Status Close() override {
    COHORT_RETURN_IF_ERROR(Flush(Z_FINISH));
    return file_->Close();
  }

 private:
  absl::Status Flush(int mode) {
    if (!deflating_) {
      COHORT_RETURN_IF_ERROR(file_->Append(buffer_));
      buffer_.clear();
      return absl::OkStatus();
    }
    std::string packed(kBufferBytes, '\0');
    stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
    stream_.avail_in = static_cast<uInt>(buffer_.size());
    int code = Z_OK;
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(packed.data());
      stream_.avail_out = static_cast<uInt>(packed.size());
      code = deflate(&stream_, mode);
      COHORT_RETURN_IF_ERROR(file_->Append(absl::string_view(packed.data(), packed.size() - stream_.avail_out)));
    } while (stream_.avail_out == 0 || (mode == Z_FINISH && code == Z_OK));
    buffer_.clear();
    return absl::OkStatus();
  }

  const std::unique_ptr<WritableFile> file_;
  const Compression compression_;
  std::string buffer_;
  z_stream stream_ = {};
  bool deflating_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<TfRecordWriter>> TfRecordWriter::Create(FileSystem& files, const std::string& path,
                                                                       Compression compression) {
  COHORT_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, files.OpenForWrite(path));
  auto writer = std::make_unique<Writer>(std::move(file), compression);
  COHORT_RETURN_IF_ERROR(writer->Start());
  return writer;
}

}  // namespace cohort
