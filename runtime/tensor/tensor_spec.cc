#include "runtime/tensor/tensor_spec.h"

#include <ostream>

#include "absl/strings/str_cat.h"

namespace cohort {

std::string TensorSpec::ToString() const { return absl::StrCat(DTypeName(dtype), " ", shape.ToString()); }

std::ostream& operator<<(std::ostream& os, const TensorSpec& spec) { return os << spec.ToString(); }

}  // namespace cohort
