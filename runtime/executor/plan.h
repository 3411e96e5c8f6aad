#ifndef COHORT_RUNTIME_EXECUTOR_PLAN_H_
#define COHORT_RUNTIME_EXECUTOR_PLAN_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/executor/step_layout.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/tile_pool.h"

namespace cohort {

// The compute phase of a step for one batch size: launch records, and a table of the addresses that they refer to.
// Records never change. The table changes where memory moves: variables, batches, the arena when another plan needs a
// larger one.
class Plan {
 public:
  // parameters: the concrete specs of the function's parameters. The layout outlives the plan.
  // InvalidArgument: a parameter, or shapes that do not fit. Internal: an op without kernel.
  static absl::StatusOr<std::unique_ptr<Plan>> Create(const StepLayout& layout,
                                                      absl::Span<const TensorSpec> parameters);

  const std::vector<TensorSpec>& parameters() const { return parameters_; }
  size_t arena_bytes() const { return arena_bytes_; }  // of memory shared by all plans of an executor

  // Where scratch and gradients lie from now on.
  void Bind(char* arena, float* buckets);
  void SetParameter(int parameter, const void* data) { SetAll(parameter_values_[parameter], data); }
  void SetVariable(int variable, const void* data) {
    if (layout_.variables[variable].value >= 0) table_[layout_.variables[variable].value] = const_cast<void*>(data);
  }

  // Runs all launches. run.table is set here.
  void Compute(KernelRun run, TilePool& tiles) const;

  const void* data(int value) const { return table_[value]; }
  TensorSpec SpecOf(int value) const;  // of one of the layout's values
  TensorSpec SpecOf(Output output) const { return function_.graph.spec(output); }
  uint64_t LaunchHash() const;

 private:
  explicit Plan(const StepLayout& layout) : layout_(layout) {}
  absl::Status Prepare();
  absl::Status AddOp(const StepOp& op);
  void PlaceValues();
  void FinishLaunches();
  void SetAll(const std::vector<int>& values, const void* data) {
    for (const int value : values) table_[value] = const_cast<void*>(data);
  }

  // A launch while operands are still being collected.
  struct Draft {
    PreparedKernel::Phase phase;
    int op = 0;  // into ops_
  };
  struct PreparedOp {
    const StepOp* op;
    std::shared_ptr<const void> params;
    size_t scratch_bytes = 0;
    int first = 0, last = -1;  // drafts
    int32_t scratch = -1;      // place in the table
  };
  struct Placed {
    int place;      // in the table
    size_t offset;  // in the arena, or in the buckets
  };

  const StepLayout& layout_;
  Function function_;  // specialized: node ids as in the layout's
  std::vector<TensorSpec> parameters_;
  std::vector<std::vector<int>> parameter_values_;
  std::vector<PreparedOp> ops_;
  std::vector<Draft> drafts_;
  std::vector<int32_t> operands_;
  std::vector<Launch> launches_;
  std::vector<void*> table_;
  std::vector<Placed> in_arena_, in_buckets_;
  size_t arena_bytes_ = 0;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_EXECUTOR_PLAN_H_
