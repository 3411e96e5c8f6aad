#include "client/cli/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "runtime/base/signals.h"

extern char** environ;

namespace cohort {
namespace {

// NAME=VALUE of this process, with the changes.
std::vector<std::string> MergedEnvironment(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!changes.contains(text.substr(0, text.find('=')))) merged.push_back(text);
  }
  for (const auto& [name, value] : changes) merged.push_back(absl::StrCat(name, "=", value));
  return merged;
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

absl::Status StartError(const std::string& program, int error) {
  const std::string text = absl::StrCat("cannot start '", program, "': ", strerror(error));
  if (error == ENOENT) return absl::NotFoundError(text);
  if (error == EACCES) return absl::PermissionDeniedError(text);
  return absl::InternalError(text);
}

// Between fork and exec: nothing here may allocate or lock. Writes errno to `report` if the program does not start.
[[noreturn]] void Become(char* const* argv, char* const* env, const ChildOptions& options, pid_t parent, int report) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kill(getpid(), SIGKILL));  // the parent died before the line above
  if (options.own_group) setpgid(0, 0);
  UnblockShutdownSignals();
  if (!options.output_file.empty()) {
    const int out = open(options.output_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (out >= 0) {
      dup2(out, STDOUT_FILENO);
      dup2(out, STDERR_FILENO);
    }
  }
  execvpe(argv[0], argv, env);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(report, &error, sizeof(error));
  _exit(127);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(const ChildOptions& options) {
  if (options.command.empty()) return absl::InvalidArgumentError("no program to start");
  std::vector<std::string> words = options.command;
  std::vector<std::string> environment = MergedEnvironment(options.environment);
  const std::vector<char*> argv = Pointers(words);
  const std::vector<char*> env = Pointers(environment);
  int report[2];  // closed by a successful exec
  if (pipe2(report, O_CLOEXEC) != 0) return StartError(words[0], errno);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) Become(argv.data(), env.data(), options, parent, report[1]);
  const int fork_error = errno;
  close(report[1]);
  int error = pid < 0 ? fork_error : 0;
  if (pid > 0 && read(report[0], &error, sizeof(error)) != sizeof(error)) error = 0;
  close(report[0]);
  if (error != 0) {
    if (pid > 0) waitpid(pid, nullptr, 0);
    return StartError(words[0], error);
  }
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (handle < 0) {  // nothing to wait on
    error = errno;
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return StartError(words[0], error);
  }
  return std::unique_ptr<ChildProcess>(new ChildProcess(pid, handle));
}

ChildProcess::~ChildProcess() {
  if (!exit_code_.has_value()) {
    Signal(SIGKILL);
    Wait(absl::InfiniteFuture());
  }
  close(handle_);
}

void ChildProcess::Signal(int signal) {
  if (!exit_code_.has_value()) kill(pid_, signal);
}

std::optional<int> ChildProcess::Wait(absl::Time deadline) {
  while (!exit_code_.has_value()) {
    const absl::Duration left = std::clamp(deadline - absl::Now(), absl::ZeroDuration(), absl::Seconds(60));
    pollfd ended{handle_, POLLIN, 0};
    if (poll(&ended, 1, static_cast<int>(absl::ToInt64Milliseconds(absl::Ceil(left, absl::Milliseconds(1))))) > 0) {
      int status = 0;
      waitpid(pid_, &status, 0);
      exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    } else if (absl::Now() >= deadline) {
      return std::nullopt;
    }
  }
  return exit_code_;
}

absl::StatusOr<std::string> FindProgram(const std::string& path) {
  char self[4096];
  const ssize_t size = readlink("/proc/self/exe", self, sizeof(self));
  const std::string own(self, std::max<ssize_t>(size, 0));
  const std::string folder = own.substr(0, own.rfind('/'));
  const std::string name = path.substr(path.rfind('/') + 1);
  // Built: bazel-bin/client/cohort beside bazel-bin/worker/worker, benches one deeper. Installed: all in one folder.
  const std::vector<std::string> places = {absl::StrCat(folder, "/../", path), absl::StrCat(folder, "/../../", path),
                                           absl::StrCat(folder, "/cohort-", name), absl::StrCat(folder, "/", name)};
  for (const std::string& place : places) {
    if (access(place.c_str(), X_OK) == 0) return place;
  }
  return absl::NotFoundError(absl::StrCat("no program '", name, "'; looked for ", absl::StrJoin(places, ", ")));
}

}  // namespace cohort
