#ifndef COHORT_RUNTIME_DRIVER_PLACEMENT_H_
#define COHORT_RUNTIME_DRIVER_PLACEMENT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "runtime/driver/ps_link.h"
#include "runtime/driver/worker_link.h"
#include "runtime/graph/program.h"

namespace cohort {

// What one program becomes on a set of tasks.
//
// Synchronous strategies: every worker takes its part of each global batch and all of them reduce together.
// Parameter server: every worker trains by itself, global batch b goes to worker b mod W, and variable k (in the order
// of the program) lives on ps k mod P. OneDevice and default use worker 0 alone.

// The workers that a strategy uses, by rank. InvalidArgument: the strategy needs tasks that are not there.
absl::StatusOr<std::vector<TaskAddress>> WorkersFor(StrategyKind strategy, const std::vector<TaskAddress>& workers,
                                                    const std::vector<TaskAddress>& parameter_servers);

// The session of worker `rank` of `workers`: the program with that worker's data sets, and its group.
SessionSpec WorkerSession(const Program& program, const std::vector<TaskAddress>& workers,
                          const std::vector<TaskAddress>& parameter_servers, int rank);

// The session of ps `index` of `count`. InvalidArgument: a variable has two different optimizers.
absl::StatusOr<PsSessionSpec> PsSession(const Program& program, int index, int count);

// Steps of worker `rank` when `steps` batches are dealt to `workers` (batch b of an epoch of `batches` goes to worker
// b mod `workers`).
int64_t DealtSteps(int64_t steps, int64_t batches, int rank, int workers);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DRIVER_PLACEMENT_H_
