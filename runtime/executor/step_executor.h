#ifndef COHORT_RUNTIME_EXECUTOR_STEP_EXECUTOR_H_
#define COHORT_RUNTIME_EXECUTOR_STEP_EXECUTOR_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/collective/communicator.h"
#include "runtime/dataset/iterator.h"
#include "runtime/graph/function.h"
#include "runtime/kernels/tile_pool.h"
#include "runtime/variable/parameter_client.h"
#include "runtime/variable/variable_store.h"

namespace cohort {

struct StepExecutorOptions {
  size_t bucket_bytes = 4 << 20;  // gradients are reduced in buckets of about this size
  int replica_id = 0;             // what the op ReplicaId gives without a communicator; with one: its rank
};

// One step's inputs. `batch`: values of the function's parameters, in order, all of one batch (0 examples are allowed);
// stays untouched until Run returns, so that a failed step can be run again. Null if the function has no parameters.
struct StepInputs {
  int64_t step = 0;  // from 1
  double learning_rate = 0;
  const Element* batch = nullptr;
  bool has_next = false;        // this replica holds a batch for the next step
  bool stop_requested = false;  // this replica wants this step to be the last
  absl::Duration collective_timeout = absl::Minutes(5);
};

// Sums over the replicas of the group: the same on all of them.
struct StepHeader {
  int64_t examples = 0;
  double loss_sum = 0;
  std::vector<double> metric_sums;  // as metric_names()
  int64_t has_next = 0;             // replicas that have a batch for the next step
  int64_t stop_requested = 0;       // replicas that want to stop
  int64_t nonfinite = 0;            // replicas whose loss sum is not a finite number
  int64_t world = 1;
};

// Runs one function step by step on one replica: compute, reduce, commit (runtime/docs/step.md). A function without
// ApplyGradient or Assign nodes (an evaluation) only computes and sums the header. Used by one thread at a time.
class StepExecutor {
 public:
  // function: with calls to functions of `library` (inlined here). Everything referred to outlives the executor.
  // communicator: null for a group of one. parameters: null unless the variables live on parameter servers; then they
  // are pulled before compute and gradients are pushed in the commit, and `variables` holds none of them.
  // NotFound: a variable that is not in `variables`. InvalidArgument: gradients that are not float32, two gradients of
  // one variable, gradients without a kExamples result, assignments with parameter servers.
  static absl::StatusOr<std::unique_ptr<StepExecutor>> Create(const Function& function,
                                                              const std::map<std::string, Function>& library,
                                                              VariableStore& variables, Communicator* communicator,
                                                              ParameterClient* parameters, TilePool& tiles,
                                                              const StepExecutorOptions& options = {});
  ~StepExecutor();

  // One step. If it fails, variables and slots are as before it: the group's errors (Unavailable, DeadlineExceeded,
  // Aborted; with FirstCause), InvalidArgument for a batch that does not fit or a label out of range,
  // FailedPrecondition for a variable without value. After a failed Push the parameter servers may have applied it.
  // Nothing is applied, neither gradients nor assignments, if the function counts examples and the group has none. The
  // first step with a new batch size makes a plan for it; later ones allocate nothing once `header` has room for the
  // metrics.
  absl::Status Run(const StepInputs& inputs, StepHeader& header);

  // A copy of a result of the last step, as this replica computed it. NotFound: no such result. FailedPrecondition:
  // there was no step, or the last one failed.
  absl::StatusOr<Tensor> Fetch(absl::string_view result) const;

  // The results with role kMetricSum, in order.
  const std::vector<std::string>& metric_names() const;
  // One line for each collective of a step in the order of their calls: "grads/0 sum float32 [269322]"; and its hash
  // (FNV-1a). The same for every batch size: ranks whose hashes differ must not train together.
  const std::string& collectives_text() const;
  uint64_t collectives_hash() const;

  // For tests: a hash of the launch records of the plan that ran last, and the number of plans made.
  uint64_t launch_hash() const;
  int plan_count() const;

 private:
  class Impl;
  explicit StepExecutor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_EXECUTOR_STEP_EXECUTOR_H_
