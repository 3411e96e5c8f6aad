#ifndef COHORT_CLIENT_CLI_TRAIN_H_
#define COHORT_CLIENT_CLI_TRAIN_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/cli/cli_flags.h"
#include "runtime/graph/program.h"

namespace cohort {

// `train`, `run` and `submit`: make or read a program, submit it as a job, follow it. Ctrl-C cancels the job, a second
// one leaves it. Print to standard output; return the exit code.
int RunTrain(const TrainCommand& command);
int RunProgramFile(const RunCommand& command);

// A saved program. NotFound, InvalidArgument: the file is none; both name it.
absl::StatusOr<Program> ReadProgram(const std::string& path);

}  // namespace cohort

#endif  // COHORT_CLIENT_CLI_TRAIN_H_
