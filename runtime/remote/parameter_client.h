#ifndef COHORT_RUNTIME_REMOTE_PARAMETER_CLIENT_H_
#define COHORT_RUNTIME_REMOTE_PARAMETER_CLIENT_H_

#include <memory>

#include "runtime/driver/worker_link.h"
#include "runtime/remote/link_options.h"
#include "runtime/variable/parameter_client.h"

namespace cohort {

// The variables of a worker's session on spec.parameter_servers: variable k of the program lives on server k mod P
// (runtime/driver/placement.h). Each call is one message per server, all at once, on connections of their own. A
// message that was lost with its connection is sent once more.
std::unique_ptr<ParameterClient> ConnectParameters(const SessionSpec& spec, LinkOptions options);

}  // namespace cohort

#endif  // COHORT_RUNTIME_REMOTE_PARAMETER_CLIENT_H_
