#include "tests/testing/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"

extern char** environ;

namespace cohort::testing {
namespace {

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> Environment(const Command& command) {
  std::map<std::string, std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const size_t equals = text.find('=');
    if (equals != std::string::npos) merged[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : command.env) merged[name] = value;
  for (const std::string& name : command.unset) merged.erase(name);
  std::vector<std::string> entries;
  for (const auto& [name, value] : merged) entries.push_back(absl::StrCat(name, "=", value));
  return entries;
}

// The error number of posix_spawn; its own group, no blocked or ignored signals, nothing to read.
int Spawn(Command command, int out, int err, pid_t* pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  sigset_t set;
  sigemptyset(&set);
  posix_spawnattr_setsigmask(&attributes, &set);
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM}) sigaddset(&set, signal);
  posix_spawnattr_setsigdefault(&attributes, &set);
  std::vector<std::string> environment = Environment(command);
  const int error = posix_spawnp(pid, command.args[0].c_str(), &actions, &attributes, Pointers(command.args).data(),
                                 Pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

// The first whole line of `text` that contains `wanted`.
bool FindLine(const std::string& text, const std::string& wanted, std::string* line) {
  for (size_t from = 0; (from = text.find(wanted, from)) != std::string::npos; ++from) {
    const size_t end = text.find('\n', from);
    if (end == std::string::npos) return false;
    const size_t before = from == 0 ? std::string::npos : text.rfind('\n', from - 1);
    const size_t begin = before == std::string::npos ? 0 : before + 1;
    *line = text.substr(begin, end - begin);
    return true;
  }
  return false;
}

}  // namespace

std::string Runfile(const std::string& path) {
  const char* const root = std::getenv("TEST_SRCDIR");
  const char* const workspace = std::getenv("TEST_WORKSPACE");
  if (root == nullptr || workspace == nullptr) return absl::StrCat("bazel-bin/", path);
  return absl::StrCat(root, "/", workspace, "/", path);
}

absl::StatusOr<std::unique_ptr<Process>> Process::Start(Command command) {
  if (command.args.empty()) return absl::InvalidArgumentError("no command");
  const std::string name = absl::StrJoin(command.args, " ");
  // What the process leaves running becomes ours, to be reaped, instead of init's.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  int out[2];
  int err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
    return absl::ResourceExhaustedError(absl::StrCat("a pipe for '", name, "': ", std::strerror(errno)));
  }
  pid_t pid = -1;
  const int error = Spawn(std::move(command), out[1], err[1], &pid);
  close(out[1]);
  close(err[1]);
  if (error != 0) {
    close(out[0]);
    close(err[0]);
    return absl::NotFoundError(absl::StrCat("starting '", name, "': ", std::strerror(error)));
  }
  return std::unique_ptr<Process>(new Process(name, pid, out[0], err[0]));
}

Process::Process(std::string name, pid_t pid, int out, int err)
    : name_(std::move(name)), pid_(pid), out_fd_(out), err_fd_(err), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  fcntl(out_fd_, F_SETFL, O_NONBLOCK);
  fcntl(err_fd_, F_SETFL, O_NONBLOCK);
  reader_ = Thread("process-reader", [this] { ReadLoop(); });
  reaper_ = Thread("process-reaper", [this] { ReapLoop(); });
}

Process::~Process() {
  SignalGroup(SIGKILL);
  reaper_.Join();
  {
    MutexLock lock(&mu_);
    stopping_ = true;
  }
  eventfd_write(wake_, 1);
  reader_.Join();
  close(out_fd_);
  close(err_fd_);
  close(wake_);
}

bool Process::Drain(int fd, std::string* text) {
  char buffer[1 << 16];
  while (true) {
    const ssize_t got = read(fd, buffer, sizeof(buffer));
    if (got == 0) return false;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return true;
    MutexLock lock(&mu_);
    text->append(buffer, got);
  }
}

void Process::ReadLoop() {
  pollfd fds[3] = {{out_fd_, POLLIN, 0}, {err_fd_, POLLIN, 0}, {wake_, POLLIN, 0}};
  while (true) {
    poll(fds, 3, -1);  // ends with the destructor
    // Before reading, so that what the process wrote before its end is read after it is known.
    bool ended = false;
    bool stopping = false;
    eventfd_t ignored;
    eventfd_read(wake_, &ignored);
    {
      MutexLock lock(&mu_);
      ended = exit_code_ >= 0;
      stopping = stopping_;
    }
    if (fds[0].fd >= 0 && !Drain(out_fd_, &out_)) fds[0].fd = -1;
    if (fds[1].fd >= 0 && !Drain(err_fd_, &err_)) fds[1].fd = -1;
    if (stopping) return;
    MutexLock lock(&mu_);
    all_read_ = ended;
  }
}

void Process::ReapLoop() {
  while (true) {
    siginfo_t info;
    // Looks without reaping: until the lock is held, the number must not be given to another process.
    if (waitid(P_PGID, pid_, &info, WEXITED | WNOWAIT) != 0) {
      if (errno == EINTR) continue;
      MutexLock lock(&mu_);
      group_gone_ = true;
      return;
    }
    MutexLock lock(&mu_);
    int status = 0;
    waitpid(info.si_pid, &status, 0);
    if (info.si_pid != pid_) continue;
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    eventfd_write(wake_, 1);
  }
}

absl::Status Process::Late(const std::string& wanted, bool ended) const {
  const std::string state = ended ? absl::StrCat("ended with ", exit_code_) : "is late";
  const std::string what = absl::StrCat("'", name_, "' ", state, ", waiting for ", wanted, "\n--- standard output\n",
                                        out_, "--- standard error\n", err_, "---");
  return ended ? absl::FailedPreconditionError(what) : absl::DeadlineExceededError(what);
}

absl::StatusOr<std::string> Process::WaitForLine(const std::string& text, absl::Time deadline) {
  std::string line;
  MutexLock lock(&mu_);
  const auto found = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return FindLine(out_, text, &line) || FindLine(err_, text, &line);
  };
  const auto found_or_ended = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return found() || all_read_; };
  mu_.AwaitWithDeadline(found_or_ended, deadline);
  if (found()) return line;
  return Late(absl::StrCat("a line with '", text, "'"), all_read_);
}

absl::StatusOr<int> Process::Wait(absl::Time deadline) {
  MutexLock lock(&mu_);
  const auto ended = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return all_read_; };
  if (mu_.AwaitWithDeadline(ended, deadline)) return exit_code_;
  return Late("its end", false);
}

bool Process::running() const {
  MutexLock lock(&mu_);
  return exit_code_ < 0;
}

void Process::Signal(int signal) {
  MutexLock lock(&mu_);
  if (exit_code_ < 0) kill(pid_, signal);
}

void Process::SignalGroup(int signal) {
  MutexLock lock(&mu_);
  if (!group_gone_) kill(-pid_, signal);
}

std::string Process::out() const {
  MutexLock lock(&mu_);
  return out_;
}

std::string Process::err() const {
  MutexLock lock(&mu_);
  return err_;
}

absl::StatusOr<Finished> RunToEnd(Command command, absl::Duration timeout) {
  auto process = Process::Start(std::move(command));
  if (!process.ok()) return process.status();
  const auto exit_code = (*process)->Wait(absl::Now() + timeout);
  if (!exit_code.ok()) return exit_code.status();
  return Finished{*exit_code, (*process)->out(), (*process)->err()};
}

}  // namespace cohort::testing
