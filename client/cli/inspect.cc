#include "client/cli/inspect.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/cli/message.h"
#include "runtime/base/exit_code.h"
#include "runtime/base/status_macros.h"
#include "runtime/cluster/describe.h"
#include "runtime/remote/job_control.h"

namespace cohort {
namespace {

using Json = nlohmann::ordered_json;

constexpr absl::Duration kControl = absl::Seconds(10);

absl::StatusOr<std::unique_ptr<JobControl>> Connect(const ClusterFlags& flags) {
  if (flags.cluster.empty()) {
    return absl::InvalidArgumentError(
        "no cluster is named; give --cluster=HOST:PORT of any task, or set COHORT_CLUSTER");
  }
  return ConnectCluster(flags.cluster, absl::Now() + flags.connect_timeout);
}

// Runs `body` with a connection; its error becomes the exit code.
template <typename Body>
int WithCluster(const ClusterFlags& flags, Body body) {
  const absl::StatusOr<std::unique_ptr<JobControl>> control = Connect(flags);
  if (!control.ok()) return Fail(control.status());
  const absl::Status status = body(**control);
  return status.ok() ? kExitOk : Fail(status);
}

Json ToJson(const JobInfo& job) {
  Json json = {{"job", job.id},
               {"name", job.name},
               {"state", std::string(JobStateName(job.state))},
               {"step", job.step},
               {"steps_total", job.steps_total}};
  if (!job.waits_for.empty()) json["waits_for"] = job.waits_for;
  if (!job.error.ok()) json["error"] = job.error.ToString();
  return json;
}

std::string ToText(const JobInfo& job) {
  std::string text = absl::StrFormat("%5d  %-10s %-24s step %d", job.id, JobStateName(job.state), job.name, job.step);
  if (job.steps_total > 0) absl::StrAppend(&text, "/", job.steps_total);
  if (!job.waits_for.empty()) absl::StrAppend(&text, "  behind ", job.waits_for);
  if (!job.error.ok()) absl::StrAppend(&text, "  ", job.error.message());
  return text;
}

Json ToJson(const ClusterStatus& status) {
  Json json = {{"epoch", status.epoch},
               {"leader", status.leader.ToString()},
               {"members", Json::array()},
               {"jobs", Json::array()}};
  for (const MemberStatus& member : status.members) {
    json["members"].push_back({{"task", member.task.task.ToString()},
                               {"address", member.task.address},
                               {"present", member.present},
                               {"devices", member.devices},
                               {"last_step", member.last_step},
                               {"last_heartbeat_age_seconds", member.last_heartbeat_age_seconds},
                               {"bytes_sent", member.bytes_sent}});
  }
  for (const JobInfo& job : status.jobs) json["jobs"].push_back(ToJson(job));
  return json;
}

void Print(const ClusterStatus& status) {
  absl::PrintF("epoch %d, leader %s\n", status.epoch, status.leader.ToString());
  for (const MemberStatus& member : status.members) {
    absl::PrintF("%-24s %-22s %-8s %-12s step %d\n", member.task.task.ToString(), member.task.address,
                 member.present ? "present" : "missing", member.devices, member.last_step);
  }
  for (const JobInfo& job : status.jobs) absl::PrintF("%s\n", ToText(job));
}

}  // namespace

int RunStatus(const StatusCommand& command) {
  return WithCluster(command.cluster, [&](JobControl& control) -> absl::Status {
    COHORT_ASSIGN_OR_RETURN(const ClusterStatus status, control.Status(absl::Now() + kControl));
    if (command.cluster.json) {
      absl::PrintF("%s\n", ToJson(status).dump());
    } else {
      Print(status);
    }
    return absl::OkStatus();
  });
}

int RunJobs(const JobsCommand& command) {
  return WithCluster(command.cluster, [&](JobControl& control) -> absl::Status {
    COHORT_ASSIGN_OR_RETURN(const std::vector<JobInfo> jobs, control.Jobs(absl::Now() + kControl));
    Json json = Json::array();
    for (const JobInfo& job : jobs) {
      json.push_back(ToJson(job));
      if (!command.cluster.json) absl::PrintF("%s\n", ToText(job));
    }
    if (command.cluster.json) absl::PrintF("%s\n", json.dump());
    return absl::OkStatus();
  });
}

int RunLogs(const LogsCommand& command) {
  return WithCluster(command.cluster, [&](JobControl& control) {
    return control.Logs(command.job, command.follow, [](const std::string& line) {
      if (!line.empty()) {
        absl::PrintF("%s\n", line);
        std::fflush(stdout);
      }
      return true;
    });
  });
}

int RunCancel(const CancelCommand& command) {
  return WithCluster(command.cluster,
                     [&](JobControl& control) { return control.Cancel(command.job, absl::Now() + kControl); });
}

int RunShutdown(const ShutdownCommand& command) {
  return WithCluster(command.cluster, [](JobControl& control) { return control.Shutdown(absl::Now() + kControl); });
}

int RunCheck(const CheckCommand& command) {
  const absl::StatusOr<TfConfig> config = TfConfigFromEnv();
  if (!config.ok()) return Fail(config.status());
  const ListenOptions listen{.bind_address = command.bind_address, .insecure = command.insecure};
  const absl::StatusOr<ProcessDescription> description = Describe(*config, listen, SystemNetwork());
  if (!description.ok()) return Fail(description.status());
  absl::PrintF("%s", command.json ? ToJson(*description) + "\n" : ToText(*description));
  return kExitOk;
}

}  // namespace cohort
