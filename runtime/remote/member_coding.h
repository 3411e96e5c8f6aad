#ifndef COHORT_RUNTIME_REMOTE_MEMBER_CODING_H_
#define COHORT_RUNTIME_REMOTE_MEMBER_CODING_H_

#include "absl/status/statusor.h"
#include "proto/membership.pb.h"
#include "runtime/coordination/job_record.h"
#include "runtime/coordination/member.h"
#include "runtime/coordination/membership.h"

namespace cohort {

wire::JobRecord ToProto(const JobRecord& record);
absl::StatusOr<JobRecord> FromProto(const wire::JobRecord& proto);

wire::Join ToProto(const MemberInfo& info);
absl::StatusOr<MemberInfo> FromProto(const wire::Join& proto);

wire::Roster ToProto(const Roster& roster);
absl::StatusOr<Roster> FromProto(const wire::Roster& proto);

wire::RosterChange ToProto(const RosterChange& change);
absl::StatusOr<RosterChange> FromProto(const wire::RosterChange& proto);

}  // namespace cohort

#endif  // COHORT_RUNTIME_REMOTE_MEMBER_CODING_H_
