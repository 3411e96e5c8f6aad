#ifndef COHORT_RUNTIME_TENSOR_SHAPE_H_
#define COHORT_RUNTIME_TENSOR_SHAPE_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

namespace cohort {

// The dimensions of a tensor. In a graph a dimension may be unknown (kUnknown): the batch, mostly. The rank is known.
class Shape {
 public:
  static constexpr int64_t kUnknown = -1;

  Shape() = default;  // a scalar
  Shape(std::initializer_list<int64_t> dims) : dims_(dims) {}
  explicit Shape(absl::Span<const int64_t> dims) : dims_(dims.begin(), dims.end()) {}

  int rank() const { return static_cast<int>(dims_.size()); }
  int64_t dim(int i) const { return dims_[i]; }
  void set_dim(int i, int64_t value) { dims_[i] = value; }
  void push_back(int64_t value) { dims_.push_back(value); }
  absl::Span<const int64_t> dims() const { return dims_; }

  bool IsFullyDefined() const;
  // Product of the dimensions, 1 for a scalar. Only of a fully defined shape.
  int64_t num_elements() const;
  // Whether the two can be one shape: equal ranks, and equal dimensions where both are known.
  bool IsCompatibleWith(const Shape& other) const;
  // "[64,784]", "[?,10]", "[]".
  std::string ToString() const;

  friend bool operator==(const Shape& a, const Shape& b) { return a.dims_ == b.dims_; }
  template <typename H>
  friend H AbslHashValue(H h, const Shape& s) {
    return H::combine(std::move(h), s.dims_);
  }

 private:
  absl::InlinedVector<int64_t, 4> dims_;
};

std::ostream& operator<<(std::ostream& os, const Shape& shape);

}  // namespace cohort

#endif  // COHORT_RUNTIME_TENSOR_SHAPE_H_
