#ifndef COHORT_CLIENT_CLI_LOCAL_H_
#define COHORT_CLIENT_CLI_LOCAL_H_

#include "client/cli/cli_flags.h"

namespace cohort {

// `local`: starts daemons on this host, each with its own TF_CONFIG, on leased ports; divides the CPUs among them; runs
// a command with COHORT_CLUSTER set and ends everything with it, or stays in the foreground. Returns the command's exit
// code.
int RunLocal(const LocalCommand& command);

}  // namespace cohort

#endif  // COHORT_CLIENT_CLI_LOCAL_H_
