#ifndef COHORT_RUNTIME_GRAPH_ATTRIBUTES_H_
#define COHORT_RUNTIME_GRAPH_ATTRIBUTES_H_

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/tensor/tensor.h"

namespace cohort {

// The value of a node's attribute. Names and meanings are TensorFlow's ("transpose_a", "strides", "padding").
using AttributeValue = std::variant<bool, int64_t, double, std::string, DType, Shape, std::vector<int64_t>,
                                    std::vector<std::string>, Tensor>;
using Attributes = std::map<std::string, AttributeValue>;  // ordered: equal graphs print and hash alike

// The attribute as a T. NotFound if absent, InvalidArgument if of another type; both name it.
template <typename T>
absl::StatusOr<T> GetAttribute(const Attributes& attributes, absl::string_view name);
template <typename T>
T GetAttributeOr(const Attributes& attributes, absl::string_view name, T fallback);

}  // namespace cohort

#endif  // COHORT_RUNTIME_GRAPH_ATTRIBUTES_H_
