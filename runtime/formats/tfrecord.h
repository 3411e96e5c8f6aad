#ifndef COHORT_RUNTIME_FORMATS_TFRECORD_H_
#define COHORT_RUNTIME_FORMATS_TFRECORD_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/file_system.h"
#include "runtime/formats/input_stream.h"

namespace cohort {

// TensorFlow's record file: records one after the other, nothing before or between them. A record is its length (uint64
// LE), the masked CRC-32C of these 8 bytes (uint32 LE), the payload, the masked CRC-32C of the payload (uint32 LE). The
// whole file may be compressed. Source: tensorflow/core/lib/io/record_writer.h.

struct TfRecordOptions {
  // None: the first bytes tell. A valid first record, or an empty file: not compressed.
  std::optional<Compression> compression;
  // Goes over damaged records instead of ending with DataLoss, and counts them.
  bool skip_damaged = false;
};

// Reads a file from its start to its end. Used by one thread at a time.
class TfRecordReader {
 public:
  // NotFound and others as FileSystem has them; they name the file.
  static absl::StatusOr<std::unique_ptr<TfRecordReader>> Open(const FileSystem& files, const std::string& path,
                                                              const TfRecordOptions& options = {});
  // `name` is what messages call the file.
  static absl::StatusOr<std::unique_ptr<TfRecordReader>> Create(std::unique_ptr<ReadableFile> file, std::string name,
                                                                const TfRecordOptions& options = {});

  // The next record into `record`, valid until the next call; false at the end of the file.
  // DataLoss: a checksum is wrong, or the file ends within a record; names file, record and the offset of its first
  // byte (in the content). No length is believed that the file cannot hold. The reader stays where it is.
  absl::StatusOr<bool> Next(absl::string_view& record);

  // Moves over up to `count` records and returns how many there were; the payloads are not read and not checked, unless
  // damaged ones are to be skipped. Errors as of Next.
  absl::StatusOr<int64_t> Skip(int64_t count);

  int64_t offset() const { return stream_->offset(); }  // of the next record, in the content
  int64_t record() const { return record_; }            // number of the next record, from 0; skipped ones do not count
  // What was left out under skip_damaged: damaged places (a record, or a stretch without a valid header), and bytes.
  int64_t skipped_places() const { return skipped_places_; }
  int64_t skipped_bytes() const { return skipped_bytes_; }

 private:
  TfRecordReader(std::unique_ptr<InputStream> stream, bool skip_damaged)
      : stream_(std::move(stream)), skip_damaged_(skip_damaged) {}

  // The length of the record here; none at the end.
  absl::StatusOr<std::optional<uint64_t>> ReadLength();
  absl::Status Damaged(absl::string_view how) const;
  // Goes to the next valid header, or to the end.
  absl::Status Resynchronise();

  const std::unique_ptr<InputStream> stream_;
  const bool skip_damaged_;
  int64_t record_ = 0;
  int64_t skipped_places_ = 0;
  int64_t skipped_bytes_ = 0;
};

// Writes a file from its start. Used by one thread at a time. Without Close the file's end is missing.
class TfRecordWriter {
 public:
  virtual ~TfRecordWriter() = default;
  static absl::StatusOr<std::unique_ptr<TfRecordWriter>> Create(FileSystem& files, const std::string& path,
                                                                Compression compression = Compression::kNone);

  virtual absl::Status Write(absl::string_view record) = 0;
  virtual absl::Status Close() = 0;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_FORMATS_TFRECORD_H_
