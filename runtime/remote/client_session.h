#ifndef COHORT_RUNTIME_REMOTE_CLIENT_SESSION_H_
#define COHORT_RUNTIME_REMOTE_CLIENT_SESSION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/driver/client_session.h"
#include "runtime/remote/link_options.h"

namespace cohort {

// A session on the cluster of `leader`, held by a stream of its own. A stream that breaks is resumed every so often
// until the lease has passed. Errors as JobControl::OpenSession; Unavailable: the leader does not answer.
absl::StatusOr<std::unique_ptr<ClientSession>> OpenRemoteSession(TaskAddress leader, LinkOptions links,
                                                                 const ClientSessionOptions& options,
                                                                 absl::Time deadline);

}  // namespace cohort

#endif  // COHORT_RUNTIME_REMOTE_CLIENT_SESSION_H_
