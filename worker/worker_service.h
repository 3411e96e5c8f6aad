#ifndef COHORT_WORKER_WORKER_SERVICE_H_
#define COHORT_WORKER_WORKER_SERVICE_H_

#include <memory>

#include "runtime/driver/worker_link.h"
#include "runtime/rpc/call_context.h"
#include "runtime/rpc/service_ptr.h"

namespace cohort {

// The gRPC face of a worker: decodes, checks each call with `check`, calls `worker`, encodes. Outlives its server and
// is outlived by `worker`. A run of steps goes on when the stream that asked for it breaks: who runs a session ends it.
ServicePtr MakeWorkerService(WorkerLink& worker, CallChecker check);

}  // namespace cohort

#endif  // COHORT_WORKER_WORKER_SERVICE_H_
