#include "client/cli/local_cluster.h"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "runtime/base/cpu_count.h"
#include "runtime/base/file_system.h"
#include "runtime/base/status_macros.h"
#include "runtime/cluster/chief.h"
#include "runtime/cluster/tf_config.h"
#include "runtime/remote/job_control.h"

namespace cohort {
namespace {

constexpr int kStarts = 5;

std::string LastLines(const std::string& path) {
  const absl::StatusOr<std::unique_ptr<FileSystem>> files = MakePosixFileSystem("");
  if (path.empty() || !files.ok()) return "";
  const absl::StatusOr<std::string> text = (*files)->ReadFile(path);
  if (!text.ok()) return "";
  const std::vector<std::string> lines = absl::StrSplit(*text, '\n', absl::SkipEmpty());
  return lines.empty() ? "" : lines.back();
}

}  // namespace

absl::StatusOr<std::unique_ptr<LocalCluster>> LocalCluster::Start(const LocalClusterOptions& options,
                                                                  absl::Time deadline) {
  if (options.workers < 1 && !options.chief) {
    return absl::InvalidArgumentError("a cluster needs a worker or a chief: give --workers=N or --chief");
  }
  absl::StatusOr<std::unique_ptr<LocalCluster>> cluster;
  for (int i = 0; i < kStarts; ++i) {
    cluster = StartOnce(options, deadline);
    // A lease keeps our own programs away from a port, not somebody else's.
    if (cluster.ok() || !absl::StrContains(cluster.status().message(), "address in use")) break;
  }
  return cluster;
}

absl::StatusOr<std::unique_ptr<LocalCluster>> LocalCluster::StartOnce(const LocalClusterOptions& options,
                                                                      absl::Time deadline) {
  std::unique_ptr<LocalCluster> cluster(new LocalCluster);
  std::vector<ClusterSpec::Job> jobs;
  const std::pair<const char*, int> wanted[] = {
      {"chief", options.chief ? 1 : 0}, {"worker", options.workers}, {"ps", options.parameter_servers}};
  for (const auto& [name, count] : wanted) {
    if (count == 0) continue;
    ClusterSpec::Job& job = jobs.emplace_back();
    job.name = name;
    for (int i = 0; i < count; ++i) {
      COHORT_ASSIGN_OR_RETURN(PortLease port, LeasePort());
      job.tasks[i] = absl::StrCat("127.0.0.1:", port.port());
      cluster->daemons_.push_back({{name, i}, job.tasks[i], "", nullptr});
      cluster->ports_.push_back(std::move(port));
    }
  }
  TfConfig config;
  COHORT_ASSIGN_OR_RETURN(config.cluster, ClusterSpec::Create(std::move(jobs)));
  COHORT_ASSIGN_OR_RETURN(const TaskId leader, LeaderTask(config.cluster));
  COHORT_ASSIGN_OR_RETURN(cluster->leader_address_, config.cluster.task_address(leader));

  const int cpus = UsableCpuCount();
  const int computing = options.workers + (options.chief ? 1 : 0);
  const int threads = std::max(1, cpus / computing);
  cluster->summary_ =
      absl::StrCat(options.chief ? "1 chief, " : "", options.workers, options.workers == 1 ? " worker, " : " workers, ",
                   options.parameter_servers, " ps; ", cpus, cpus == 1 ? " CPU" : " CPUs", " divided: ", threads,
                   threads == 1 ? " thread" : " threads", " for each worker");
  for (Daemon& daemon : cluster->daemons_) {
    config.self = daemon.task;
    COHORT_RETURN_IF_ERROR(cluster->StartDaemon(options, ToText(config), threads, daemon));
  }
  COHORT_RETURN_IF_ERROR(cluster->WaitUntilFormed(deadline));
  return cluster;
}

absl::Status LocalCluster::StartDaemon(const LocalClusterOptions& options, const std::string& tf_config, int threads,
                                       Daemon& daemon) {
  const bool ps = daemon.task.job == "ps";
  COHORT_ASSIGN_OR_RETURN(const std::string program, FindProgram(ps ? "ps/ps" : "worker/worker"));
  ChildOptions child;
  child.command = {program};
  if (!ps) child.command.push_back(absl::StrCat("--threads=", threads));
  child.command.insert(child.command.end(), options.daemon_flags.begin(), options.daemon_flags.end());
  child.environment["TF_CONFIG"] = tf_config;
  child.own_group = true;
  if (!options.log_folder.empty()) {
    daemon.log_file = absl::StrCat(options.log_folder, "/", daemon.task.job, "-", daemon.task.index, ".log");
    child.output_file = daemon.log_file;
  }
  COHORT_ASSIGN_OR_RETURN(daemon.process, ChildProcess::Start(child));
  return absl::OkStatus();
}

absl::Status LocalCluster::CheckAlive() {
  for (Daemon& daemon : daemons_) {
    const std::optional<int> code = daemon.process->Wait(absl::Now());
    if (!code.has_value()) continue;
    return absl::UnavailableError(absl::StrCat(daemon.task.ToString(), " at ", daemon.address, " ended with exit code ",
                                               *code, " while the cluster was forming: ", LastLines(daemon.log_file)));
  }
  return absl::OkStatus();
}

absl::Status LocalCluster::WaitUntilFormed(absl::Time deadline) {
  absl::Status last = absl::DeadlineExceededError("no daemon answered");
  while (absl::Now() < deadline) {
    COHORT_RETURN_IF_ERROR(CheckAlive());
    const absl::Time attempt = std::min(deadline, absl::Now() + absl::Seconds(2));
    const absl::StatusOr<std::unique_ptr<JobControl>> control = ConnectCluster(leader_address_, attempt);
    const absl::StatusOr<ClusterStatus> status = control.ok() ? (*control)->Status(attempt) : control.status();
    last = status.status();
    if (status.ok()) {
      const auto missing = std::find_if(status->members.begin(), status->members.end(),
                                        [](const MemberStatus& member) { return !member.present; });
      if (missing == status->members.end()) return absl::OkStatus();
      last = absl::DeadlineExceededError(absl::StrCat(missing->task.task.ToString(), " has not joined"));
    }
    // Paces the questions; a daemon that ends meanwhile is noticed at once.
    daemons_.front().process->Wait(absl::Now() + absl::Milliseconds(20));
  }
  return Annotate(last, "the cluster has not formed");
}

int LocalCluster::Running() {
  int running = 0;
  for (Daemon& daemon : daemons_) running += daemon.process->Wait(absl::Now()).has_value() ? 0 : 1;
  return running;
}

void LocalCluster::Stop(absl::Time deadline) {
  for (Daemon& daemon : daemons_) {
    if (daemon.process != nullptr) daemon.process->Signal(SIGTERM);
  }
  for (Daemon& daemon : daemons_) {
    if (daemon.process == nullptr || daemon.process->Wait(deadline).has_value()) continue;
    daemon.process->Signal(SIGKILL);
  }
}

LocalCluster::~LocalCluster() { Stop(absl::Now() + absl::Seconds(5)); }

}  // namespace cohort
