#include "runtime/base/port_lease.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace cohort {
namespace {

bool CanBind(int family, const void* address, socklen_t size) {
  const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return true;  // a machine without this family
  const int on = 1;
  // Without SO_REUSEADDR: a port with connections that still die down is not taken.
  if (family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
  const bool bound = bind(fd, static_cast<const sockaddr*>(address), size) == 0 || errno != EADDRINUSE;
  close(fd);
  return bound;
}

bool IsFree(int port) {
  sockaddr_in v4 = {};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  sockaddr_in6 v6 = {};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  return CanBind(AF_INET, &v4, sizeof(v4)) && CanBind(AF_INET6, &v6, sizeof(v6));
}

// Everybody can write to /tmp: a folder or link that somebody else put there is not ours to use.
absl::Status PrepareFolder(const std::string& folder) {
  struct stat info;
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return absl::PermissionDeniedError(absl::StrCat("creating '", folder, "' for port locks: ", std::strerror(errno)));
  }
  if (lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid()) {
    return absl::PermissionDeniedError(
        absl::StrCat("'", folder, "', for port locks, is not a folder of this user; remove it"));
  }
  return absl::OkStatus();
}

// The lock's descriptor, or -1 if another lease holds it. Lock files stay: who removes one could leave two holders.
int TryLock(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return -1;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  close(fd);
  return -1;
}

}  // namespace

PortLease::~PortLease() {
  if (lock_ >= 0) close(lock_);
}

std::pair<int, int> LeasablePorts(int ephemeral_first, int ephemeral_last) {
  constexpr int kEnough = 256;
  const std::pair<int, int> below = {std::max(1024, ephemeral_first - 16384), ephemeral_first};
  const std::pair<int, int> above = {ephemeral_last + 1, 65536};
  if (below.second - below.first >= kEnough) return below;
  if (above.second - above.first >= kEnough) return above;
  return {0, 0};
}

absl::StatusOr<PortLease> LeasePort(const std::string& folder) {
  const std::string locks = folder.empty() ? absl::StrCat("/tmp/cohort-ports-", geteuid()) : folder;
  COHORT_RETURN_IF_ERROR(PrepareFolder(locks));
  int ephemeral_first = 32768;
  int ephemeral_last = 60999;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> ephemeral_first >> ephemeral_last;
  const auto [first, end] = LeasablePorts(ephemeral_first, ephemeral_last);
  const int count = end - first;
  if (count == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("the kernel's ephemeral ports ", ephemeral_first, "-", ephemeral_last,
                     " leave none to lease; set net.ipv4.ip_local_port_range to 32768 60999"));
  }
  // A random start, so that those who look at the same time seldom meet.
  unsigned start = 0;
  if (getrandom(&start, sizeof(start), 0) != sizeof(start)) start = getpid();
  for (int i = 0; i < count; ++i) {
    const int port = first + static_cast<int>((start + static_cast<unsigned>(i)) % static_cast<unsigned>(count));
    const int lock = TryLock(absl::StrCat(locks, "/", port));
    if (lock < 0) continue;
    if (IsFree(port)) return PortLease(port, lock);
    close(lock);
  }
  return absl::ResourceExhaustedError(absl::StrCat("none of the ports ", first, "-", end - 1, " is free"));
}

}  // namespace cohort
