#include "client/cli/local.h"

#include <signal.h>
#include <stdlib.h>

#include <atomic>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/cli/child_process.h"
#include "client/cli/local_cluster.h"
#include "client/cli/message.h"
#include "runtime/base/exit_code.h"
#include "runtime/base/file_system.h"
#include "runtime/base/signals.h"

namespace cohort {
namespace {

constexpr absl::Duration kForm = absl::Seconds(60);
constexpr absl::Duration kStop = absl::Seconds(5);
constexpr absl::Duration kLook = absl::Milliseconds(200);

// The daemons' logs while a command runs: removed if it went well, named otherwise.
class LogFolder {
 public:
  LogFolder() {
    const char* parent = getenv("TMPDIR");
    path_ = absl::StrCat(parent == nullptr ? "/tmp" : parent, "/cohort-local-XXXXXX");
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  const std::string& path() const { return path_; }
  bool empty() const {
    const absl::StatusOr<std::unique_ptr<FileSystem>> files = MakePosixFileSystem("");
    const auto names = files.ok() ? (*files)->List(path_) : files.status();
    return !names.ok() || names->empty();
  }

  void Remove() {
    const absl::StatusOr<std::unique_ptr<FileSystem>> files = MakePosixFileSystem("");
    if (path_.empty() || !files.ok()) return;
    const absl::StatusOr<std::vector<std::string>> names = (*files)->List(path_);
    if (!names.ok()) return;
    for (const std::string& name : *names) (*files)->Delete(absl::StrCat(path_, "/", name)).IgnoreError();
    (*files)->Delete(path_).IgnoreError();
  }

 private:
  std::string path_;
};

// The first signal's number, 0 before.
absl::StatusOr<std::unique_ptr<SignalWaiter>> NoteSignal(std::atomic<int>& signal) {
  return SignalWaiter::Start([&signal](int number) {
    int none = 0;
    signal.compare_exchange_strong(none, number);
  });
}

int RunAndWait(const LocalCommand& command, LocalCluster& cluster, const std::atomic<int>& signal) {
  ChildOptions child;
  child.command = command.command;
  child.environment["COHORT_CLUSTER"] = cluster.leader_address();
  const absl::StatusOr<std::unique_ptr<ChildProcess>> process = ChildProcess::Start(child);
  if (!process.ok()) return Fail(process.status());
  bool passed_on = false;
  while (true) {
    if (const std::optional<int> code = (*process)->Wait(absl::Now() + kLook)) return *code;
    // Ctrl-C reaches the command by itself, as one of the terminal's processes; SIGTERM came to this one alone.
    if (signal == SIGTERM && !passed_on) (*process)->Signal(SIGTERM);
    passed_on |= signal != 0;
  }
}

int StayInForeground(LocalCluster& cluster, const std::atomic<int>& signal) {
  absl::FPrintF(stderr, "cohort: COHORT_CLUSTER=%s; Ctrl-C ends it\n", cluster.leader_address());
  while (signal == 0 && cluster.Running() > 0) {
    absl::SleepFor(kLook);  // between two looks at processes and signals
  }
  return kExitOk;
}

}  // namespace

int RunLocal(const LocalCommand& command) {
  std::atomic<int> signal = 0;
  const absl::StatusOr<std::unique_ptr<SignalWaiter>> waiter = NoteSignal(signal);
  if (!waiter.ok()) return Fail(waiter.status());
  LocalClusterOptions options;
  options.workers = command.workers;
  options.parameter_servers = command.parameter_servers;
  options.chief = command.chief;
  options.daemon_flags = command.daemon_flags;
  LogFolder logs;
  if (!command.command.empty()) options.log_folder = logs.path();
  const absl::StatusOr<std::unique_ptr<LocalCluster>> cluster = LocalCluster::Start(options, absl::Now() + kForm);
  int code;
  if (cluster.ok()) {
    absl::FPrintF(stderr, "cohort: %s\n", (*cluster)->summary());
    code = command.command.empty() ? StayInForeground(**cluster, signal) : RunAndWait(command, **cluster, signal);
    (*cluster)->Stop(absl::Now() + kStop);
  } else {
    code = Fail(cluster.status());
  }
  if (code != 0 && !logs.empty()) {
    absl::FPrintF(stderr, "cohort: the daemons' logs are in %s\n", logs.path());
  } else {
    logs.Remove();
  }
  return code;
}

}  // namespace cohort
