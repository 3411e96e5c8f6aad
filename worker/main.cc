#include <variant>

#include "runtime/base/malloc_tuning.h"
#include "runtime/base/signals.h"
#include "runtime/daemon/daemon_flags.h"
#include "worker/daemon.h"

int main(int argc, char** argv) {
  cohort::BlockShutdownSignals();  // before any thread exists, so that all inherit the mask
  cohort::TuneMalloc();
  const auto parsed = cohort::ParseDaemonFlags(cohort::DaemonKind::kWorker, argc, argv);
  if (const int* code = std::get_if<int>(&parsed)) return *code;
  return cohort::RunWorkerDaemon(std::get<cohort::DaemonOptions>(parsed));
}
