// Holds a session on the cluster that COHORT_CLUSTER names, until it is killed.

#include <unistd.h>

#include <cstdio>

#include "client/api.h"

int main() {
  const auto cluster = cohort::Cluster::Connect();
  if (!cluster.ok()) return 1;
  cohort::FunctionBuilder f("one");
  f.AddResult("one", cohort::ScalarConstant(f, cohort::DType::kF32, 1));
  cohort::Program program;
  program.name = "hold";
  program.strategy = cohort::StrategyKind::kMultiWorkerMirrored;
  program.functions["one"] = *f.Finish();
  const auto session = cohort::Session::Open(**cluster, program, {.name = "the holder"});
  if (!session.ok() || !(*session)->Run("one").ok()) return 1;
  std::printf("holds\n");
  std::fflush(stdout);
  pause();
  return 0;
}
