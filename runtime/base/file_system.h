#ifndef COHORT_RUNTIME_BASE_FILE_SYSTEM_H_
#define COHORT_RUNTIME_BASE_FILE_SYSTEM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cohort {

// A file being written. Used by one thread at a time. What was appended is readable at once, but survives a crash of
// the machine only after Sync. The destructor closes.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  virtual absl::Status Append(absl::string_view bytes) = 0;
  virtual absl::Status Sync() = 0;
  // Reports what a network file system tells only at the end; nothing may follow.
  virtual absl::Status Close() = 0;
};

// A file being read at any place. Safe from any thread. The destructor closes.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;
  // Fills `out` with the bytes from `offset`; returns how many: fewer than `size` only at the end of the file.
  virtual absl::StatusOr<size_t> ReadAt(int64_t offset, char* out, size_t size) const = 0;
  virtual absl::StatusOr<int64_t> Size() const = 0;
};

// How programs reach files, so that a daemon can be kept inside a folder and a test can lose what was not synced. Safe
// from any thread. Every error names the path and the system's reason:
//   NotFound: no such file or folder. AlreadyExists. PermissionDenied: by the system, or outside the root.
//   FailedPrecondition: a folder where a file is wanted, or one that is not empty. ResourceExhausted: disk or handles
//   full. InvalidArgument: no possible path. DataLoss: the disk failed. Internal: anything else.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual absl::StatusOr<std::string> ReadFile(const std::string& path) const = 0;
  virtual absl::StatusOr<std::unique_ptr<ReadableFile>> OpenForRead(const std::string& path) const = 0;
  // Creates the file, or empties the one that is there.
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> OpenForWrite(const std::string& path) = 0;
  // Creates the file, or goes on at its end.
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> OpenForAppend(const std::string& path) = 0;
  // Replaces `to` if it exists: whoever opens it sees the old file or the new one. Durable when it returns.
  virtual absl::Status Rename(const std::string& from, const std::string& to) = 0;
  // The names in a folder, ascending.
  virtual absl::StatusOr<std::vector<std::string>> List(const std::string& folder) const = 0;
  // Removes a file, a link or an empty folder.
  virtual absl::Status Delete(const std::string& path) = 0;
  virtual absl::StatusOr<bool> Exists(const std::string& path) const = 0;
  // With the folders above it; nothing happens if it is there.
  virtual absl::Status CreateDir(const std::string& path) = 0;
  virtual absl::StatusOr<int64_t> Size(const std::string& path) const = 0;
};

// The machine's files. With a root, relative paths start there, and a path that leads out of it, also by ".." or over a
// link, is PermissionDenied; without ("") every path is taken as it is. The root guards against mistakes, not against
// somebody who moves links meanwhile. NotFound: the root is no folder.
absl::StatusOr<std::unique_ptr<FileSystem>> MakePosixFileSystem(const std::string& root);

// Writes `bytes` to `path` so that a crash leaves the old file or the whole new one: `path`.tmp, Sync, Rename.
absl::Status WriteFileAtomically(FileSystem& files, const std::string& path, absl::string_view bytes);

}  // namespace cohort

#endif  // COHORT_RUNTIME_BASE_FILE_SYSTEM_H_
