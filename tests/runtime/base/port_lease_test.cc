#include "runtime/base/port_lease.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace cohort {
namespace {

using ::testing::Pair;
using testing::StatusIs;

TEST(LeasablePortsTest, BelowTheEphemeralRangeElseAboveIt) {
  EXPECT_THAT(LeasablePorts(32768, 60999), Pair(16384, 32768));
  EXPECT_THAT(LeasablePorts(10000, 65535), Pair(1024, 10000));
  EXPECT_THAT(LeasablePorts(1024, 60999), Pair(61000, 65536));
  EXPECT_THAT(LeasablePorts(1024, 65535), Pair(0, 0));
}

// Whether another open file description gets the lock of `port`.
bool CanLock(const std::string& folder, int port) {
  const int fd = open(absl::StrCat(folder, "/", port).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
  close(fd);
  return locked;
}

TEST(PortLeaseTest, LeasesDifferAndLieOutsideTheEphemeralRange) {
  int first = 0;
  int last = 0;
  ASSERT_TRUE(std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first >> last);
  std::set<int> ports;
  std::vector<PortLease> leases;
  for (int i = 0; i < 50; ++i) {
    COHORT_ASSERT_OK_AND_ASSIGN(PortLease lease, LeasePort());
    EXPECT_TRUE(lease.port() < first || lease.port() > last) << lease.port();
    ports.insert(lease.port());
    leases.push_back(std::move(lease));
  }
  EXPECT_EQ(ports.size(), 50u);
}

TEST(PortLeaseTest, HoldsItsLockAsLongAsItLives) {
  testing::TempDir dir;
  COHORT_ASSERT_OK_AND_ASSIGN(PortLease lease, LeasePort(dir.path()));
  const int port = lease.port();
  EXPECT_FALSE(CanLock(dir.path(), port));
  std::optional<PortLease> moved = std::move(lease);
  EXPECT_EQ(moved->port(), port);
  EXPECT_FALSE(CanLock(dir.path(), port));
  moved.reset();
  EXPECT_TRUE(CanLock(dir.path(), port));
}

TEST(PortLeaseTest, AStartedProgramDoesNotInheritTheLock) {
  testing::TempDir dir;
  std::optional<PortLease> lease;
  COHORT_ASSERT_OK_AND_ASSIGN(lease, LeasePort(dir.path()));
  int ready[2];  // the child says when it runs another program
  ASSERT_EQ(pipe2(ready, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    execlp("sleep", "sleep", "60", nullptr);
    _exit(1);
  }
  close(ready[1]);
  char c;
  ASSERT_EQ(read(ready[0], &c, 1), 0);  // the end comes with exec
  const int port = lease->port();
  lease.reset();
  EXPECT_TRUE(CanLock(dir.path(), port));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]);
}

TEST(PortLeaseTest, CanBeBoundByTheDaemon) {
  COHORT_ASSERT_OK_AND_ASSIGN(const PortLease lease, LeasePort());
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(lease.port());
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  close(fd);
}

TEST(PortLeaseTest, AFolderThatIsALinkIsRefused) {
  testing::TempDir dir;
  ASSERT_EQ(symlink("/tmp", dir.File("link").c_str()), 0);
  EXPECT_THAT(LeasePort(dir.File("link")), StatusIs(absl::StatusCode::kPermissionDenied));
}

}  // namespace
}  // namespace cohort
