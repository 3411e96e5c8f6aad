#include "runtime/tensor/shape.h"

#include <algorithm>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/check.h"

namespace cohort {

bool Shape::IsFullyDefined() const {
  return std::all_of(dims_.begin(), dims_.begin() + rank_, [](int64_t d) { return d >= 0; });
}

int64_t Shape::num_elements() const {
  int64_t product = 1;
  for (const int64_t d : dims()) {
    COHORT_CHECK(d >= 0, "the number of elements of an unknown dimension");
    // Nobody can hold so many; who compares the number with a limit must not see a small one.
    if (__builtin_mul_overflow(product, d, &product)) product = INT64_MAX;
  }
  return product;
}

bool Shape::IsCompatibleWith(const Shape& other) const {
  if (rank() != other.rank()) return false;
  for (int i = 0; i < rank(); ++i) {
    if (dim(i) != other.dim(i) && dim(i) != kUnknown && other.dim(i) != kUnknown) return false;
  }
  return true;
}

std::string Shape::ToString() const {
  return absl::StrCat("[",
                      absl::StrJoin(dims(), ",",
                                    [](std::string* out, int64_t d) {
                                      if (d == kUnknown) {
                                        out->push_back('?');
                                      } else {
                                        absl::StrAppend(out, d);
                                      }
                                    }),
                      "]");
}

std::ostream& operator<<(std::ostream& os, const Shape& shape) { return os << shape.ToString(); }

}  // namespace cohort
