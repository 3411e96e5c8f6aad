#include "runtime/formats/idx.h"

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status_macros.h"

namespace cohort {
namespace {

// Deflate makes at most 1032 bytes from one, so a file cannot hold more than this many times its size.
constexpr int64_t kMaxInflation = 1032;

struct GzClose {
  void operator()(gzFile file) const { gzclose_r(file); }
};

// A file that zlib reads, compressed or not.
class InputFile {
 public:
  static absl::StatusOr<InputFile> Open(const std::string& path) {
    struct stat info;
    if (stat(path.c_str(), &info) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) return absl::NotFoundError(absl::StrCat("no file '", path, "'"));
      return absl::FailedPreconditionError(absl::StrCat("cannot read '", path, "': ", std::strerror(errno)));
    }
    gzFile file = S_ISREG(info.st_mode) ? gzopen(path.c_str(), "rbe") : nullptr;
    if (file == nullptr) {
      const char* cause = S_ISREG(info.st_mode) ? std::strerror(errno) : "not a file";
      return absl::FailedPreconditionError(absl::StrCat("cannot read '", path, "': ", cause));
    }
    gzbuffer(file, 256 * 1024);
    return InputFile(path, file, info.st_size);
  }

  // Fills `data` as far as the file goes; returns the bytes read. DataLoss: the compressed stream is broken.
  absl::StatusOr<int64_t> Read(uint8_t* data, int64_t size) {
    int64_t done = 0;
    while (done < size) {
      const unsigned piece = static_cast<unsigned>(std::min<int64_t>(size - done, 1 << 30));
      const int got = gzread(file_.get(), data + done, piece);
      int code = Z_OK;
      const char* message = gzerror(file_.get(), &code);
      if (got < 0 || code == Z_BUF_ERROR) {  // Z_BUF_ERROR: the file ends within its compressed data
        return absl::DataLossError(absl::StrFormat(
            "'%s' is damaged: its compressed data ends or breaks near byte %d of %d, after %d bytes of content (%s)",
            path_, gzoffset(file_.get()), size_, offset() + std::max(got, 0), message));
      }
      if (got == 0) break;
      done += got;
    }
    offset_ += done;
    return done;
  }

  // What the file can hold at most, uncompressed.
  int64_t max_content() const { return gzdirect(file_.get()) ? size_ : size_ * kMaxInflation; }
  int64_t offset() const { return offset_; }
  const std::string& path() const { return path_; }

 private:
  InputFile(const std::string& path, gzFile file, int64_t size) : path_(path), file_(file), size_(size) {}

  std::string path_;
  std::unique_ptr<gzFile_s, GzClose> file_;
  int64_t size_;
  int64_t offset_ = 0;  // in the content
};

absl::Status Short(const InputFile& file, int64_t begin, int64_t wanted, int64_t found) {
  return absl::DataLossError(
      absl::StrFormat("'%s' is cut off: from offset %d it needs %d bytes, has %d", file.path(), begin, wanted, found));
}

absl::StatusOr<IdxType> ParseMagic(const InputFile& file, const uint8_t* magic) {
  const auto type = static_cast<IdxType>(magic[2]);
  if (magic[0] == 0 && magic[1] == 0 && IdxTypeSize(type) > 0) return type;
  const std::string found = absl::StrFormat("%02x %02x %02x %02x", magic[0], magic[1], magic[2], magic[3]);
  if (magic[0] != 0 || magic[1] != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("'%s' is not an IDX file: offset 0 has %s, expected 00 00 and a type", file.path(), found));
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "'%s': type code 0x%02x at offset 2 does not exist in IDX (08, 09, 0b, 0c, 0d, 0e do)", file.path(), magic[2]));
}

// Reads type and dimensions.
absl::StatusOr<IdxArray> ReadHeader(InputFile& file) {
  uint8_t bytes[4 * 256];
  COHORT_ASSIGN_OR_RETURN(int64_t got, file.Read(bytes, 4));
  if (got < 4) return Short(file, 0, 4, got);
  IdxArray array;
  COHORT_ASSIGN_OR_RETURN(array.type, ParseMagic(file, bytes));
  const int rank = bytes[3];
  COHORT_ASSIGN_OR_RETURN(got, file.Read(bytes, 4 * rank));
  if (got < 4 * rank) return Short(file, 4, 4 * rank, got);
  for (int i = 0; i < rank; ++i) {
    const uint8_t* d = bytes + 4 * i;
    array.dims.push_back(int64_t{d[0]} << 24 | int64_t{d[1]} << 16 | int64_t{d[2]} << 8 | int64_t{d[3]});
  }
  return array;
}

// Bytes of the elements that `dims` promise. DataLoss if the file cannot hold them.
absl::StatusOr<int64_t> ContentBytes(const IdxArray& array, const InputFile& file) {
  int64_t bytes = IdxTypeSize(array.type);
  bool overflow = false;
  const bool empty = std::find(array.dims.begin(), array.dims.end(), 0) != array.dims.end();
  for (const int64_t dim : array.dims) overflow = overflow || __builtin_mul_overflow(bytes, dim, &bytes);
  if (empty) return 0;
  if (overflow || bytes > file.max_content()) {
    return absl::DataLossError(
        absl::StrFormat("'%s' is cut off: dimensions [%s] need %s bytes from offset %d, there are at most %d",
                        file.path(), absl::StrJoin(array.dims, ","), overflow ? "more than 2^63" : absl::StrCat(bytes),
                        file.offset(), file.max_content() - file.offset()));
  }
  return bytes;
}

void SwapBytes(std::vector<uint8_t>& data, int64_t width) {
  if (width == 1) return;
  for (size_t i = 0; i + width <= data.size(); i += width) std::reverse(data.begin() + i, data.begin() + i + width);
}

}  // namespace

int64_t IdxTypeSize(IdxType type) {
  switch (type) {
    case IdxType::kU8:
    case IdxType::kI8:
      return 1;
    case IdxType::kI16:
      return 2;
    case IdxType::kI32:
    case IdxType::kF32:
      return 4;
    case IdxType::kF64:
      return 8;
  }
  return 0;
}

int64_t IdxArray::row_elements() const {
  int64_t elements = 1;
  for (size_t i = 1; i < dims.size(); ++i) elements *= dims[i];
  return elements;
}

absl::StatusOr<IdxArray> ReadIdx(const std::string& path, int64_t max_rows) {
  COHORT_ASSIGN_OR_RETURN(InputFile file, InputFile::Open(path));
  COHORT_ASSIGN_OR_RETURN(IdxArray array, ReadHeader(file));
  const bool prefix = max_rows >= 0 && !array.dims.empty() && max_rows < array.dims[0];
  if (prefix) array.dims[0] = max_rows;
  const int64_t begin = file.offset();
  absl::StatusOr<int64_t> bytes = ContentBytes(array, file);
  if (!bytes.ok()) return bytes.status();
  array.data.resize(*bytes);
  COHORT_ASSIGN_OR_RETURN(const int64_t got, file.Read(array.data.data(), *bytes));
  if (got < *bytes) return Short(file, begin, *bytes, got);
  if (!prefix) {  // the end of the file also checks gzip's checksum
    uint8_t extra;
    COHORT_ASSIGN_OR_RETURN(const int64_t more, file.Read(&extra, 1));
    if (more > 0) {
      return absl::DataLossError(
          absl::StrFormat("'%s' goes on at offset %d, where its header says it ends", path, begin + *bytes));
    }
  }
  SwapBytes(array.data, IdxTypeSize(array.type));
  return array;
}

}  // namespace cohort
