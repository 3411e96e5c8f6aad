#include <variant>

#include "client/cli/cli_flags.h"
#include "client/cli/inspect.h"
#include "client/cli/launch.h"
#include "client/cli/local.h"
#include "client/cli/train.h"
#include "runtime/base/signals.h"

namespace cohort {
namespace {

// The verbs that end something with themselves take Ctrl-C and SIGTERM in hand, before any thread exists, so that all
// inherit the mask; the others just end.
int Guarded(auto run, const auto& command) {
  BlockShutdownSignals();
  return run(command);
}

struct Runner {
  int operator()(const TrainCommand& c) const { return Guarded(RunTrain, c); }
  int operator()(const RunCommand& c) const { return Guarded(RunProgramFile, c); }
  int operator()(const LocalCommand& c) const { return Guarded(RunLocal, c); }
  int operator()(const LaunchCommand& c) const { return Guarded(RunLaunch, c); }
  int operator()(const StatusCommand& c) const { return RunStatus(c); }
  int operator()(const JobsCommand& c) const { return RunJobs(c); }
  int operator()(const LogsCommand& c) const { return RunLogs(c); }
  int operator()(const CancelCommand& c) const { return RunCancel(c); }
  int operator()(const ShutdownCommand& c) const { return RunShutdown(c); }
  int operator()(const CheckCommand& c) const { return RunCheck(c); }
};

}  // namespace
}  // namespace cohort

int main(int argc, char** argv) {
  const auto parsed = cohort::ParseCommandLine(argc, argv);
  if (const int* code = std::get_if<int>(&parsed)) return *code;
  return std::visit(cohort::Runner{}, std::get<cohort::CliCommand>(parsed));
}
