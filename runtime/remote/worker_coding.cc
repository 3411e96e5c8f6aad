#include "runtime/remote/worker_coding.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/remote/common_coding.h"
#include "runtime/remote/graph_coding.h"
#include "runtime/remote/tensor_coding.h"

namespace cohort {
namespace {

wire::StepSums SumsToProto(const StepSums& sums) {
  wire::StepSums proto;
  proto.set_steps(sums.steps);
  proto.set_examples(sums.examples);
  proto.set_loss_sum(sums.loss_sum);
  proto.mutable_metric_sums()->Add(sums.metric_sums.begin(), sums.metric_sums.end());
  return proto;
}

absl::StatusOr<StepSums> SumsFromProto(const wire::StepSums& proto) {
  if (proto.steps() < 0 || proto.examples() < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("sums: ", proto.steps(), " steps of ", proto.examples(), " examples"));
  }
  StepSums sums;
  sums.steps = proto.steps();
  sums.examples = proto.examples();
  sums.loss_sum = proto.loss_sum();
  sums.metric_sums.assign(proto.metric_sums().begin(), proto.metric_sums().end());
  return sums;
}

}  // namespace

wire::OpenSessionRequest ToProto(const SessionSpec& spec) {
  wire::OpenSessionRequest proto;
  *proto.mutable_program() = ToProto(spec.program);
  ListToProto(spec.group, proto.mutable_group());
  proto.set_rank(spec.rank);
  ListToProto(spec.parameter_servers, proto.mutable_parameter_servers());
  *proto.mutable_collective_timeout() = ToProto(spec.collective_timeout);
  return proto;
}

absl::StatusOr<SessionSpec> FromProto(const wire::OpenSessionRequest& proto) {
  SessionSpec spec;
  spec.session = proto.caller().session();
  spec.epoch = proto.caller().epoch();
  COHORT_ASSIGN_OR_RETURN(spec.program, FromProto(proto.program()));
  COHORT_ASSIGN_OR_RETURN(spec.group, (ListFromProto<wire::TaskAddress, TaskAddress>(proto.group(), FromProto)),
                          _ << "group");
  if (proto.rank() < 0 || proto.rank() >= proto.group_size()) {
    return absl::InvalidArgumentError(absl::StrCat("rank ", proto.rank(), " in a group of ", proto.group_size()));
  }
  spec.rank = proto.rank();
  COHORT_ASSIGN_OR_RETURN(spec.parameter_servers,
                          (ListFromProto<wire::TaskAddress, TaskAddress>(proto.parameter_servers(), FromProto)),
                          _ << "parameter servers");
  COHORT_ASSIGN_OR_RETURN(spec.collective_timeout, FromProto(proto.collective_timeout()));
  if (spec.collective_timeout <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("collective timeout of ", absl::FormatDuration(spec.collective_timeout)));
  }
  return spec;
}

wire::OpenSessionResponse ToProto(const OpenedSession& session) {
  wire::OpenSessionResponse proto;
  proto.set_plan_hash(session.plan_hash);
  proto.set_plan_text(session.plan_text);
  proto.set_batches_per_epoch(session.batches_per_epoch);
  return proto;
}

absl::StatusOr<OpenedSession> FromProto(const wire::OpenSessionResponse& proto) {
  return OpenedSession{proto.plan_hash(), proto.plan_text(), proto.batches_per_epoch()};
}

wire::RunRequest ToProto(const RunSpec& run) {
  wire::RunRequest proto;
  proto.set_function(run.function);
  proto.set_data(static_cast<wire::RunRequest::Data>(static_cast<int>(run.data) + 1));
  proto.set_first_step(run.first_step);
  proto.set_count(run.count);
  proto.set_data_epoch(run.epoch);
  proto.set_report_every(run.report_every);
  proto.mutable_fetch()->Add(run.fetch.begin(), run.fetch.end());
  ListToProto(run.feeds, proto.mutable_feeds());
  return proto;
}

