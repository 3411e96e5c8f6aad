#include "runtime/remote/member_coding.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/remote/common_coding.h"
#include "runtime/remote/job_coding.h"

namespace cohort {
namespace {

using cohort::FromProto;
using cohort::ToProto;

wire::RosterMember ToProto(const RosterMember& member) {
  wire::RosterMember proto;
  *proto.mutable_task() = ToProto(TaskAddress{member.task, member.address, member.incarnation});
  proto.set_state(static_cast<wire::MemberState>(static_cast<int>(member.state) + 1));
  proto.mutable_devices()->Add(member.devices.begin(), member.devices.end());
  return proto;
}

absl::StatusOr<RosterMember> FromProto(const wire::RosterMember& proto) {
  if (!wire::MemberState_IsValid(proto.state()) || proto.state() == wire::MEMBER_STATE_UNSPECIFIED) {
    return absl::InvalidArgumentError(absl::StrCat("member: no such state: ", static_cast<int>(proto.state())));
  }
  COHORT_ASSIGN_OR_RETURN(TaskAddress task, FromProto(proto.task()));
  RosterMember member;
  member.task = std::move(task.task);
  member.address = std::move(task.address);
  member.incarnation = task.incarnation;
  member.state = static_cast<MemberState>(static_cast<int>(proto.state()) - 1);
  member.devices.assign(proto.devices().begin(), proto.devices().end());
  return member;
}

wire::MemberLoss ToProto(const MemberLoss& loss) {
  wire::MemberLoss proto;
  *proto.mutable_task() = ToProto(TaskAddress{loss.task, loss.address, loss.incarnation});
  proto.set_epoch(loss.epoch);
  *proto.mutable_status() = ToProto(loss.status);
  return proto;
}

absl::StatusOr<MemberLoss> FromProto(const wire::MemberLoss& proto) {
  COHORT_ASSIGN_OR_RETURN(TaskAddress task, FromProto(proto.task()));
  MemberLoss loss;
  loss.task = std::move(task.task);
  loss.address = std::move(task.address);
  loss.incarnation = task.incarnation;
  loss.epoch = proto.epoch();
  loss.status = FromProto(proto.status());
  return loss;
}

absl::StatusOr<absl::Time> TimeFromProto(bool present, const google::protobuf::Timestamp& proto) {
  if (!present) return absl::InfinitePast();
  return FromProto(proto);
}

}  // namespace

wire::JobRecord ToProto(const JobRecord& record) {
  wire::JobRecord proto;
  proto.set_id(record.id);
  proto.set_name(record.name);
  proto.set_program(record.program_bytes);
  proto.mutable_options()->insert(record.options.begin(), record.options.end());
  proto.set_synchronous(record.synchronous);
  proto.set_state(ToProto(record.state));
  *proto.mutable_result() = ToProto(record.result);
  proto.set_result_text(record.result_json);
  if (record.submitted != absl::InfinitePast()) *proto.mutable_submitted() = ToProto(record.submitted);
  if (record.started != absl::InfinitePast()) *proto.mutable_started() = ToProto(record.started);
  if (record.ended != absl::InfinitePast()) *proto.mutable_ended() = ToProto(record.ended);
  proto.set_step(record.progress.step);
  proto.set_steps_total(record.progress.steps_total);
  proto.set_examples(record.progress.examples);
  proto.set_loss(record.progress.loss);
  proto.set_examples_per_second(record.progress.examples_per_second);
  return proto;
}

absl::StatusOr<JobRecord> FromProto(const wire::JobRecord& proto) {
  if (proto.id() < 1) return absl::InvalidArgumentError(absl::StrCat("job: id ", proto.id()));
  JobRecord record;
  record.id = proto.id();
  record.name = proto.name();
  record.program_bytes = proto.program();
  record.options.insert(proto.options().begin(), proto.options().end());
  record.synchronous = proto.synchronous();
  COHORT_ASSIGN_OR_RETURN(record.state, JobStateFromProto(proto.state()));
  record.result = FromProto(proto.result());
  record.result_json = proto.result_text();
  COHORT_ASSIGN_OR_RETURN(record.submitted, TimeFromProto(proto.has_submitted(), proto.submitted()));
  COHORT_ASSIGN_OR_RETURN(record.started, TimeFromProto(proto.has_started(), proto.started()));
  COHORT_ASSIGN_OR_RETURN(record.ended, TimeFromProto(proto.has_ended(), proto.ended()));
  record.progress.step = proto.step();
  record.progress.steps_total = proto.steps_total();
  record.progress.examples = proto.examples();
  record.progress.loss = proto.loss();
  record.progress.examples_per_second = proto.examples_per_second();
  return record;
}

wire::Join ToProto(const MemberInfo& info) {
  wire::Join proto;
  *proto.mutable_task() = ToProto(TaskAddress{info.task, info.address, info.incarnation});
  proto.set_cluster_fingerprint(info.cluster_fingerprint);
  proto.set_cluster(info.cluster);
  proto.set_protocol_version(info.protocol_version);
  proto.mutable_devices()->Add(info.devices.begin(), info.devices.end());
  proto.set_cpu_isa(info.cpu_isa);
  proto.set_library_versions(info.library_versions);
  proto.set_last_epoch(info.last_epoch);
  ListToProto(info.known_jobs, proto.mutable_known_jobs());
  return proto;
}

absl::StatusOr<MemberInfo> FromProto(const wire::Join& proto) {
  COHORT_ASSIGN_OR_RETURN(TaskAddress task, FromProto(proto.task()));
  if (task.incarnation == 0) return absl::InvalidArgumentError("join: the incarnation is 0");
  MemberInfo info;
  info.task = std::move(task.task);
  info.address = std::move(task.address);
  info.incarnation = task.incarnation;
  info.cluster_fingerprint = proto.cluster_fingerprint();
  info.cluster = proto.cluster();
  info.protocol_version = proto.protocol_version();
  info.devices.assign(proto.devices().begin(), proto.devices().end());
  info.cpu_isa = proto.cpu_isa();
  info.library_versions = proto.library_versions();
  info.last_epoch = proto.last_epoch();
  COHORT_ASSIGN_OR_RETURN(info.known_jobs, (ListFromProto<wire::JobRecord, JobRecord>(proto.known_jobs(), FromProto)));
  return info;
}

wire::Roster ToProto(const Roster& roster) {
  wire::Roster proto;
  proto.set_epoch(roster.epoch);
  *proto.mutable_leader() = ToProto(roster.leader);
  for (const RosterMember& member : roster.members) *proto.add_members() = ToProto(member);
  return proto;
}

absl::StatusOr<Roster> FromProto(const wire::Roster& proto) {
  Roster roster;
  roster.epoch = proto.epoch();
  COHORT_ASSIGN_OR_RETURN(roster.leader, FromProto(proto.leader()));
  for (const wire::RosterMember& m : proto.members()) {
    COHORT_ASSIGN_OR_RETURN(RosterMember member, FromProto(m));
    roster.members.push_back(std::move(member));
  }
  return roster;
}

wire::RosterChange ToProto(const RosterChange& change) {
  wire::RosterChange proto;
  *proto.mutable_roster() = ToProto(change.roster);
  for (const MemberLoss& loss : change.losses) *proto.add_losses() = ToProto(loss);
  ListToProto(change.joined, proto.mutable_joined());
  return proto;
}

absl::StatusOr<RosterChange> FromProto(const wire::RosterChange& proto) {
  RosterChange change;
  COHORT_ASSIGN_OR_RETURN(change.roster, FromProto(proto.roster()));
  for (const wire::MemberLoss& l : proto.losses()) {
    COHORT_ASSIGN_OR_RETURN(MemberLoss loss, FromProto(l));
    change.losses.push_back(std::move(loss));
  }
  COHORT_ASSIGN_OR_RETURN(change.joined, (ListFromProto<wire::TaskId, TaskId>(proto.joined(), FromProto)));
  return change;
}

}  // namespace cohort
