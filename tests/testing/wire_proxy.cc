#include "tests/testing/wire_proxy.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace cohort::testing {

// One direction of a connection. Ends when the end of `from` has been passed on.
struct WireProxy::Flow {
  struct Piece {
    absl::Time due;
    std::string bytes;
  };
  int from;
  int to;
  bool to_target;
  std::deque<Piece> held = {};
  size_t held_bytes = 0;
  bool end_read = false;
  bool end_passed = false;
};

struct WireProxy::Connection {
  Connection(int client_fd, int server_fd)
      : client(client_fd), server(server_fd), up{client, server, true}, down{server, client, false} {}
  // A reset, unless both sides have said their last word.
  ~Connection() {
    const linger now = {1, 0};
    const bool done = up.end_passed && down.end_passed;
    for (const int fd : {client, server}) {
      if (!done) setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
      close(fd);
    }
  }

  const int client;
  const int server;
  Flow up;
  Flow down;
};

namespace {

constexpr size_t kMostHeld = 4 << 20;  // then the sender feels that nobody reads

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool WouldBlock() { return errno == EAGAIN || errno == EINTR; }

}  // namespace

absl::StatusOr<std::unique_ptr<WireProxy>> WireProxy::Start(int target_port, int port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address = Loopback(port);
  socklen_t size = sizeof(address);
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener, 128) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    const std::string reason = std::strerror(errno);
    close(listener);
    return absl::AlreadyExistsError(absl::StrCat("listening on 127.0.0.1:", port, ": ", reason));
  }
  return std::unique_ptr<WireProxy>(new WireProxy(target_port, ntohs(address.sin_port), listener));
}

WireProxy::WireProxy(int target_port, int port, int listener)
    : target_port_(target_port),
      port_(port),
      listener_(listener),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_("wire-proxy", [this] { Loop(); }) {}

WireProxy::~WireProxy() {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
  }
  Wake();
  thread_.Join();
  open_.clear();
  close(listener_);
  close(wake_);
}

void WireProxy::Wake() { eventfd_write(wake_, 1); }

std::string WireProxy::address() const { return absl::StrCat("127.0.0.1:", port_); }

void WireProxy::SetDelay(absl::Duration delay) {
  MutexLock lock(&mu_);
  settings_.delay = delay;
  Wake();
}

void WireProxy::SetSilent(bool silent) {
  MutexLock lock(&mu_);
  settings_.silent = silent;
  Wake();
}

void WireProxy::SetDown(bool down) {
  MutexLock lock(&mu_);
  settings_.down = down;
  settings_.cuts += down ? 1 : 0;
  Wake();
}

void WireProxy::Cut() {
  MutexLock lock(&mu_);
  ++settings_.cuts;
  Wake();
}

void WireProxy::FlipToTarget(int64_t after) {
  MutexLock lock(&mu_);
  to_target_.flip_at = to_target_.passed + after;
}

void WireProxy::FlipToClient(int64_t after) {
  MutexLock lock(&mu_);
  to_client_.flip_at = to_client_.passed + after;
}

int WireProxy::connections() const {
  MutexLock lock(&mu_);
  return accepted_;
}

int64_t WireProxy::bytes_to_target() const {
  MutexLock lock(&mu_);
  return to_target_.passed;
}

int64_t WireProxy::bytes_to_client() const {
  MutexLock lock(&mu_);
  return to_client_.passed;
}

WireProxy::Settings WireProxy::settings() const {
  MutexLock lock(&mu_);
  return settings_;
}

void WireProxy::Accept(const Settings& settings) {
  const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (client < 0) return;
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  for (const int fd : {client, server}) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  const sockaddr_in target = Loopback(target_port_);
  open_.emplace_back(client, server);
  {
    MutexLock lock(&mu_);
    ++accepted_;
  }
  const int result = connect(server, reinterpret_cast<const sockaddr*>(&target), sizeof(target));
  if (settings.down || (result != 0 && errno != EINPROGRESS)) open_.pop_back();  // a reset: refused is too late
}

