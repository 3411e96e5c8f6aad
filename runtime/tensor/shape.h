#ifndef COHORT_RUNTIME_TENSOR_SHAPE_H_
#define COHORT_RUNTIME_TENSOR_SHAPE_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <utility>

#include "absl/types/span.h"
#include "runtime/base/check.h"

namespace cohort {

// The dimensions of a tensor. In a graph a dimension may be unknown (kUnknown): the batch, mostly. The rank is known
// and at most kMaxRank (checked): who reads a shape from a file or a peer asks before making one. Copies never
// allocate.
class Shape {
 public:
  static constexpr int64_t kUnknown = -1;
  static constexpr int kMaxRank = 8;

  Shape() = default;  // a scalar
  Shape(std::initializer_list<int64_t> dims) : Shape(absl::Span<const int64_t>(dims.begin(), dims.size())) {}
  explicit Shape(absl::Span<const int64_t> dims) : rank_(static_cast<int>(dims.size())) {
    COHORT_CHECK(dims.size() <= kMaxRank, "a shape has at most 8 dimensions");
    std::copy(dims.begin(), dims.end(), dims_.begin());
  }

  int rank() const { return rank_; }
  int64_t dim(int i) const { return dims_[i]; }
  void set_dim(int i, int64_t value) { dims_[i] = value; }
  void push_back(int64_t value) {
    COHORT_CHECK(rank_ < kMaxRank, "a shape has at most 8 dimensions");
    dims_[rank_++] = value;
  }
  absl::Span<const int64_t> dims() const { return {dims_.data(), static_cast<size_t>(rank_)}; }

  bool IsFullyDefined() const;
  // Product of the dimensions, 1 for a scalar. Only of a fully defined shape (checked).
  int64_t num_elements() const;
  // Whether the two can be one shape: equal ranks, and equal dimensions where both are known.
  bool IsCompatibleWith(const Shape& other) const;
  // "[64,784]", "[?,10]", "[]".
  std::string ToString() const;

  friend bool operator==(const Shape& a, const Shape& b) { return a.dims() == b.dims(); }
  template <typename H>
  friend H AbslHashValue(H h, const Shape& s) {
    return H::combine(std::move(h), s.dims());
  }

 private:
  std::array<int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};

std::ostream& operator<<(std::ostream& os, const Shape& shape);

}  // namespace cohort

#endif  // COHORT_RUNTIME_TENSOR_SHAPE_H_
