#ifndef COHORT_RUNTIME_CHECKPOINT_VARIABLE_KEY_H_
#define COHORT_RUNTIME_CHECKPOINT_VARIABLE_KEY_H_

#include <string>

#include "absl/strings/string_view.h"

namespace cohort {

// Names one piece of a training's state. A slot of an optimizer is a variable of its own, placed with the variable it
// belongs to: ("hidden/kernel", "") is the variable itself, ("hidden/kernel", "momentum") its slot.
struct VariableKey {
  std::string variable;
  std::string slot;  // empty for the variable; TensorFlow's slot names: momentum, accumulator, m, v

  std::string ToString() const;  // "hidden/kernel" or "hidden/kernel:momentum"
  friend bool operator==(const VariableKey&, const VariableKey&) = default;
  friend auto operator<=>(const VariableKey&, const VariableKey&) = default;
};

// The inverse of ToString.
VariableKey ParseVariableKey(absl::string_view text);

}  // namespace cohort

#endif  // COHORT_RUNTIME_CHECKPOINT_VARIABLE_KEY_H_
