#include "runtime/tensor/tensor.h"

#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <new>
#include <ostream>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"
#include "runtime/tensor/element_type.h"

namespace cohort {
namespace {

constexpr std::align_val_t kAlignment{64};
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kHugeFrom = size_t{4} << 20;  // smaller blocks waste too much of their last huge page

std::align_val_t AlignmentFor(size_t bytes) { return bytes >= kHugeFrom ? std::align_val_t{kHugePage} : kAlignment; }

template <typename T>
void AppendElement(std::string& out, T value) {
  if constexpr (std::is_same_v<T, bool>) {
    out += value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    AppendElement(out, static_cast<float>(value));
  } else {
    char text[32];
    out.append(text, std::to_chars(text, text + sizeof(text), value).ptr);
  }
}

}  // namespace

Buffer::Buffer(size_t bytes) : data_(::operator new(std::max<size_t>(bytes, 1), AlignmentFor(bytes))), bytes_(bytes) {
  // A hint: where the kernel has no huge pages the memory is as good, only slower.
  if (bytes >= kHugeFrom) madvise(data_, bytes, MADV_HUGEPAGE);
}

Buffer::Buffer(void* data, size_t bytes, std::function<void()> release)
    : data_(data), bytes_(bytes), release_(std::move(release)) {
  COHORT_CHECK(release_ != nullptr, "lent memory needs somebody to give it back to");
}

Buffer::~Buffer() {
  if (release_) {
    release_();
  } else {
    ::operator delete(data_, AlignmentFor(bytes_));
  }
}

Tensor::Tensor(DType dtype, Shape shape) : spec_{dtype, std::move(shape)}, num_elements_(spec_.shape.num_elements()) {
  if (dtype == DType::kString) {
    strings_ = std::make_shared<std::vector<std::string>>(num_elements_);
    return;
  }
  COHORT_CHECK(DTypeSize(dtype) > 0, "a tensor of a dtype without elements");
  buffer_ = std::make_shared<Buffer>(num_bytes());
}

Tensor::Tensor(TensorSpec spec, std::shared_ptr<Buffer> buffer, size_t offset_bytes)
    : spec_(std::move(spec)),
      num_elements_(spec_.shape.num_elements()),
      buffer_(std::move(buffer)),
      offset_(offset_bytes) {
  COHORT_CHECK(DTypeSize(spec_.dtype) > 0, "a view of a dtype without elements");
  COHORT_CHECK(buffer_ != nullptr && offset_ + num_bytes() <= buffer_->size(), "the view ends past its buffer");
}

template <typename T>
Tensor Tensor::Of(Shape shape, absl::Span<const T> values) {
  Tensor tensor(kDTypeOf<T>, std::move(shape));
  COHORT_CHECK(static_cast<size_t>(tensor.num_elements_) == values.size(), "as many values as the shape has elements");
  std::copy(values.begin(), values.end(), tensor.mutable_values<T>().begin());
  return tensor;
}

template <typename T>
Tensor Tensor::Scalar(T value) {
  return Of<T>(Shape(), absl::MakeConstSpan(&value, 1));
}

Tensor Tensor::OfStrings(Shape shape, std::vector<std::string> values) {
  Tensor tensor(DType::kString, std::move(shape));
  COHORT_CHECK(static_cast<size_t>(tensor.num_elements_) == values.size(), "as many values as the shape has elements");
  *tensor.strings_ = std::move(values);
  return tensor;
}

Tensor Tensor::Zeros(DType dtype, Shape shape) {
  Tensor tensor(dtype, std::move(shape));
  if (tensor.num_bytes() > 0) std::memset(tensor.mutable_data(), 0, tensor.num_bytes());
  return tensor;
}

template <typename T>
absl::Span<const T> Tensor::values() const {
  COHORT_CHECK(kDTypeOf<T> == spec_.dtype, "the elements are of another C++ type");
  return absl::Span<const T>(static_cast<const T*>(data()), num_elements_);
}

template <typename T>
absl::Span<T> Tensor::mutable_values() {
  COHORT_CHECK(kDTypeOf<T> == spec_.dtype, "the elements are of another C++ type");
  return absl::Span<T>(static_cast<T*>(mutable_data()), num_elements_);
}

const void* Tensor::data() const { return buffer_ ? static_cast<const char*>(buffer_->data()) + offset_ : nullptr; }
void* Tensor::mutable_data() { return buffer_ ? static_cast<char*>(buffer_->data()) + offset_ : nullptr; }

const std::vector<std::string>& Tensor::strings() const {
  COHORT_CHECK(strings_ != nullptr, "the tensor holds no strings");
  return *strings_;
}

std::vector<std::string>& Tensor::mutable_strings() {
  COHORT_CHECK(strings_ != nullptr, "the tensor holds no strings");
  return *strings_;
}

Tensor Tensor::Reshaped(Shape shape) const {
  COHORT_CHECK(shape.num_elements() == num_elements_, "a reshape keeps the number of elements");
  Tensor view = *this;
  view.spec_.shape = std::move(shape);
  return view;
}

Tensor Tensor::Clone() const {
  if (!has_value()) return {};
  Tensor copy(spec_.dtype, spec_.shape);
  if (strings_) {
    *copy.strings_ = *strings_;
  } else if (num_bytes() > 0) {
    std::memcpy(copy.mutable_data(), data(), num_bytes());
  }
  return copy;
}

bool Tensor::BitwiseEquals(const Tensor& other) const {
  if (!(spec_ == other.spec_)) return false;
  if (strings_) return *strings_ == *other.strings_;
  return num_bytes() == 0 || std::memcmp(data(), other.data(), num_bytes()) == 0;
}

std::string Tensor::ToString() const {
  if (!has_value()) return "no tensor";
  constexpr int64_t kShown = 16;
  std::string out = absl::StrCat(spec_.ToString(), " [");
  for (int64_t i = 0; i < std::min(num_elements_, kShown); ++i) {
    if (i > 0) out += ", ";
    if (strings_) absl::StrAppend(&out, "'", (*strings_)[i], "'");
    DispatchElementType(spec_.dtype, [&](auto zero) { AppendElement(out, values<decltype(zero)>()[i]); });
  }
  if (num_elements_ > kShown) out += ", ...";
  return out + "]";
}

std::ostream& operator<<(std::ostream& os, const Tensor& tensor) { return os << tensor.ToString(); }

#define COHORT_INSTANTIATE(T, dtype)                         \
  template Tensor Tensor::Of<T>(Shape, absl::Span<const T>); \
  template Tensor Tensor::Scalar<T>(T);                      \
  template absl::Span<const T> Tensor::values<T>() const;    \
  template absl::Span<T> Tensor::mutable_values<T>();
COHORT_FOR_EACH_ELEMENT_TYPE(COHORT_INSTANTIATE)
#undef COHORT_INSTANTIATE

}  // namespace cohort
