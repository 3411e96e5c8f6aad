#ifndef COHORT_CLIENT_CLI_CLI_FLAGS_H_
#define COHORT_CLIENT_CLI_CLI_FLAGS_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "client/models/train_options.h"

namespace cohort {

// What the command line of `cohort` says, by verb. Times and values are checked by the verbs themselves.

struct ClusterFlags {
  std::string cluster;  // HOST:PORT of any task; empty: COHORT_CLUSTER, else (train, run) a cluster in this process
  absl::Duration connect_timeout = absl::Seconds(10);
  bool json = false;
};

// How a program that runs is followed.
struct FollowFlags {
  std::string losses_file;  // one JSON line for each step
  bool detach = false;      // do not follow
  bool wait = true;         // in line behind another job
  int threads = 1;          // of the cluster in this process
  std::string name;         // of the job; empty: the program's
};

struct TrainCommand {
  ClusterFlags cluster;
  FollowFlags follow;
  TrainOptions options;
  std::string export_file;  // write the program there instead of running it
};

struct RunCommand {  // run, submit
  ClusterFlags cluster;
  FollowFlags follow;
  std::string file;
};

struct LocalCommand {
  int workers = 1;
  int parameter_servers = 0;
  bool chief = false;
  std::vector<std::string> daemon_flags;  // passed on to every daemon
  std::vector<std::string> command;       // empty: stay in the foreground
};

struct LaunchCommand {
  std::vector<std::string> daemon_flags;
  std::vector<std::string> command;  // train ... or run FILE
};

struct StatusCommand {
  ClusterFlags cluster;
};

struct JobsCommand {
  ClusterFlags cluster;
};

struct LogsCommand {
  ClusterFlags cluster;
  int64_t job = 0;  // 0: everything that the leader has
  bool follow = false;
};

struct CancelCommand {
  ClusterFlags cluster;
  int64_t job = 0;
};

struct ShutdownCommand {
  ClusterFlags cluster;
};

struct CheckCommand {
  bool json = false;
  bool insecure = false;
  std::string bind_address;
};

using CliCommand = std::variant<TrainCommand, RunCommand, LocalCommand, LaunchCommand, StatusCommand, JobsCommand,
                                LogsCommand, CancelCommand, ShutdownCommand, CheckCommand>;

// The command, or, if there is nothing to run (--help, wrong flags: the text has been printed), the exit code.
std::variant<CliCommand, int> ParseCommandLine(int argc, const char* const* argv);

}  // namespace cohort

#endif  // COHORT_CLIENT_CLI_CLI_FLAGS_H_
