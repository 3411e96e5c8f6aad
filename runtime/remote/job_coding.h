#ifndef COHORT_RUNTIME_REMOTE_JOB_CODING_H_
#define COHORT_RUNTIME_REMOTE_JOB_CODING_H_

#include "absl/status/statusor.h"
#include "proto/leader.pb.h"
#include "runtime/driver/job_control.h"

namespace cohort {

wire::JobState ToProto(JobState state);
absl::StatusOr<JobState> JobStateFromProto(wire::JobState proto);

wire::JobInfo ToProto(const JobInfo& info);
absl::StatusOr<JobInfo> FromProto(const wire::JobInfo& proto);

wire::FollowResponse ToProto(const JobEvent& event);
absl::StatusOr<JobEvent> FromProto(const wire::FollowResponse& proto);

wire::GetStatusResponse ToProto(const ClusterStatus& status);
absl::StatusOr<ClusterStatus> FromProto(const wire::GetStatusResponse& proto);

// Everything but the caller.
wire::HoldSessionRequest ToProto(const ClientSessionOptions& options);
absl::StatusOr<ClientSessionOptions> FromProto(const wire::HoldSessionRequest& proto);

wire::SessionGrant ToProto(const SessionGrant& grant, absl::Duration lease);
absl::StatusOr<SessionGrant> FromProto(const wire::SessionGrant& proto);

// Everything but the caller.
wire::SubmitRequest ToProto(const Program& program, const JobOptions& options);
JobOptions OptionsFromProto(const wire::SubmitRequest& proto);

}  // namespace cohort

#endif  // COHORT_RUNTIME_REMOTE_JOB_CODING_H_
