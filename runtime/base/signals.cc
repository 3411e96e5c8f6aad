#include "runtime/base/signals.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cohort {
namespace {

sigset_t ShutdownSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

void BlockShutdownSignals() {
  const sigset_t set = ShutdownSignals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

void UnblockShutdownSignals() {
  const sigset_t set = ShutdownSignals();
  signal(SIGPIPE, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

absl::StatusOr<std::unique_ptr<SignalWaiter>> SignalWaiter::Start(std::function<void(int)> on_signal) {
  const sigset_t set = ShutdownSignals();
  const int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  const int stop = eventfd(0, EFD_CLOEXEC);
  if (signals < 0 || stop < 0) {
    const int error = errno;
    if (signals >= 0) close(signals);
    if (stop >= 0) close(stop);
    return absl::ResourceExhaustedError(absl::StrCat("waiting for signals: ", std::strerror(error)));
  }
  return std::unique_ptr<SignalWaiter>(new SignalWaiter(signals, stop, std::move(on_signal)));
}

SignalWaiter::SignalWaiter(int signals, int stop, std::function<void(int)> on_signal)
    : signals_(signals), stop_(stop), on_signal_(std::move(on_signal)), thread_("signals", [this] { Loop(); }) {}

SignalWaiter::~SignalWaiter() {
  eventfd_write(stop_, 1);
  thread_.Join();
  close(signals_);
  close(stop_);
}

void SignalWaiter::Loop() {
  pollfd fds[2] = {{signals_, POLLIN, 0}, {stop_, POLLIN, 0}};
  while (true) {
    if (poll(fds, 2, -1) < 0) continue;  // EINTR; ends with the destructor
    if (fds[1].revents != 0) return;
    signalfd_siginfo info;
    if (read(signals_, &info, sizeof(info)) == sizeof(info)) on_signal_(static_cast<int>(info.ssi_signo));
  }
}

}  // namespace cohort
