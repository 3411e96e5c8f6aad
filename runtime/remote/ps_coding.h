#ifndef COHORT_RUNTIME_REMOTE_PS_CODING_H_
#define COHORT_RUNTIME_REMOTE_PS_CODING_H_

#include "absl/status/statusor.h"
#include "proto/ps.pb.h"
#include "runtime/driver/ps_link.h"

namespace cohort {

// Everything but the caller, which brings session and epoch: FromProto reads those from it.
wire::OpenPsSessionRequest ToProto(const PsSessionSpec& spec);
absl::StatusOr<PsSessionSpec> FromProto(const wire::OpenPsSessionRequest& proto);

wire::SummarizePsResponse ToProto(const PsSummary& summary);
absl::StatusOr<PsSummary> FromProto(const wire::SummarizePsResponse& proto);

}  // namespace cohort

#endif  // COHORT_RUNTIME_REMOTE_PS_CODING_H_
