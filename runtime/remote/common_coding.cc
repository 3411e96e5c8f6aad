#include "runtime/remote/common_coding.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace cohort {
namespace {

using cohort::ToProto;

constexpr int64_t kMaxSeconds = 315'576'000'000;

// For tasks that may be nobody, as in a FirstCause.
TaskId AnyTask(const wire::TaskId& proto) { return {proto.job(), proto.index()}; }

wire::FirstCause ToProto(const FirstCause& cause) {
  wire::FirstCause proto;
  *proto.mutable_task() = ToProto(cause.task);
  proto.set_address(cause.address);
  proto.set_incarnation(cause.incarnation);
  proto.set_seq(cause.seq);
  proto.set_name(cause.name);
  ListToProto(cause.arrived, proto.mutable_arrived());
  ListToProto(cause.missing, proto.mutable_missing());
  return proto;
}

FirstCause CauseFromProto(const wire::FirstCause& proto) {
  FirstCause cause;
  cause.task = AnyTask(proto.task());
  cause.address = proto.address();
  cause.incarnation = proto.incarnation();
  cause.seq = proto.seq();
  cause.name = proto.name();
  for (const wire::TaskId& task : proto.arrived()) cause.arrived.push_back(AnyTask(task));
  for (const wire::TaskId& task : proto.missing()) cause.missing.push_back(AnyTask(task));
  return cause;
}

}  // namespace

wire::TaskId ToProto(const TaskId& task) {
  wire::TaskId proto;
  proto.set_job(task.job);
  proto.set_index(task.index);
  return proto;
}

absl::StatusOr<TaskId> FromProto(const wire::TaskId& proto) {
  if (proto.job().empty()) return absl::InvalidArgumentError("task: the job is empty");
  if (proto.index() < 0) return absl::InvalidArgumentError(absl::StrCat("task: index ", proto.index(), " is negative"));
  return TaskId{proto.job(), proto.index()};
}

wire::TaskAddress ToProto(const TaskAddress& task) {
  wire::TaskAddress proto;
  *proto.mutable_task() = ToProto(task.task);
  proto.set_address(task.address);
  proto.set_incarnation(task.incarnation);
  return proto;
}

absl::StatusOr<TaskAddress> FromProto(const wire::TaskAddress& proto) {
  COHORT_ASSIGN_OR_RETURN(TaskId task, FromProto(proto.task()));
  return TaskAddress{std::move(task), proto.address(), proto.incarnation()};
}

wire::Status ToProto(const absl::Status& status) {
  wire::Status proto;
  proto.set_code(status.raw_code());
  proto.set_message(status.message().data(), status.message().size());
  if (const auto cause = GetFirstCause(status)) *proto.mutable_first_cause() = ToProto(*cause);
  return proto;
}

absl::Status FromProto(const wire::Status& proto) {
  absl::Status status(static_cast<absl::StatusCode>(proto.code()), proto.message());
  if (proto.has_first_cause()) SetFirstCause(status, CauseFromProto(proto.first_cause()));
  return status;
}

google::protobuf::Duration ToProto(absl::Duration duration) {
  duration = std::clamp(duration, -absl::Seconds(kMaxSeconds), absl::Seconds(kMaxSeconds));
  google::protobuf::Duration proto;
  proto.set_seconds(absl::IDivDuration(duration, absl::Seconds(1), &duration));
  proto.set_nanos(static_cast<int32_t>(absl::IDivDuration(duration, absl::Nanoseconds(1), &duration)));
  return proto;
}

absl::StatusOr<absl::Duration> FromProto(const google::protobuf::Duration& proto) {
  const int64_t seconds = proto.seconds();
  const int64_t nanos = proto.nanos();
  const bool signs_differ = (seconds > 0 && nanos < 0) || (seconds < 0 && nanos > 0);
  if (seconds < -kMaxSeconds || seconds > kMaxSeconds || nanos <= -1'000'000'000 || nanos >= 1'000'000'000 ||
      signs_differ) {
    return absl::InvalidArgumentError(absl::StrCat("duration: ", seconds, " s and ", nanos, " ns do not make one"));
  }
  return absl::Seconds(seconds) + absl::Nanoseconds(nanos);
}

google::protobuf::Timestamp ToProto(absl::Time time) {
  const absl::Duration since =
      std::clamp(time - absl::UnixEpoch(), -absl::Seconds(kMaxSeconds), absl::Seconds(kMaxSeconds));
  int64_t seconds = absl::ToInt64Seconds(since);
  absl::Duration rest = since - absl::Seconds(seconds);
  if (rest < absl::ZeroDuration()) {
    --seconds;
    rest += absl::Seconds(1);
  }
  google::protobuf::Timestamp proto;
  proto.set_seconds(seconds);
  proto.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(rest)));
  return proto;
}

absl::StatusOr<absl::Time> FromProto(const google::protobuf::Timestamp& proto) {
  if (proto.seconds() < -kMaxSeconds - 1 || proto.seconds() > kMaxSeconds || proto.nanos() < 0 ||
      proto.nanos() >= 1'000'000'000) {
    return absl::InvalidArgumentError(
        absl::StrCat("time: ", proto.seconds(), " s and ", proto.nanos(), " ns do not make one"));
  }
  return absl::UnixEpoch() + absl::Seconds(proto.seconds()) + absl::Nanoseconds(proto.nanos());
}

}  // namespace cohort
