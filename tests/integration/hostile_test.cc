// Strangers at a daemon's port: it goes on serving, with little to say about them.

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/integration/cohort.h"
#include "tests/testing/status_matchers.h"

namespace cohort::testing {
namespace {

const std::string kHello("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);  // and empty settings

std::string RandomBytes(size_t size) {
  std::mt19937 random(17);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// A frame of HTTP/2 that says `length` and then brings `payload`.
std::string Frame(uint32_t length, char type, const std::string& payload) {
  const char head[] = {static_cast<char>(length >> 16),
                       static_cast<char>(length >> 8),
                       static_cast<char>(length),
                       type,
                       4 /* end of headers */,
                       0,
                       0,
                       0,
                       1};
  return std::string(head, sizeof(head)) + payload;
}

int Connect(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  return fd;
}

void SendAll(int fd, const std::string& bytes) {
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t more = send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (more <= 0) return;  // it hung up, as it should
    sent += more;
  }
}

TEST(HostileTest, StrangersDoNotDisturbATraining) {
  DaemonCluster cluster(2, 1);
  cluster.StartAll();
  const auto client = cluster.StartClient(EndlessTraining("parameter_server"));
  COHORT_ASSERT_OK(client->WaitForLine("step ", Soon()).status());
  const std::vector<std::string> garbage = {
      RandomBytes(4096),
      "GET / HTTP/1.1\r\nHost: nobody\r\n\r\n",
      kHello + RandomBytes(100'000),
      kHello + Frame(0xffffff, 1, RandomBytes(1 << 20)),       // headers without end
      kHello + Frame(0x3fff, 1, std::string(0x3fff, '\x82')),  // 16,383 headers
      kHello + Frame(9, 1, ""),                                // cut
  };
  for (const std::string& task : cluster.tasks()) {
    Process& daemon = cluster.daemon(task);
    const int lines = LineCount(daemon.err()) + LineCount(daemon.out());
    int visits = 0;
    for (const std::string& bytes : garbage) {
      for (int i = 0; i < 5; ++i, ++visits) {
        const int fd = Connect(cluster.port(task));
        SendAll(fd, bytes);
        close(fd);
      }
    }
    for (int i = 0; i < 1000; ++i) close(Connect(cluster.port(task)));
    std::vector<int> idle;  // connected, and silent
    for (int i = 0; i < 100; ++i) idle.push_back(Connect(cluster.port(task)));
    EXPECT_EQ(testing::RunClient({"status", "--cluster=" + cluster.address(task)}).exit_code, 0) << task;
    for (const int fd : idle) close(fd);
    EXPECT_TRUE(daemon.running()) << task;
    EXPECT_LE(LineCount(daemon.err()) + LineCount(daemon.out()) - lines, visits) << task << ": " << daemon.err();
  }
  EXPECT_TRUE(client->running()) << client->err();
  EXPECT_EQ(cluster.RunClient({"cancel", "1"}).exit_code, 0);
  EXPECT_EQ(*client->Wait(Soon()), 1);
  const Finished next = cluster.RunClient({"train", "--model=linear", "--dataset=synthetic", "--steps=5",
                                           "--evaluate=0", "--strategy=multi_worker_mirrored"});
  EXPECT_EQ(next.exit_code, 0) << next.err;
}

}  // namespace
}  // namespace cohort::testing
