#ifndef COHORT_PS_PS_SERVICE_H_
#define COHORT_PS_PS_SERVICE_H_

#include <memory>

#include "runtime/base/thread_pool.h"
#include "runtime/driver/ps_link.h"
#include "runtime/rpc/call_context.h"
#include "runtime/rpc/service_ptr.h"
#include "runtime/variable/parameter_server.h"

namespace cohort {

// The gRPC face of a parameter server: decodes, checks each call with `check`, calls `sessions` or `variables` on
// `executor`, encodes. Values are sent from their own memory. Outlives its server; what it is given outlives it, and
// `executor` has run all that was posted before it goes.
ServicePtr MakePsService(PsLink& sessions, ParameterServer& variables, CallChecker check, Executor& executor);

}  // namespace cohort

#endif  // COHORT_PS_PS_SERVICE_H_
