#include <variant>

#include "ps/daemon.h"
#include "runtime/base/malloc_tuning.h"
#include "runtime/base/signals.h"
#include "runtime/daemon/daemon_flags.h"

int main(int argc, char** argv) {
  cohort::BlockShutdownSignals();  // before any thread exists, so that all inherit the mask
  cohort::TuneMalloc();
  const auto parsed = cohort::ParseDaemonFlags(cohort::DaemonKind::kParameterServer, argc, argv);
  if (const int* code = std::get_if<int>(&parsed)) return *code;
  return cohort::RunPsDaemon(std::get<cohort::DaemonOptions>(parsed));
}
