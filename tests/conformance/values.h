#ifndef COHORT_TESTS_CONFORMANCE_VALUES_H_
#define COHORT_TESTS_CONFORMANCE_VALUES_H_

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/distribute/nest.h"
#include "runtime/tensor/tensor.h"

// Values as the tables of the rules write them, and results as one text to compare.
namespace cohort {

template <typename T>
Tensor Vec(std::initializer_list<T> values) {
  return Tensor::Of<T>(Shape{static_cast<int64_t>(values.size())}, values);
}

// {0: a, 1: b}.
inline Nest Each(std::vector<Nest> values) { return Nest::PerReplica(std::move(values)); }

// "float32 [2] [1, 2]", or "INVALID_ARGUMENT"; the message of an error is printed where a test fails.
inline std::string Shown(const absl::Status& status) { return absl::StatusCodeToString(status.code()); }
inline std::string Shown(const Tensor& tensor) { return tensor.ToString(); }
inline std::string Shown(const Nest& nest) { return nest.ToString(); }
template <typename T>
std::string Shown(const std::vector<T>& values) {  // "float32 [] [1] | float32 [] [2]"
  std::string out;
  for (const T& value : values) absl::StrAppend(&out, out.empty() ? "" : " | ", Shown(value));
  return out;
}
template <typename T>
std::string Shown(const absl::StatusOr<T>& result) {
  return result.ok() ? Shown(*result) : Shown(result.status());
}

}  // namespace cohort

#endif  // COHORT_TESTS_CONFORMANCE_VALUES_H_
