#include "runtime/checkpoint/variable_key.h"

#include "absl/strings/str_cat.h"

namespace cohort {

std::string VariableKey::ToString() const { return slot.empty() ? variable : absl::StrCat(variable, ":", slot); }

VariableKey ParseVariableKey(absl::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return {std::string(text), ""};
  return {std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

}  // namespace cohort
