#ifndef COHORT_RUNTIME_VARIABLE_VARIABLE_UPDATER_H_
#define COHORT_RUNTIME_VARIABLE_VARIABLE_UPDATER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "runtime/optimizer/optimizer.h"
#include "runtime/variable/variable_store.h"

namespace cohort {

// Applies gradients to one variable and its slots: the commit of a step, and a parameter server's push. Made once per
// variable; used by one thread at a time.
class VariableUpdater {
 public:
  // Creates the slots in `store` that are not there yet, with their first values; present ones are kept (a restored
  // checkpoint). NotFound: no such variable. InvalidArgument: it is not float32.
  static absl::StatusOr<VariableUpdater> Create(VariableStore& store, const VariableKey& variable,
                                                const OptimizerDef& optimizer);

  // Calls body(begin, end) for ranges that cover [0, elements), on any threads, and returns when all are done.
  using ForRanges = absl::FunctionRef<void(int64_t elements, absl::FunctionRef<void(int64_t, int64_t)> body)>;

  // One update. gradient_sum: f32 [elements of the variable], a sum over `examples` > 0. The variable and its slots
  // change together: no snapshot of the variable shows half of it. Allocates only if a snapshot is out.
  void Apply(const float* gradient_sum, double learning_rate, int64_t examples);
  void Apply(const float* gradient_sum, double learning_rate, int64_t examples, ForRanges for_ranges);

  Variable& variable() const { return *variable_; }
  const OptimizerDef& optimizer() const { return optimizer_; }

 private:
  VariableUpdater() = default;

  Variable* variable_ = nullptr;  // lives in the store
  std::vector<Variable*> slots_;  // without the counter
  Variable* counter_ = nullptr;   // null: the optimizer has none
  OptimizerDef optimizer_;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_VARIABLE_VARIABLE_UPDATER_H_
