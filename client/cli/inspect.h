#ifndef COHORT_CLIENT_CLI_INSPECT_H_
#define COHORT_CLIENT_CLI_INSPECT_H_

#include "client/cli/cli_flags.h"

namespace cohort {

// The verbs that look at a cluster or end something in it. Print to standard output; return the exit code.
int RunStatus(const StatusCommand& command);
int RunJobs(const JobsCommand& command);
int RunLogs(const LogsCommand& command);
int RunCancel(const CancelCommand& command);
int RunShutdown(const ShutdownCommand& command);
// Who this process would be by its TF_CONFIG; needs no cluster.
int RunCheck(const CheckCommand& command);

}  // namespace cohort

#endif  // COHORT_CLIENT_CLI_INSPECT_H_
