#ifndef COHORT_WORKER_DAEMON_H_
#define COHORT_WORKER_DAEMON_H_

#include "runtime/daemon/daemon_options.h"

namespace cohort {

// The whole life of a worker, chief or evaluator process: reads TF_CONFIG, listens, joins the cluster (or leads it),
// serves until told to stop, drains. Returns the exit code. Needs BlockShutdownSignals.
int RunWorkerDaemon(const DaemonOptions& options);

}  // namespace cohort

#endif  // COHORT_WORKER_DAEMON_H_
