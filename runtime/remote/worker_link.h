#ifndef COHORT_RUNTIME_REMOTE_WORKER_LINK_H_
#define COHORT_RUNTIME_REMOTE_WORKER_LINK_H_

#include <memory>

#include "runtime/driver/worker_link.h"
#include "runtime/remote/link_options.h"

namespace cohort {

// The hold on a worker in another process, over gRPC. Connects when it is first used. RequestStop, Summarize and
// CloseSession are repeated while the worker cannot be reached, for options.retry_for. A worker that was restarted
// answers Aborted. `done` and `report` are called on gRPC's threads: they must not block.
// The destructor cancels what is under way and returns once all of it was answered (Cancelled): do not destroy a link
// from within an answer.
std::unique_ptr<WorkerLink> ConnectWorker(TaskAddress worker, LinkOptions options);

}  // namespace cohort

#endif  // COHORT_RUNTIME_REMOTE_WORKER_LINK_H_
