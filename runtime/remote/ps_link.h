#ifndef COHORT_RUNTIME_REMOTE_PS_LINK_H_
#define COHORT_RUNTIME_REMOTE_PS_LINK_H_

#include <memory>

#include "runtime/driver/ps_link.h"
#include "runtime/remote/link_options.h"

namespace cohort {

// The hold on a parameter server in another process, over gRPC; as ConnectWorker. Summarize and CloseSession are
// repeated while the ps cannot be reached.
std::unique_ptr<PsLink> ConnectParameterServer(TaskAddress ps, LinkOptions options);

}  // namespace cohort

#endif  // COHORT_RUNTIME_REMOTE_PS_LINK_H_
