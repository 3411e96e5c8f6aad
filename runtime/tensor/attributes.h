#ifndef COHORT_RUNTIME_TENSOR_ATTRIBUTES_H_
#define COHORT_RUNTIME_TENSOR_ATTRIBUTES_H_

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

// The attribute as a T, one of the variant's types. NotFound if absent, InvalidArgument if of another type; both name
// it.
template <typename T>
absl::StatusOr<T> GetAttribute(const Attributes& attributes, absl::string_view name);
// As above, but `fallback` if absent or of another type.
template <typename T>
T GetAttributeOr(const Attributes& attributes, absl::string_view name, T fallback);

// "int", "list of string", ...: how messages name the type of a value.
absl::string_view AttributeTypeName(const AttributeValue& value);
// Equal values give equal texts and others other ones; of a tensor with more than 16 elements a hash of the bytes
// stands for the rest. "true", "3", "0.5", "'SAME'", "float32", "[?,2]", "{1, 2}", "float32 [] [1]".
std::string AttributeToString(const AttributeValue& value);
// "{padding='SAME', strides={1, 1, 1, 1}}"; "" of none.
std::string AttributesToString(const Attributes& attributes);

}  // namespace cohort

#endif  // COHORT_RUNTIME_TENSOR_ATTRIBUTES_H_
