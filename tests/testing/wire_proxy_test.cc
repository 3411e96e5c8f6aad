#include "tests/testing/wire_proxy.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "absl/time/clock.h"
#include "tests/testing/status_matchers.h"

namespace cohort::testing {
namespace {

// A blocking socket with a deadline on every read, so that no failure hangs the test.
class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {
    const timeval limit = {20, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  }
  ~Socket() { close(fd_); }
  int fd() const { return fd_; }

  void Send(const std::string& bytes) { send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  // "" at the end, "error" after a reset.
  std::string Receive(size_t size) {
    std::string bytes(size, '\0');
    size_t have = 0;
    while (have < size) {
      const ssize_t got = recv(fd_, bytes.data() + have, size - have, 0);
      if (got < 0) return "error";
      if (got == 0) break;
      have += got;
    }
    bytes.resize(have);
    return bytes;
  }
  bool ReadableWithin(absl::Duration limit) {
    pollfd poll_fd = {fd_, POLLIN, 0};
    return poll(&poll_fd, 1, static_cast<int>(absl::ToInt64Milliseconds(limit))) == 1;
  }

 private:
  const int fd_;
};

class WireProxyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    sockaddr_in address = Loopback(0);
    socklen_t size = sizeof(address);
    ASSERT_EQ(bind(listener_.fd(), reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(listen(listener_.fd(), 8), 0);
    getsockname(listener_.fd(), reinterpret_cast<sockaddr*>(&address), &size);
    COHORT_ASSERT_OK_AND_ASSIGN(proxy_, WireProxy::Start(ntohs(address.sin_port)));
  }

  static sockaddr_in Loopback(int port) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }

  std::unique_ptr<Socket> Connect() {
    auto client = std::make_unique<Socket>(socket(AF_INET, SOCK_STREAM, 0));
    const sockaddr_in address = Loopback(proxy_->port());
    EXPECT_EQ(connect(client->fd(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    return client;
  }
  std::unique_ptr<Socket> Accept() { return std::make_unique<Socket>(accept(listener_.fd(), nullptr, nullptr)); }

  Socket listener_{socket(AF_INET, SOCK_STREAM, 0)};
  std::unique_ptr<WireProxy> proxy_;
};

TEST_F(WireProxyTest, ForwardsBothWaysAndCounts) {
  const auto client = Connect();
  const auto server = Accept();
  client->Send("hello");
  EXPECT_EQ(server->Receive(5), "hello");
  server->Send("you too");
  EXPECT_EQ(client->Receive(7), "you too");
  EXPECT_EQ(proxy_->bytes_to_target(), 5);
  EXPECT_EQ(proxy_->bytes_to_client(), 7);
  EXPECT_EQ(proxy_->connections(), 1);
}

TEST_F(WireProxyTest, MoreThanItHoldsArrivesWhole) {
  const auto client = Connect();
  const auto server = Accept();
  const std::string big(9 << 20, 'x');
  Thread sender("sender", [&] { client->Send(big); });
  EXPECT_TRUE(server->Receive(big.size()) == big);
  sender.Join();
}

TEST_F(WireProxyTest, AHalfClosedConnectionStillAnswers) {
  const auto client = Connect();
  const auto server = Accept();
  client->Send("ask");
  shutdown(client->fd(), SHUT_WR);
  EXPECT_EQ(server->Receive(100), "ask");
  server->Send("answer");
  shutdown(server->fd(), SHUT_WR);
  EXPECT_EQ(client->Receive(100), "answer");
}

TEST_F(WireProxyTest, DelayMakesEachPieceLate) {
  const auto client = Connect();
  const auto server = Accept();
  proxy_->SetDelay(absl::Milliseconds(50));
  const absl::Time start = absl::Now();
  client->Send("late");
  EXPECT_EQ(server->Receive(4), "late");
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(49));  // poll counts in its own clock
}

TEST_F(WireProxyTest, SilenceHoldsBytesAndEndsUntilItIsOver) {
  const auto client = Connect();
  const auto server = Accept();
  proxy_->SetSilent(true);
  client->Send("held");
  shutdown(client->fd(), SHUT_WR);
  EXPECT_FALSE(server->ReadableWithin(absl::Milliseconds(50)));
  proxy_->SetSilent(false);
  EXPECT_EQ(server->Receive(100), "held");
}

TEST_F(WireProxyTest, CutResetsBothEnds) {
  const auto client = Connect();
  const auto server = Accept();
  proxy_->Cut();
  EXPECT_EQ(client->Receive(1), "error");
  EXPECT_EQ(server->Receive(1), "error");
  const auto again = Connect();
  const auto accepted = Accept();
  again->Send("new");
  EXPECT_EQ(accepted->Receive(3), "new");
}

TEST_F(WireProxyTest, DownResetsNewConnectionsUntilItIsUp) {
  proxy_->SetDown(true);
  EXPECT_EQ(Connect()->Receive(1), "error");
  proxy_->SetDown(false);
  const auto client = Connect();
  client->Send("x");
}

TEST_F(WireProxyTest, FlipDamagesJustTheByteAskedFor) {
  const auto client = Connect();
  const auto server = Accept();
  client->Send("0000");
  EXPECT_EQ(server->Receive(4), "0000");
  proxy_->FlipToTarget(2);
  client->Send("0000");
  EXPECT_EQ(server->Receive(4), "0010");
  client->Send("0000");
  EXPECT_EQ(server->Receive(4), "0000");
  proxy_->FlipToClient(0);
  server->Send("00");
  EXPECT_EQ(client->Receive(2), "10");
}

TEST_F(WireProxyTest, AServerThatIsGoneResetsTheClient) {
  shutdown(listener_.fd(), SHUT_RDWR);  // no longer listens
  EXPECT_EQ(Connect()->Receive(1), "error");
}

TEST_F(WireProxyTest, ATakenPortIsNamed) {
  EXPECT_THAT(WireProxy::Start(1, proxy_->port()), StatusIs(absl::StatusCode::kAlreadyExists));
}

}  // namespace
}  // namespace cohort::testing
