#ifndef COHORT_RUNTIME_REMOTE_CLUSTER_SERVICE_H_
#define COHORT_RUNTIME_REMOTE_CLUSTER_SERVICE_H_

#include <functional>
#include <memory>

#include "runtime/driver/worker_link.h"
#include "runtime/rpc/service_ptr.h"

namespace cohort {

// Tells clients which task leads, so that they may ask any task. `leader` is called on gRPC's threads and must not
// block; its incarnation may be 0. For every daemon's server, which it outlives.
ServicePtr MakeClusterService(TaskAddress self, std::function<TaskAddress()> leader);

}  // namespace cohort

#endif  // COHORT_RUNTIME_REMOTE_CLUSTER_SERVICE_H_
