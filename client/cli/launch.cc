#include "client/cli/launch.h"

#include <signal.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/cli/child_process.h"
#include "client/cli/message.h"
#include "client/cli/train.h"
#include "client/models/training_program.h"
#include "runtime/base/exit_code.h"
#include "runtime/base/signals.h"
#include "runtime/base/status_macros.h"
#include "runtime/cluster/chief.h"
#include "runtime/cluster/slurm.h"
#include "runtime/cluster/tf_config.h"
#include "runtime/driver/placement.h"

namespace cohort {
namespace {

constexpr absl::Duration kLook = absl::Milliseconds(200);
// For the daemon, once the job's client has ended: by itself, with the job, or, if there never was one, when it is
// told.
constexpr absl::Duration kEndItself = absl::Seconds(5);
constexpr absl::Duration kEnd = absl::Seconds(30);

struct LaunchedTask {
  TfConfig config;
  TaskId self;
  std::string address;
  bool leads = false;
  std::string cuda_visible_devices;  // from Slurm; empty: as they are
};

absl::StatusOr<LaunchedTask> FindTask() {
  LaunchedTask task;
  const Environment environment = SlurmEnvironment();
  if (getenv("TF_CONFIG") == nullptr && InSlurmStep(environment)) {
    COHORT_ASSIGN_OR_RETURN(SlurmTask slurm, SlurmTfConfig(environment));
    task.config = std::move(slurm.config);
    task.cuda_visible_devices = std::move(slurm.cuda_visible_devices);
  } else {
    COHORT_ASSIGN_OR_RETURN(task.config, TfConfigFromEnv());
  }
  if (task.config.local()) {
    return absl::InvalidArgumentError(
        "launch needs a cluster: set TF_CONFIG or start it as a Slurm step; without one use 'cohort train' itself");
  }
  COHORT_ASSIGN_OR_RETURN(task.self, OwnTask(task.config));
  COHORT_ASSIGN_OR_RETURN(task.address, OwnAddress(task.config));
  COHORT_ASSIGN_OR_RETURN(const TaskId leader, LeaderTask(task.config.cluster));
  task.leads = task.self == leader;
  return task;
}

absl::StatusOr<Program> ProgramOf(const TrainCommand& train) {
  if (!train.export_file.empty()) return absl::InvalidArgumentError("launch trains: leave --export away");
  return MakeTrainingProgram(train.options);
}

absl::StatusOr<Program> ProgramOf(const RunCommand& run) { return ReadProgram(run.file); }

// Whether the cluster has the tasks that the program needs.
absl::Status CheckTasks(const Program& program, const ClusterSpec& cluster) {
  std::vector<TaskAddress> workers, servers;
  for (const TaskId& task : cluster.tasks()) {
    if (task.job == "ps") servers.push_back({task, "", 0});
    if (task.job == "chief" || task.job == "worker") workers.push_back({task, "", 0});
  }
  return WorkersFor(program.strategy, workers, servers).status();
}

// The words after --, checked on every task with the program's file, so that a wrong line ends everywhere at once.
absl::Status CheckWords(const std::vector<std::string>& words, const ClusterSpec& cluster) {
  if (words.empty() || (words[0] != "train" && words[0] != "run")) {
    return absl::InvalidArgumentError("launch needs 'train …' or 'run FILE' after --");
  }
  std::vector<const char*> argv = {"cohort"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  const auto parsed = ParseCommandLine(static_cast<int>(argv.size()), argv.data());
  if (std::holds_alternative<int>(parsed)) return absl::InvalidArgumentError("the command after -- is wrong");
  const CliCommand& command = std::get<CliCommand>(parsed);
  const TrainCommand* train = std::get_if<TrainCommand>(&command);
  const RunCommand* run = std::get_if<RunCommand>(&command);
  if ((train != nullptr ? train->follow : run->follow).detach) {
    return absl::InvalidArgumentError("launch ends with its job: leave --detach away");
  }
  COHORT_ASSIGN_OR_RETURN(const Program program, train != nullptr ? ProgramOf(*train) : ProgramOf(*run));
  return CheckTasks(program, cluster);
}

absl::StatusOr<std::unique_ptr<ChildProcess>> StartDaemon(const LaunchedTask& task,
                                                          const std::vector<std::string>& flags) {
  ChildOptions child;
  COHORT_ASSIGN_OR_RETURN(std::string program, FindProgram(task.self.job == "ps" ? "ps/ps" : "worker/worker"));
  child.command = {std::move(program), "--lifetime=job"};
  child.command.insert(child.command.end(), flags.begin(), flags.end());
  child.environment["TF_CONFIG"] = ToText(task.config);
  if (!task.cuda_visible_devices.empty()) child.environment["CUDA_VISIBLE_DEVICES"] = task.cuda_visible_devices;
  child.own_group = true;
  return ChildProcess::Start(child);
}

absl::StatusOr<std::unique_ptr<ChildProcess>> StartClient(const LaunchedTask& task,
                                                          const std::vector<std::string>& words) {
  ChildOptions child;
  child.command = {"/proc/self/exe"};
  child.command.insert(child.command.end(), words.begin(), words.end());
  child.command.push_back(absl::StrCat("--cluster=", task.address));
  child.command.push_back("--connect_timeout=300s");  // the daemon beside it is only starting
  child.own_group = true;
  return ChildProcess::Start(child);
}

}  // namespace

int RunLaunch(const LaunchCommand& command) {
  const absl::StatusOr<LaunchedTask> task = FindTask();
  if (!task.ok()) return Fail(task.status());
  const absl::Status words = CheckWords(command.command, task->config.cluster);
  if (!words.ok()) return Fail(words);
  std::atomic<int> signal = 0;
  const auto waiter = SignalWaiter::Start([&signal](int number) { signal = number; });
  if (!waiter.ok()) return Fail(waiter.status());
  const absl::StatusOr<std::unique_ptr<ChildProcess>> daemon = StartDaemon(*task, command.daemon_flags);
  if (!daemon.ok()) return Fail(daemon.status());
  std::unique_ptr<ChildProcess> client;
  if (task->leads) {
    absl::StatusOr<std::unique_ptr<ChildProcess>> started = StartClient(*task, command.command);
    if (!started.ok()) return Fail(started.status());
    client = *std::move(started);
  }
  std::optional<int> client_code;
  absl::Time told = absl::InfiniteFuture();
  absl::Time end = absl::InfiniteFuture();
  while (absl::Now() < end) {
    if (absl::Now() >= told) {
      (*daemon)->Signal(SIGTERM);
      told = absl::InfiniteFuture();
    }
    if (const int number = signal.exchange(0)) (*daemon)->Signal(number);  // it drains, and its job's end comes here
    if (const std::optional<int> code = (*daemon)->Wait(absl::Now() + kLook)) {
      // The client has the whole story of the job, if it got that far.
      if (client != nullptr && !client_code.has_value()) client_code = client->Wait(absl::Now() + kLook * 10);
      return client_code.value_or(*code);
    }
    if (client == nullptr || client_code.has_value()) continue;
    client_code = client->Wait(absl::Now());
    if (!client_code.has_value()) continue;
    told = absl::Now() + kEndItself;
    end = absl::Now() + kEnd;
  }
  absl::FPrintF(stderr, "cohort: the daemon has not ended with its job\n");
  return client_code.value_or(kExitRetry);
}

}  // namespace cohort
