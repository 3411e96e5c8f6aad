#ifndef COHORT_RUNTIME_REMOTE_COMMON_CODING_H_
#define COHORT_RUNTIME_REMOTE_COMMON_CODING_H_

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/repeated_ptr_field.h>
#include <google/protobuf/timestamp.pb.h>

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/common.pb.h"
#include "runtime/base/first_cause.h"
#include "runtime/driver/worker_link.h"

namespace cohort {

// Between the wire and C++, for what all services share. In this folder ToProto never fails; FromProto checks what came
// and answers InvalidArgument, naming the field and what is wrong with it.

wire::TaskId ToProto(const TaskId& task);
absl::StatusOr<TaskId> FromProto(const wire::TaskId& proto);

wire::TaskAddress ToProto(const TaskAddress& task);
absl::StatusOr<TaskAddress> FromProto(const wire::TaskAddress& proto);

// A status with its FirstCause. Never fails: an unknown code becomes Unknown.
wire::Status ToProto(const absl::Status& status);
absl::Status FromProto(const wire::Status& proto);

// Whole nanoseconds; infinite ones are cut to the wire's 10,000 years.
google::protobuf::Duration ToProto(absl::Duration duration);
absl::StatusOr<absl::Duration> FromProto(const google::protobuf::Duration& proto);
google::protobuf::Timestamp ToProto(absl::Time time);
absl::StatusOr<absl::Time> FromProto(const google::protobuf::Timestamp& proto);

// ListFromProto<wire::TaskAddress, TaskAddress>(proto.group(), FromProto)
template <typename Proto, typename T>
absl::StatusOr<std::vector<T>> ListFromProto(const google::protobuf::RepeatedPtrField<Proto>& list,
                                             absl::StatusOr<T> (*from_proto)(const Proto&)) {
  std::vector<T> result;
  result.reserve(list.size());
  for (const Proto& item : list) {
    absl::StatusOr<T> value = from_proto(item);
    if (!value.ok()) return value.status();
    result.push_back(*std::move(value));
  }
  return result;
}

template <typename T, typename Repeated>
void ListToProto(const std::vector<T>& list, Repeated* proto) {
  proto->Reserve(static_cast<int>(list.size()));
  for (const T& item : list) *proto->Add() = ToProto(item);
}

}  // namespace cohort

#endif  // COHORT_RUNTIME_REMOTE_COMMON_CODING_H_
