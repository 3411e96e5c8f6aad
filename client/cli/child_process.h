#ifndef COHORT_CLIENT_CLI_CHILD_PROCESS_H_
#define COHORT_CLIENT_CLI_CHILD_PROCESS_H_

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace cohort {

struct ChildOptions {
  std::vector<std::string> command;                // command[0] is looked up in PATH if it has no slash
  std::map<std::string, std::string> environment;  // added to this process's own
  std::string output_file;                         // standard output and error go there; empty: this process's own
  // In a process group of its own: Ctrl-C on the terminal does not reach it.
  bool own_group = false;
};

// A started program. It ends with this process (killed, if this one dies without a word). Used by one thread.
class ChildProcess {
 public:
  // To be called by the main thread: the kernel ends the child with the thread that started it.
  // InvalidArgument: an empty command. NotFound: no such program. PermissionDenied: not to be executed. Internal: names
  // the system's reason.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(const ChildOptions& options);
  ~ChildProcess();  // kills and reaps what still runs

  pid_t pid() const { return pid_; }
  void Signal(int signal);
  // The exit code (128 + N if signal N ended it) once it has ended; nullopt: still running at the deadline.
  std::optional<int> Wait(absl::Time deadline);

 private:
  explicit ChildProcess(pid_t pid, int handle) : pid_(pid), handle_(handle) {}

  const pid_t pid_;
  const int handle_;  // pidfd: readable once the child has ended
  std::optional<int> exit_code_;
};

// The path of another of our programs ("worker/worker", "ps/ps"): where the build or an installation puts it relative
// to this one. NotFound names the places looked at.
absl::StatusOr<std::string> FindProgram(const std::string& path);

}  // namespace cohort

#endif  // COHORT_CLIENT_CLI_CHILD_PROCESS_H_
