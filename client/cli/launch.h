#ifndef COHORT_CLIENT_CLI_LAUNCH_H_
#define COHORT_CLIENT_CLI_LAUNCH_H_

#include "client/cli/cli_flags.h"

namespace cohort {

// `launch -- train …`, the same line on every task: becomes the daemon of the task that TF_CONFIG (else Slurm) names,
// for one job; on the leader's task it also submits that job. Returns the job's exit code, 0 on ps and evaluator.
int RunLaunch(const LaunchCommand& command);

}  // namespace cohort

#endif  // COHORT_CLIENT_CLI_LAUNCH_H_
