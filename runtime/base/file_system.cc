#include "runtime/base/file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace cohort {
namespace {

absl::StatusCode CodeOf(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::StatusCode::kNotFound;
    case EEXIST:
      return absl::StatusCode::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::StatusCode::kPermissionDenied;
    case EISDIR:
    case ENOTEMPTY:
    case EXDEV:
      return absl::StatusCode::kFailedPrecondition;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case EFBIG:
      return absl::StatusCode::kResourceExhausted;
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
      return absl::StatusCode::kInvalidArgument;
    case EIO:
      return absl::StatusCode::kDataLoss;
    default:
      return absl::StatusCode::kInternal;
  }
}

absl::Status Failed(absl::string_view doing, const std::string& path, int error) {
  return absl::Status(CodeOf(error), absl::StrCat(doing, " '", path, "': ", std::strerror(error)));
}

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(Descriptor&& other) : fd_(other.release()) {}
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

class PosixWritableFile final : public WritableFile {
 public:
  PosixWritableFile(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  absl::Status Append(absl::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = write(file_.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return Failed("writing", path_, errno);
      bytes.remove_prefix(written);
    }
    return absl::OkStatus();
  }

  absl::Status Sync() override { return fsync(file_.get()) == 0 ? absl::OkStatus() : Failed("syncing", path_, errno); }

  absl::Status Close() override {
    return close(file_.release()) == 0 ? absl::OkStatus() : Failed("closing", path_, errno);
  }

 private:
  const std::string path_;
  Descriptor file_;
};

class PosixReadableFile final : public ReadableFile {
 public:
  PosixReadableFile(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  absl::StatusOr<size_t> ReadAt(int64_t offset, char* out, size_t size) const override {
    size_t done = 0;
    while (done < size) {
      const ssize_t got = pread(file_.get(), out + done, size - done, offset + done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return Failed("reading", path_, errno);
      if (got == 0) break;
      done += got;
    }
    return done;
  }

  absl::StatusOr<int64_t> Size() const override {
    struct stat info;
    if (fstat(file_.get(), &info) != 0) return Failed("looking at", path_, errno);
    return info.st_size;
  }

 private:
  const std::string path_;
  const Descriptor file_;
};

// Whole components: "/data" holds "/data/x", not "/database".
bool IsInside(const std::string& path, const std::string& root) {
  return root == "/" || path == root || (absl::StartsWith(path, root) && path[root.size()] == '/');
}

class PosixFileSystem final : public FileSystem {
 public:
  explicit PosixFileSystem(std::string root) : root_(std::move(root)) {}

  absl::StatusOr<std::string> ReadFile(const std::string& path) const override;
  absl::StatusOr<std::unique_ptr<ReadableFile>> OpenForRead(const std::string& path) const override;
  absl::StatusOr<std::unique_ptr<WritableFile>> OpenForWrite(const std::string& path) override {
    return Open(path, O_TRUNC);
  }
  absl::StatusOr<std::unique_ptr<WritableFile>> OpenForAppend(const std::string& path) override {
    return Open(path, O_APPEND);
  }
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::StatusOr<std::vector<std::string>> List(const std::string& folder) const override;
  absl::Status Delete(const std::string& path) override;
  absl::StatusOr<bool> Exists(const std::string& path) const override;
  absl::Status CreateDir(const std::string& path) override;
  absl::StatusOr<int64_t> Size(const std::string& path) const override;

 private:
  absl::StatusOr<std::unique_ptr<WritableFile>> Open(const std::string& path, int mode);

  // What the system is asked for instead of `path`: with a root, the place behind all links, which must be inside.
  absl::StatusOr<std::string> Resolve(const std::string& path) const;
  // The same, but a link at the end is meant itself, not what it leads to.
  absl::StatusOr<std::string> ResolveEntry(const std::string& path) const;

  // A link that leads nowhere yet is not resolved; following it could create its target outside.
  int no_follow() const { return root_.empty() ? 0 : O_NOFOLLOW; }

  const std::string root_;  // without links, absolute; "": none
};

absl::StatusOr<std::string> PosixFileSystem::Resolve(const std::string& path) const {
  if (path.empty()) return absl::InvalidArgumentError("a file name is empty");
  if (path.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat("the file name '", path.c_str(), "' goes on after a zero byte"));
  }
  if (root_.empty()) return path;
  std::error_code error;
  const std::string real = std::filesystem::weakly_canonical(std::filesystem::path(root_) / path, error).string();
  if (error) return Failed("resolving", path, error.value());
  // A path that ends in '/' keeps it if its end does not exist.
  if (IsInside(real, root_)) return real;
  return absl::PermissionDeniedError(absl::StrCat("'", path, "' lies outside the data root '", root_, "'"));
}

absl::StatusOr<std::string> PosixFileSystem::ResolveEntry(const std::string& path) const {
  const std::filesystem::path given(path);
  const std::string name = given.filename().string();
  if (root_.empty() || path.empty()) return Resolve(path);
  if (name.empty() || name == "." || name == "..") {
    return absl::InvalidArgumentError(absl::StrCat("'", path, "' does not end in a name"));
  }
  const std::string folder = given.parent_path().string();
  COHORT_ASSIGN_OR_RETURN(std::string real, Resolve(folder.empty() ? "." : folder));
  return absl::StrCat(real, "/", name);
}

absl::StatusOr<std::string> PosixFileSystem::ReadFile(const std::string& path) const {
  COHORT_ASSIGN_OR_RETURN(const std::string real, Resolve(path));
  const Descriptor file(open(real.c_str(), O_RDONLY | O_CLOEXEC | no_follow()));
  struct stat info;
  if (file.get() < 0 || fstat(file.get(), &info) != 0) return Failed("opening", path, errno);
  if (S_ISDIR(info.st_mode)) return Failed("opening", path, EISDIR);
  std::string bytes;
  bytes.resize(info.st_size);
  size_t have = 0;
  while (true) {
    if (have == bytes.size()) bytes.resize(have + 4096);  // one more read shows the end; /proc tells no size
    const ssize_t got = read(file.get(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failed("reading", path, errno);
    if (got == 0) break;
    have += got;
  }
  bytes.resize(have);
  return bytes;
}

absl::StatusOr<std::unique_ptr<ReadableFile>> PosixFileSystem::OpenForRead(const std::string& path) const {
  COHORT_ASSIGN_OR_RETURN(const std::string real, Resolve(path));
  Descriptor file(open(real.c_str(), O_RDONLY | O_CLOEXEC | no_follow()));
  struct stat info;
  if (file.get() < 0 || fstat(file.get(), &info) != 0) return Failed("opening", path, errno);
  if (S_ISDIR(info.st_mode)) return Failed("opening", path, EISDIR);
  return std::make_unique<PosixReadableFile>(path, std::move(file));
}

absl::StatusOr<std::unique_ptr<WritableFile>> PosixFileSystem::Open(const std::string& path, int mode) {
  COHORT_ASSIGN_OR_RETURN(const std::string real, Resolve(path));
  Descriptor file(open(real.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | no_follow() | mode, 0666));
  if (file.get() < 0) return Failed("opening", path, errno);
  return std::make_unique<PosixWritableFile>(path, std::move(file));
}

absl::Status PosixFileSystem::Rename(const std::string& from, const std::string& to) {
  COHORT_ASSIGN_OR_RETURN(const std::string real_from, ResolveEntry(from));
  COHORT_ASSIGN_OR_RETURN(const std::string real_to, ResolveEntry(to));
  if (rename(real_from.c_str(), real_to.c_str()) != 0) {
    return Failed(absl::StrCat("renaming '", from, "' to"), to, errno);
  }
  const std::string folder = std::filesystem::path(real_to).parent_path().string();
  const Descriptor parent(open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.get() < 0 || fsync(parent.get()) != 0) return Failed("syncing the folder of", to, errno);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> PosixFileSystem::List(const std::string& folder) const {
  COHORT_ASSIGN_OR_RETURN(const std::string real, Resolve(folder));
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(opendir(real.c_str()), closedir);
  if (dir == nullptr) return Failed("listing", folder, errno);
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = readdir(dir.get())) {
    const absl::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return Failed("listing", folder, errno);
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status PosixFileSystem::Delete(const std::string& path) {
  COHORT_ASSIGN_OR_RETURN(const std::string real, ResolveEntry(path));
  return std::remove(real.c_str()) == 0 ? absl::OkStatus() : Failed("deleting", path, errno);
}

absl::StatusOr<bool> PosixFileSystem::Exists(const std::string& path) const {
  COHORT_ASSIGN_OR_RETURN(const std::string real, Resolve(path));
  struct stat info;
  if (stat(real.c_str(), &info) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return Failed("looking for", path, errno);
}

absl::Status PosixFileSystem::CreateDir(const std::string& path) {
  COHORT_ASSIGN_OR_RETURN(const std::string real, Resolve(path));
  std::error_code error;
  std::filesystem::create_directories(real, error);
  if (error) return Failed("creating the folder", path, error.value());
  return absl::OkStatus();
}

absl::StatusOr<int64_t> PosixFileSystem::Size(const std::string& path) const {
  COHORT_ASSIGN_OR_RETURN(const std::string real, Resolve(path));
  struct stat info;
  if (stat(real.c_str(), &info) != 0) return Failed("looking for", path, errno);
  return info.st_size;
}

}  // namespace

absl::StatusOr<std::unique_ptr<FileSystem>> MakePosixFileSystem(const std::string& root) {
  if (root.empty()) return std::make_unique<PosixFileSystem>("");
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(root, error);
  if (error) return Failed("the data root", root, error.value());
  if (!std::filesystem::is_directory(real, error)) return Failed("the data root", root, ENOTDIR);
  return std::make_unique<PosixFileSystem>(real.string());
}

absl::Status WriteFileAtomically(FileSystem& files, const std::string& path, absl::string_view bytes) {
  const std::string temporary = absl::StrCat(path, ".tmp");
  COHORT_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file, files.OpenForWrite(temporary));
  COHORT_RETURN_IF_ERROR(file->Append(bytes));
  COHORT_RETURN_IF_ERROR(file->Sync());
  COHORT_RETURN_IF_ERROR(file->Close());
  return files.Rename(temporary, path);
}

}  // namespace cohort
