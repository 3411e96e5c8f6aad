#ifndef COHORT_RUNTIME_TENSOR_TENSOR_SPEC_H_
#define COHORT_RUNTIME_TENSOR_TENSOR_SPEC_H_

#include <iosfwd>
#include <string>

#include "runtime/tensor/dtype.h"
#include "runtime/tensor/shape.h"

namespace cohort {

// What is known of a tensor before it exists.
struct TensorSpec {
  DType dtype = DType::kInvalid;
  Shape shape;

  std::string ToString() const;  // "float32 [?,784]"
  friend bool operator==(const TensorSpec&, const TensorSpec&) = default;
};

std::ostream& operator<<(std::ostream& os, const TensorSpec& spec);

}  // namespace cohort

#endif  // COHORT_RUNTIME_TENSOR_TENSOR_SPEC_H_
