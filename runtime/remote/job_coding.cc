#include "runtime/remote/job_coding.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/remote/common_coding.h"
#include "runtime/remote/graph_coding.h"
#include "runtime/remote/worker_coding.h"

namespace cohort {
namespace {

using cohort::FromProto;
using cohort::ToProto;

wire::JobResult ToProto(const JobResult& result) {
  wire::JobResult proto;
  proto.set_steps(result.steps);
  proto.set_examples(result.examples);
  proto.set_loss(result.loss);
  proto.set_accuracy(result.accuracy);
  proto.set_evaluated(result.evaluated);
  proto.set_examples_per_second(result.examples_per_second);
  proto.set_seconds(result.seconds);
  proto.set_weights_crc32c(result.weights_crc32c);
  proto.set_state_crc32c(result.state_crc32c);
  ListToProto(result.workers, proto.mutable_workers());
  return proto;
}

absl::StatusOr<JobResult> FromProto(const wire::JobResult& proto) {
  JobResult result;
  result.steps = proto.steps();
  result.examples = proto.examples();
  result.loss = proto.loss();
  result.accuracy = proto.accuracy();
  result.evaluated = proto.evaluated();
  result.examples_per_second = proto.examples_per_second();
  result.seconds = proto.seconds();
  result.weights_crc32c = proto.weights_crc32c();
  result.state_crc32c = proto.state_crc32c();
  COHORT_ASSIGN_OR_RETURN(result.workers,
                          (ListFromProto<wire::WorkerSummary, WorkerSummary>(proto.workers(), FromProto)));
  return result;
}

wire::MemberStatus ToProto(const MemberStatus& member) {
  wire::MemberStatus proto;
  *proto.mutable_task() = ToProto(member.task);
  proto.set_present(member.present);
  proto.set_devices(member.devices);
  proto.set_last_step(member.last_step);
  *proto.mutable_last_heartbeat_age() = cohort::ToProto(absl::Seconds(member.last_heartbeat_age_seconds));
  proto.set_bytes_sent(member.bytes_sent);
  return proto;
}

absl::StatusOr<MemberStatus> FromProto(const wire::MemberStatus& proto) {
  MemberStatus member;
  COHORT_ASSIGN_OR_RETURN(member.task, FromProto(proto.task()));
  member.present = proto.present();
  member.devices = proto.devices();
  member.last_step = proto.last_step();
  COHORT_ASSIGN_OR_RETURN(const absl::Duration age, FromProto(proto.last_heartbeat_age()));
  member.last_heartbeat_age_seconds = absl::ToDoubleSeconds(age);
  member.bytes_sent = proto.bytes_sent();
  return member;
}

// A time that has not come is InfinitePast here and absent there.
absl::StatusOr<absl::Time> TimeFromProto(bool present, const google::protobuf::Timestamp& proto) {
  if (!present) return absl::InfinitePast();
  return FromProto(proto);
}

}  // namespace

wire::JobState ToProto(JobState state) { return static_cast<wire::JobState>(static_cast<int>(state) + 1); }

absl::StatusOr<JobState> JobStateFromProto(wire::JobState proto) {
  if (!wire::JobState_IsValid(proto) || proto == wire::JOB_STATE_UNSPECIFIED) {
    return absl::InvalidArgumentError(absl::StrCat("job: no such state: ", static_cast<int>(proto)));
  }
  return static_cast<JobState>(static_cast<int>(proto) - 1);
}

wire::JobInfo ToProto(const JobInfo& info) {
  wire::JobInfo proto;
  proto.set_id(info.id);
  proto.set_name(info.name);
  proto.set_state(ToProto(info.state));
  proto.set_waits_for(info.waits_for);
  if (info.submitted != absl::InfinitePast()) *proto.mutable_submitted() = ToProto(info.submitted);
  if (info.started != absl::InfinitePast()) *proto.mutable_started() = ToProto(info.started);
  if (info.ended != absl::InfinitePast()) *proto.mutable_ended() = ToProto(info.ended);
  proto.set_step(info.step);
  proto.set_steps_total(info.steps_total);
  *proto.mutable_error() = ToProto(info.error);
  return proto;
}

absl::StatusOr<JobInfo> FromProto(const wire::JobInfo& proto) {
  JobInfo info;
  info.id = proto.id();
  info.name = proto.name();
  COHORT_ASSIGN_OR_RETURN(info.state, JobStateFromProto(proto.state()));
  info.waits_for = proto.waits_for();
  COHORT_ASSIGN_OR_RETURN(info.submitted, TimeFromProto(proto.has_submitted(), proto.submitted()));
  COHORT_ASSIGN_OR_RETURN(info.started, TimeFromProto(proto.has_started(), proto.started()));
  COHORT_ASSIGN_OR_RETURN(info.ended, TimeFromProto(proto.has_ended(), proto.ended()));
  info.step = proto.step();
  info.steps_total = proto.steps_total();
  info.error = FromProto(proto.error());
  return info;
}

wire::FollowResponse ToProto(const JobEvent& event) {
  wire::FollowResponse proto;
  proto.set_kind(static_cast<wire::FollowResponse::Kind>(static_cast<int>(event.kind) + 1));
  switch (event.kind) {
    case JobEvent::Kind::kReport:
      *proto.mutable_report() = ToProto(event.report);
      break;
    case JobEvent::Kind::kEvaluation:
      proto.set_accuracy(event.accuracy);
      proto.set_examples(event.examples);
      break;
    case JobEvent::Kind::kLog:
      proto.set_line(event.line);
      break;
    case JobEvent::Kind::kEnd:
      *proto.mutable_result() = ToProto(event.result);
      break;
    case JobEvent::Kind::kState:
      break;
  }
  *proto.mutable_info() = ToProto(event.info);
  proto.mutable_metric_names()->Add(event.metric_names.begin(), event.metric_names.end());
  return proto;
}

absl::StatusOr<JobEvent> FromProto(const wire::FollowResponse& proto) {
  if (!wire::FollowResponse::Kind_IsValid(proto.kind()) || proto.kind() == wire::FollowResponse::KIND_UNSPECIFIED) {
    return absl::InvalidArgumentError(absl::StrCat("job event: no such kind: ", static_cast<int>(proto.kind())));
  }
  JobEvent event;
  event.kind = static_cast<JobEvent::Kind>(static_cast<int>(proto.kind()) - 1);
  COHORT_ASSIGN_OR_RETURN(event.info, FromProto(proto.info()));
  COHORT_ASSIGN_OR_RETURN(event.report, FromProto(proto.report()));
  event.metric_names.assign(proto.metric_names().begin(), proto.metric_names().end());
  event.accuracy = proto.accuracy();
  event.examples = proto.examples();
  event.line = proto.line();
  if (event.kind == JobEvent::Kind::kEnd) {
    COHORT_ASSIGN_OR_RETURN(event.result, FromProto(proto.result()));
  }
  return event;
}

wire::GetStatusResponse ToProto(const ClusterStatus& status) {
  wire::GetStatusResponse proto;
  proto.set_epoch(status.epoch);
  *proto.mutable_leader() = ToProto(status.leader);
  for (const MemberStatus& member : status.members) *proto.add_members() = ToProto(member);
  ListToProto(status.jobs, proto.mutable_jobs());
  return proto;
}

absl::StatusOr<ClusterStatus> FromProto(const wire::GetStatusResponse& proto) {
  ClusterStatus status;
  status.epoch = proto.epoch();
  COHORT_ASSIGN_OR_RETURN(status.leader, FromProto(proto.leader()));
  for (const wire::MemberStatus& m : proto.members()) {
    COHORT_ASSIGN_OR_RETURN(MemberStatus member, FromProto(m));
    status.members.push_back(std::move(member));
  }
  COHORT_ASSIGN_OR_RETURN(status.jobs, (ListFromProto<wire::JobInfo, JobInfo>(proto.jobs(), FromProto)));
  return status;
}

wire::SubmitRequest ToProto(const Program& program, const JobOptions& options) {
  wire::SubmitRequest proto;
  *proto.mutable_program() = ToProto(program);
  proto.set_name(options.name);
  proto.set_wait(options.wait);
  proto.set_detach(options.detach);
  return proto;
}

JobOptions OptionsFromProto(const wire::SubmitRequest& proto) { return {proto.name(), proto.wait(), proto.detach()}; }

wire::HoldSessionRequest ToProto(const ClientSessionOptions& options) {
  wire::HoldSessionRequest proto;
  proto.set_client(options.client);
  proto.set_strategy(std::string(StrategyName(options.strategy)));
  proto.set_wait(options.wait);
  return proto;
}

absl::StatusOr<ClientSessionOptions> FromProto(const wire::HoldSessionRequest& proto) {
  ClientSessionOptions options;
  options.client = proto.client();
  COHORT_ASSIGN_OR_RETURN(options.strategy, ParseStrategy(proto.strategy()));
  options.wait = proto.wait();
  return options;
}

wire::SessionGrant ToProto(const SessionGrant& grant, absl::Duration lease) {
  wire::SessionGrant proto;
  proto.set_session(grant.session);
  proto.set_epoch(grant.epoch);
  ListToProto(grant.workers, proto.mutable_workers());
  ListToProto(grant.parameter_servers, proto.mutable_parameter_servers());
  *proto.mutable_lease() = ToProto(lease);
  return proto;
}

absl::StatusOr<SessionGrant> FromProto(const wire::SessionGrant& proto) {
  SessionGrant grant;
  grant.session = proto.session();
  grant.epoch = proto.epoch();
  if (grant.session == 0) return absl::InvalidArgumentError("session: it has no number");
  COHORT_ASSIGN_OR_RETURN(grant.workers, (ListFromProto<wire::TaskAddress, TaskAddress>(proto.workers(), FromProto)),
                          _ << "workers");
  COHORT_ASSIGN_OR_RETURN(grant.parameter_servers,
                          (ListFromProto<wire::TaskAddress, TaskAddress>(proto.parameter_servers(), FromProto)),
                          _ << "parameter servers");
  return grant;
}

}  // namespace cohort
