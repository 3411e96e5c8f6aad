#include "runtime/remote/member.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "runtime/base/cpu_isa.h"
#include "runtime/base/log.h"
#include "runtime/coordination/job_record.h"

namespace cohort {
namespace {

constexpr absl::Duration kReportMissing = absl::Seconds(10);
constexpr absl::Duration kLeadersWord = absl::Seconds(1);
// Of what tasks say to each other. Tasks of different versions do not form a cluster.
constexpr int kProtocolVersion = 1;

}  // namespace

MemberInfo MakeMemberInfo(const Identity& identity) {
  MemberInfo info;
  info.task = identity.self;
  info.address = identity.address;
  info.incarnation = identity.incarnation;
  // Users may list the evaluator in its own TF_CONFIG only.
  const ClusterSpec cluster = identity.config.cluster.Without("evaluator");
  info.cluster_fingerprint = cluster.Fingerprint();
  info.cluster = cluster.ToJson();
  info.protocol_version = kProtocolVersion;
  info.devices = {"CPU:0"};
  info.cpu_isa = CpuIsa();
  return info;
}

Member::Member(const Identity& identity, const DaemonOptions& options, DaemonState& state, MemberHooks hooks)
    : end_with_job_(options.end_with_job), state_(state), hooks_(std::move(hooks)) {
  CoordinationClientOptions client;
  client.self = MakeMemberInfo(identity);
  client.leader = identity.leader;
  client.leader_address = identity.leader_address;
  client.heartbeat = options.heartbeat;
  client.peer_lost = options.peer_lost;
  client_ = std::make_unique<CoordinationClient>(std::move(client), MakeListener());
}

CoordinationListener Member::MakeListener() {
  CoordinationListener listener;
  listener.report = hooks_.report;
  listener.on_joined = [this](const JoinResult& joined) {
    for (const std::string& warning : joined.warnings) LogWarn("membership", warning);
    OnRoster(joined.roster);
  };
  listener.on_change = [this](const RosterChange& change) {
    OnRoster(change.roster);
    for (const MemberLoss& loss : change.losses) {
      LogWarn("membership", loss.status.message());
      hooks_.on_loss(loss);
    }
  };
  listener.on_leader_lost = [this](const absl::Status& lost) {
    LogWarn("membership", lost.message());
    hooks_.on_leader_lost(lost);
    if (end_with_job_ && state_.formed()) state_.Stop({StopReason::Kind::kLeaderLost, lost});
  };
  listener.on_refused = [this](const absl::Status& why) { state_.Stop({StopReason::Kind::kRefused, why}); };
  listener.on_shutdown = [this] { state_.Stop({StopReason::Kind::kShutdown, {}}); };
  listener.on_job = [this](const JobRecord& job) {
    if (end_with_job_ && HasEnded(job.state)) state_.Stop({StopReason::Kind::kJobEnded, job.result});
  };
  return listener;
}

void Member::OnRoster(const Roster& roster) {
  hooks_.on_roster(roster);
  {
    MutexLock lock(&mu_);
    missing_ = MissingTasks(roster);
  }
  ShowRoster(roster, state_);
}

absl::Status Member::NotFormed() const {
  const absl::Status joined = client_->WaitJoined(absl::Now());
  if (!joined.ok()) return joined;
  MutexLock lock(&mu_);
  return absl::DeadlineExceededError(absl::StrCat("waiting for ", absl::StrJoin(missing_, ", ")));
}

void WaitFormed(DaemonState& state, bool leads, absl::Time start, absl::Duration start_timeout,
                const std::function<absl::Status()>& not_formed) {
  const absl::Time deadline = start + start_timeout + (leads ? absl::ZeroDuration() : kLeadersWord);
  while (!state.WaitFormed(std::min(deadline, absl::Now() + kReportMissing))) {
    if (state.stop_reason().has_value()) return;
    const absl::Status reason = not_formed();
    if (absl::Now() < deadline) {
      LogInfo("daemon", reason.message());
      continue;
    }
    const absl::Status over(reason.code(), absl::StrCat("not all tasks came within ",
                                                        absl::FormatDuration(start_timeout), ": ", reason.message()));
    state.Stop({StopReason::Kind::kRefused, over});
  }
}

std::vector<std::string> MissingTasks(const Roster& roster) {
  std::vector<std::string> missing;
  for (const RosterMember& member : roster.members) {
    if (member.state != MemberState::kAlive && member.task.job != "evaluator") {
      missing.push_back(TaskText(member.task, member.address));
    }
  }
  return missing;
}

void ShowRoster(const Roster& roster, DaemonState& state) {
  if (MissingTasks(roster).empty()) state.SetFormed();
}

}  // namespace cohort
