#ifndef COHORT_PS_DAEMON_H_
#define COHORT_PS_DAEMON_H_

#include "runtime/daemon/daemon_options.h"

namespace cohort {

// The whole life of a ps process: reads TF_CONFIG, listens, joins the cluster, serves variables until told to stop.
// Returns the exit code. Needs BlockShutdownSignals.
int RunPsDaemon(const DaemonOptions& options);

}  // namespace cohort

#endif  // COHORT_PS_DAEMON_H_
