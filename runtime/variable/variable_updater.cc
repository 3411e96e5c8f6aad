#include "runtime/variable/variable_updater.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace cohort {
namespace {

// The slot, with its first value if it has none.
absl::StatusOr<Variable*> PrepareSlot(VariableStore& store, const Variable& owner, const OptimizerDef& optimizer,
                                      const SlotDef& def) {
  const TensorSpec spec = def.is_counter ? TensorSpec{DType::kI64, Shape{}} : owner.spec();
  COHORT_ASSIGN_OR_RETURN(Variable * slot,
                          store.Create({owner.key().variable, std::string(def.name)}, spec, /*trainable=*/false));
  if (slot->initialized()) return slot;
  Tensor first = Tensor::Zeros(spec.dtype, spec.shape);
  if (!def.is_counter) {
    const auto values = first.mutable_values<float>();
    std::fill(values.begin(), values.end(), static_cast<float>(InitialSlotValue(optimizer, def)));
  }
  COHORT_RETURN_IF_ERROR(slot->Assign(first));
  return slot;
}

}  // namespace

absl::StatusOr<VariableUpdater> VariableUpdater::Create(VariableStore& store, const VariableKey& variable,
                                                        const OptimizerDef& optimizer) {
  VariableUpdater updater;
  updater.optimizer_ = optimizer;
  COHORT_ASSIGN_OR_RETURN(updater.variable_, store.Find(variable));
  if (updater.variable_->spec().dtype != DType::kF32) {
    return absl::InvalidArgumentError(absl::StrCat("variable '", variable.ToString(), "' is ",
                                                   updater.variable_->spec().ToString(),
                                                   ": optimizers update float32 variables only"));
  }
  for (const SlotDef& def : OptimizerSlots(optimizer.kind)) {
    COHORT_ASSIGN_OR_RETURN(Variable * slot, PrepareSlot(store, *updater.variable_, optimizer, def));
    if (def.is_counter) {
      updater.counter_ = slot;
    } else {
      updater.slots_.push_back(slot);
    }
  }
  return updater;
}

void VariableUpdater::Apply(const float* gradient_sum, double learning_rate, int64_t examples) {
  Apply(gradient_sum, learning_rate, examples,
        [](int64_t elements, absl::FunctionRef<void(int64_t, int64_t)> body) { body(0, elements); });
}

// The locks are taken in a fixed order, variable first, then its slots; nobody else holds two of them.
void VariableUpdater::Apply(const float* gradient_sum, double learning_rate, int64_t examples,
                            ForRanges for_ranges) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  float* memory = static_cast<float*>(variable_->BeginWrite());
  absl::InlinedVector<float*, 4> slots;
  for (Variable* slot : slots_) slots.push_back(static_cast<float*>(slot->BeginWrite()));
  OptimizerUpdate update{learning_rate, examples, 1};
  if (counter_ != nullptr) {
    update.t = ++*static_cast<int64_t*>(counter_->BeginWrite());
    counter_->EndWrite();
  }
  for_ranges(variable_->spec().shape.num_elements(), [&](int64_t begin, int64_t end) {
    ApplyOptimizer(optimizer_, update, memory, slots, gradient_sum, begin, end);
  });
  for (Variable* slot : slots_) slot->EndWrite();
  variable_->EndWrite();
}

}  // namespace cohort
