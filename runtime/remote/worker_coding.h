#ifndef COHORT_RUNTIME_REMOTE_WORKER_CODING_H_
#define COHORT_RUNTIME_REMOTE_WORKER_CODING_H_

#include "absl/status/statusor.h"
#include "proto/worker.pb.h"
#include "runtime/driver/worker_link.h"

namespace cohort {

// Everything but the caller, which brings session and epoch: FromProto reads those from it.
wire::OpenSessionRequest ToProto(const SessionSpec& spec);
absl::StatusOr<SessionSpec> FromProto(const wire::OpenSessionRequest& proto);

wire::OpenSessionResponse ToProto(const OpenedSession& session);
absl::StatusOr<OpenedSession> FromProto(const wire::OpenSessionResponse& proto);

// Everything but the caller.
wire::RunRequest ToProto(const RunSpec& run);
absl::StatusOr<RunSpec> FromProto(const wire::RunRequest& proto);

wire::StepReport ToProto(const StepReport& report);
absl::StatusOr<StepReport> FromProto(const wire::StepReport& proto);

wire::RunResult ToProto(const RunResult& result);
absl::StatusOr<RunResult> FromProto(const wire::RunResult& proto);

wire::WorkerSummary ToProto(const WorkerSummary& summary);
absl::StatusOr<WorkerSummary> FromProto(const wire::WorkerSummary& proto);

}  // namespace cohort

#endif  // COHORT_RUNTIME_REMOTE_WORKER_CODING_H_