absl::StatusOr<RunSpec> FromProto(const wire::RunRequest& proto) {
  if (!wire::RunRequest::Data_IsValid(proto.data()) || proto.data() == wire::RunRequest::DATA_UNSPECIFIED) {
    return absl::InvalidArgumentError(absl::StrCat("run: no such data: ", static_cast<int>(proto.data())));
  }
  if (proto.first_step() < 1 || proto.count() < 0 || proto.data_epoch() < 0 || proto.report_every() < 0) {
    return absl::InvalidArgumentError(absl::StrCat("run: first step ", proto.first_step(), ", count ", proto.count(),
                                                   ", epoch ", proto.data_epoch(), ", report every ",
                                                   proto.report_every()));
  }
  RunSpec run;
  run.function = proto.function();
  run.data = static_cast<RunSpec::Data>(static_cast<int>(proto.data()) - 1);
  run.first_step = proto.first_step();
  run.count = proto.count();
  run.epoch = proto.data_epoch();
  run.report_every = proto.report_every();
  run.fetch.assign(proto.fetch().begin(), proto.fetch().end());
  COHORT_ASSIGN_OR_RETURN(run.feeds, (ListFromProto<wire::Tensor, Tensor>(proto.feeds(), FromProto)), _ << "feeds");
  if (!run.feeds.empty() && run.data != RunSpec::Data::kNone) {
    return absl::InvalidArgumentError("run: feeds, and a data set as well");
  }
  return run;
}

wire::StepReport ToProto(const StepReport& report) {
  wire::StepReport proto;
  proto.set_step(report.step);
  *proto.mutable_sums() = SumsToProto(report.sums);
  proto.mutable_losses()->Add(report.losses.begin(), report.losses.end());
  proto.set_seconds(report.seconds);
  return proto;
}

absl::StatusOr<StepReport> FromProto(const wire::StepReport& proto) {
  StepReport report;
  report.step = proto.step();
  COHORT_ASSIGN_OR_RETURN(report.sums, SumsFromProto(proto.sums()));
  report.losses.assign(proto.losses().begin(), proto.losses().end());
  report.seconds = proto.seconds();
  return report;
}

wire::RunResult ToProto(const RunResult& result) {
  wire::RunResult proto;
  proto.set_last_step(result.last_step);
  *proto.mutable_sums() = SumsToProto(result.sums);
  proto.set_end_of_data(result.end_of_data);
  proto.set_stopped(result.stopped);
  proto.set_leaving(result.leaving);
  ListToProto(result.fetched, proto.mutable_fetched());
  return proto;
}

absl::StatusOr<RunResult> FromProto(const wire::RunResult& proto) {
  RunResult result;
  result.last_step = proto.last_step();
  COHORT_ASSIGN_OR_RETURN(result.sums, SumsFromProto(proto.sums()));
  result.end_of_data = proto.end_of_data();
  result.stopped = proto.stopped();
  result.leaving = proto.leaving();
  COHORT_ASSIGN_OR_RETURN(result.fetched, (ListFromProto<wire::Tensor, Tensor>(proto.fetched(), FromProto)));
  return result;
}

wire::WorkerSummary ToProto(const WorkerSummary& summary) {
  wire::WorkerSummary proto;
  *proto.mutable_task() = ToProto(summary.task);
  proto.set_weights_crc32c(summary.weights_crc32c);
  proto.set_state_crc32c(summary.state_crc32c);
  proto.set_examples(summary.examples);
  proto.set_steps(summary.steps);
  proto.set_bytes_sent(summary.bytes_sent);
  return proto;
}

absl::StatusOr<WorkerSummary> FromProto(const wire::WorkerSummary& proto) {
  WorkerSummary summary;
  COHORT_ASSIGN_OR_RETURN(summary.task, FromProto(proto.task()));
  summary.weights_crc32c = proto.weights_crc32c();
  summary.state_crc32c = proto.state_crc32c();
  summary.examples = proto.examples();
  summary.steps = proto.steps();
  summary.bytes_sent = proto.bytes_sent();
  return summary;
}

}  // namespace cohort