bool WireProxy::Read(Flow& flow, const Settings& settings) {
  char buffer[1 << 16];
  const ssize_t got = recv(flow.from, buffer, sizeof(buffer), 0);
  if (got < 0) return WouldBlock();
  if (got == 0) flow.end_read = true;
  if (got > 0) flow.held.push_back({absl::Now() + settings.delay, std::string(buffer, got)});
  flow.held_bytes += got;
  return true;
}

bool WireProxy::Write(Flow& flow, absl::Time now) {
  while (!flow.held.empty() && flow.held.front().due <= now) {
    std::string& bytes = flow.held.front().bytes;
    MutexLock lock(&mu_);
    Count& count = flow.to_target ? to_target_ : to_client_;
    const int64_t flip = count.flip_at - count.passed;
    const bool hit = count.flip_at >= 0 && flip >= 0 && flip < static_cast<int64_t>(bytes.size());
    if (hit) bytes[flip] ^= 1;
    const ssize_t sent = send(flow.to, bytes.data(), bytes.size(), MSG_NOSIGNAL);  // does not block
    if (hit && sent > flip) count.flip_at = -1;
    if (hit && sent <= flip) bytes[flip] ^= 1;  // still to come
    if (sent < 0) return WouldBlock();
    count.passed += sent;
    flow.held_bytes -= sent;
    bytes.erase(0, sent);
    if (!bytes.empty()) return true;
    flow.held.pop_front();
  }
  if (flow.end_read && flow.held.empty() && !flow.end_passed) {
    shutdown(flow.to, SHUT_WR);
    flow.end_passed = true;
  }
  return true;
}

absl::Time WireProxy::WaitFor(const Settings& settings, std::vector<pollfd>* fds) {
  *fds = {{wake_, POLLIN, 0}, {listener_, POLLIN, 0}};
  const absl::Time now = absl::Now();
  absl::Time next = absl::InfiniteFuture();
  for (Connection& connection : open_) {
    pollfd ends[2] = {{connection.client, 0, 0}, {connection.server, 0, 0}};
    for (Flow* flow : {&connection.up, &connection.down}) {
      const int from = flow->to_target ? 0 : 1;
      if (!flow->end_read && flow->held_bytes < kMostHeld) ends[from].events |= POLLIN;
      if (flow->held.empty()) continue;
      const absl::Time due = flow->held.front().due;
      if (due <= now) ends[1 - from].events |= POLLOUT;
      if (due > now && !settings.silent) next = std::min(next, due);
    }
    // An end that nothing is wanted from would report its hang-up again and again.
    for (pollfd& end : ends) fds->push_back(end.events == 0 || settings.silent ? pollfd{-1, 0, 0} : end);
  }
  return next;
}

void WireProxy::Serve(const Settings& settings, const std::vector<pollfd>& fds) {
  const absl::Time now = absl::Now();
  size_t i = 2;
  for (auto it = open_.begin(); it != open_.end(); i += 2) {
    bool alive = true;
    for (Flow* flow : {&it->up, &it->down}) {
      const pollfd& from = fds[flow->to_target ? i : i + 1];
      if (from.revents != 0 && !flow->end_read) alive = alive && Read(*flow, settings);
      alive = alive && Write(*flow, now);
    }
    it = !alive || (it->up.end_passed && it->down.end_passed) ? open_.erase(it) : std::next(it);
  }
}

void WireProxy::Loop() {
  int cuts = 0;
  std::vector<pollfd> fds;
  while (true) {
    {
      MutexLock lock(&mu_);
      if (stopping_) return;
    }
    const Settings before = settings();
    if (before.cuts != cuts) open_.clear();
    cuts = before.cuts;
    const absl::Time next = WaitFor(before, &fds);
    const timespec wait = absl::ToTimespec(std::max(absl::ZeroDuration(), next - absl::Now()));
    ppoll(fds.data(), fds.size(), next == absl::InfiniteFuture() ? nullptr : &wait, nullptr);
    eventfd_t ignored;
    eventfd_read(wake_, &ignored);
    const Settings after = settings();
    if (!after.silent) Serve(after, fds);  // what silence stops it does not even read: ends and resets wait too
    if (fds[1].revents != 0) Accept(after);
  }
}

}  // namespace cohort::testing
