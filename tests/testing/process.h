#ifndef COHORT_TESTS_TESTING_PROCESS_H_
#define COHORT_TESTS_TESTING_PROCESS_H_

#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/base/mutex.h"
#include "runtime/base/thread.h"

namespace cohort::testing {

// The path of a file named in `data`, such as "worker/worker", wherever the test runs.
std::string Runfile(const std::string& path);

struct Command {
  std::vector<std::string> args;           // the program first; looked up in PATH if it has no slash
  std::map<std::string, std::string> env;  // on top of the test's own environment
  std::vector<std::string> unset;          // taken away from it
};

// A real process, in a process group of its own, whose output is read as it comes, so that it never blocks on a full
// pipe. Standard input is empty. The destructor kills and reaps the whole group, also what the process left running,
// and then has all output. Safe from any thread.
//
// Waits give DeadlineExceeded, or FailedPrecondition once the process ended without what was waited for; both carry the
// command and the output so far, for the test's log.
class Process {
 public:
  // NotFound: no such program.
  static absl::StatusOr<std::unique_ptr<Process>> Start(Command command);
  ~Process();

  pid_t pid() const { return pid_; }

  // The first whole line, of standard output or error, that contains `text`.
  absl::StatusOr<std::string> WaitForLine(const std::string& text, absl::Time deadline);

  // The exit code, or 128 + the signal that ended it. All that it wrote is in out() and err() then.
  absl::StatusOr<int> Wait(absl::Time deadline);

  bool running() const;
  void Signal(int signal);       // to the process alone; nothing happens if it has ended
  void SignalGroup(int signal);  // to all of its group

  std::string out() const;
  std::string err() const;

 private:
  Process(std::string name, pid_t pid, int out, int err);
  void ReadLoop();
  void ReapLoop();
  // Reads what is there; false at the end of `fd`.
  bool Drain(int fd, std::string* text);
  absl::Status Late(const std::string& wanted, bool ended) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string name_;  // the command, for messages
  const pid_t pid_;         // also of its group
  const int out_fd_;
  const int err_fd_;
  const int wake_;  // eventfd: the process ended, or we do

  mutable Mutex mu_;
  std::string out_ ABSL_GUARDED_BY(mu_);
  std::string err_ ABSL_GUARDED_BY(mu_);
  int exit_code_ ABSL_GUARDED_BY(mu_) = -1;       // -1: not reaped
  bool all_read_ ABSL_GUARDED_BY(mu_) = false;    // what the process itself wrote
  bool group_gone_ ABSL_GUARDED_BY(mu_) = false;  // nobody left to signal
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  Thread reader_;
  Thread reaper_;
};

struct Finished {
  int exit_code = 0;
  std::string out;
  std::string err;
};

// Runs a command to its end. DeadlineExceeded, with its output: it was killed.
absl::StatusOr<Finished> RunToEnd(Command command, absl::Duration timeout);

}  // namespace cohort::testing

#endif  // COHORT_TESTS_TESTING_PROCESS_H_
