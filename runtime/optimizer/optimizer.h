#ifndef COHORT_RUNTIME_OPTIMIZER_OPTIMIZER_H_
#define COHORT_RUNTIME_OPTIMIZER_OPTIMIZER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/tensor/attributes.h"

namespace cohort {

// How a variable moves against its gradient; TensorFlow's (Keras) rules and defaults. g = gradient sum / examples.
//   sgd       w -= lr * g
//   momentum  a = momentum * a + g;  w -= lr * a
//   adagrad   a += g * g;  w -= lr * g / (sqrt(a) + epsilon)
//   adam      m = beta1 * m + (1 - beta1) * g;  v = beta2 * v + (1 - beta2) * g * g;
//             w -= lr * sqrt(1 - beta2^t) / (1 - beta1^t) * m / (sqrt(v) + epsilon)
struct OptimizerDef {
  enum class Kind { kSgd, kMomentum, kAdagrad, kAdam };
  Kind kind = Kind::kSgd;
  double momentum = 0.9;
  double initial_accumulator = 0.1;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-7;

  friend bool operator==(const OptimizerDef&, const OptimizerDef&) = default;
};

// From the attributes of an ApplyGradient node: "optimizer" ("sgd", "momentum", "adagrad", "adam") and the fields above
// by name, where they differ from the defaults. Other attributes are not looked at.
// InvalidArgument names the optimizer or the value that is out of range.
absl::StatusOr<OptimizerDef> ParseOptimizer(const Attributes& attributes);

// The inverse: the attributes that ParseOptimizer reads as `def`. Only what its kind uses.
Attributes OptimizerAttributes(const OptimizerDef& def);

// A slot of the optimizer, in the order of ApplyOptimizer's `slots`. `scalar` ones are counters: int64, no shape.
struct SlotDef {
  absl::string_view name;  // "momentum", "accumulator", "m", "v"; "t" counts Adam's updates of the variable
  double initial_value = 0;
  bool is_counter = false;
};
absl::Span<const SlotDef> OptimizerSlots(OptimizerDef::Kind kind);
// What the slot starts with: the definition's value may differ from the kind's default.
double InitialSlotValue(const OptimizerDef& def, const SlotDef& slot);

struct OptimizerUpdate {
  double learning_rate = 0;
  int64_t examples = 1;  // > 0: the gradient sum is divided by it
  int64_t t = 1;         // this update's number, from 1: counts the updates of this variable (Adam)
};

// Updates elements [begin, end) of a float32 variable and its slots in one pass. `slots`: the float32 arrays of
// OptimizerSlots in order, counters left out; nobody else touches the range. An element's new value depends on nothing
// but its own inputs, so that any cut into ranges gives the same bits.
void ApplyOptimizer(const OptimizerDef& def, const OptimizerUpdate& update, float* variable,
                    absl::Span<float* const> slots, const float* gradient_sum, int64_t begin, int64_t end);

}  // namespace cohort

#endif  // COHORT_RUNTIME_OPTIMIZER_OPTIMIZER_H_
