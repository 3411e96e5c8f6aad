#ifndef COHORT_RUNTIME_FORMATS_INPUT_STREAM_H_
#define COHORT_RUNTIME_FORMATS_INPUT_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/file_system.h"

namespace cohort {

// How a whole file is compressed. A gzip file may hold several members; zero bytes may follow its end.
enum class Compression { kNone, kGzip, kZlib };

absl::string_view CompressionName(Compression compression);  // "NONE", "GZIP", "ZLIB", as TensorFlow says

// The content of a file from its start to its end, decompressed on the way. Used by one thread at a time.
//
// DataLoss, from all that reads: the compressed stream is cut off or broken; names file and offset. Other errors are
// the file's.
class InputStream {
 public:
  // `name` is what messages call the file.
  static absl::StatusOr<std::unique_ptr<InputStream>> Create(std::unique_ptr<ReadableFile> file, std::string name,
                                                             Compression compression);
  virtual ~InputStream() = default;

  // The next bytes, at least `size` of them unless the content ends before; valid until the next call. Memory grows
  // with what the file really holds, not with `size`.
  virtual absl::StatusOr<absl::string_view> Peek(size_t size) = 0;
  // Moves over `size` bytes, at most as many as the last Peek gave. They stay valid until the next Peek.
  virtual void Consume(size_t size) = 0;
  // Moves over `size` bytes, in an uncompressed file without reading them; returns how many there were.
  virtual absl::StatusOr<int64_t> Skip(int64_t size) = 0;

  // Of the next byte, in the content.
  virtual int64_t offset() const = 0;
  // More than this the content cannot hold: the file's size when it was opened, or what its compression can make of it.
  virtual int64_t max_content() const = 0;
  virtual const std::string& name() const = 0;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_FORMATS_INPUT_STREAM_H_
