#include "worker/cluster_view.h"

#include <algorithm>

#include "absl/strings/str_join.h"

namespace cohort {

JobInfo ToJobInfo(const JobRecord& record) {
  JobInfo info;
  info.id = record.id;
  info.name = record.name;
  info.state = record.state;
  info.waits_for = record.behind;
  info.submitted = record.submitted;
  info.started = record.started;
  info.ended = record.ended;
  info.step = record.progress.step;
  info.steps_total = record.progress.steps_total;
  info.error = record.result;
  return info;
}

ClusterStatus DescribeCluster(const Roster& roster, const std::vector<JobRecord>& jobs, absl::Time now) {
  ClusterStatus status;
  status.epoch = roster.epoch;
  status.leader = roster.leader;
  for (const RosterMember& member : roster.members) {
    MemberStatus& shown = status.members.emplace_back();
    shown.task = {member.task, member.address, member.incarnation};
    shown.present = member.state == MemberState::kAlive;
    shown.devices = absl::StrJoin(member.devices, ",");
    if (member.last_heard != absl::InfinitePast()) {
      shown.last_heartbeat_age_seconds = absl::ToDoubleSeconds(now - member.last_heard);
    }
  }
  for (const JobRecord& job : jobs) status.jobs.push_back(ToJobInfo(job));
  std::stable_sort(status.jobs.begin(), status.jobs.end(), [](const JobInfo& a, const JobInfo& b) {
    return HasEnded(a.state) != HasEnded(b.state) ? HasEnded(b.state) : a.id > b.id;
  });
  return status;
}

}  // namespace cohort
