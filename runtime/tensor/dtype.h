#ifndef COHORT_RUNTIME_TENSOR_DTYPE_H_
#define COHORT_RUNTIME_TENSOR_DTYPE_H_

#include <cstddef>
#include <cstdint>
#include <iosfwd>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cohort {

// Element types. The numbers are TensorFlow's DataType, so that checksums and checkpoints agree with its files.
enum class DType : uint8_t {
  kInvalid = 0,
  kF32 = 1,
  kF64 = 2,
  kI32 = 3,
  kU8 = 4,
  kI16 = 5,
  kI8 = 6,
  kString = 7,
  kI64 = 9,
  kBool = 10,
  kBF16 = 14,
  kU16 = 17,
  kF16 = 19,
  kResource = 20,  // a variable's handle; only inside a graph
  kU32 = 22,
  kU64 = 23,
};

// "float32", "int64", ... as numpy and TensorFlow name them.
absl::string_view DTypeName(DType dtype);
absl::StatusOr<DType> ParseDType(absl::string_view name);

// Bytes of one element; 0 for kString, kResource and kInvalid.
size_t DTypeSize(DType dtype);

bool IsFloating(DType dtype);  // float16, bfloat16, float32, float64
bool IsInteger(DType dtype);   // signed and unsigned, not bool

std::ostream& operator<<(std::ostream& os, DType dtype);  // its name

}  // namespace cohort

#endif  // COHORT_RUNTIME_TENSOR_DTYPE_H_
