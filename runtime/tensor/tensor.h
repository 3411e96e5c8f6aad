#ifndef COHORT_RUNTIME_TENSOR_TENSOR_H_
#define COHORT_RUNTIME_TENSOR_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "runtime/tensor/tensor_spec.h"

namespace cohort {

// A block of host memory with a fixed size, aligned to 64 bytes. Shared by the tensors that view it.
class Buffer {
 public:
  explicit Buffer(size_t bytes);  // uninitialised; from 4 MiB on it asks for huge pages
  // Memory that somebody else owns and frees by `release` (wire slices, shared memory).
  Buffer(void* data, size_t bytes, std::function<void()> release);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() { return data_; }
  const void* data() const { return data_; }
  size_t size() const { return bytes_; }

 private:
  void* data_;
  size_t bytes_;
  std::function<void()> release_;
};

// A dense, row-major, host-memory array with a dtype and a fully defined shape. Copies share the buffer (like
// shared_ptr: not safe to write through one while another thread reads). A default-made Tensor holds nothing.
class Tensor {
 public:
  Tensor() = default;
  Tensor(DType dtype, Shape shape);  // uninitialised elements; strings are empty
  Tensor(TensorSpec spec, std::shared_ptr<Buffer> buffer, size_t offset_bytes);

  // A tensor of `values` in row-major order; the product of `shape` must be their number (checked).
  template <typename T>
  static Tensor Of(Shape shape, absl::Span<const T> values);
  template <typename T>
  static Tensor Of(Shape shape, std::initializer_list<T> values) {  // Tensor::Of<float>({2, 2}, {1, 2, 3, 4})
    return Of(std::move(shape), absl::Span<const T>(values.begin(), values.size()));
  }
  template <typename T>
  static Tensor Scalar(T value);
  static Tensor OfStrings(Shape shape, std::vector<std::string> values);
  static Tensor Zeros(DType dtype, Shape shape);

  bool has_value() const { return spec_.dtype != DType::kInvalid; }
  DType dtype() const { return spec_.dtype; }
  const Shape& shape() const { return spec_.shape; }
  const TensorSpec& spec() const { return spec_; }
  int64_t num_elements() const { return num_elements_; }
  size_t num_bytes() const { return num_elements_ * DTypeSize(spec_.dtype); }  // 0 for strings

  // Elements in row-major order. T must be the C++ type of dtype() (checked; runtime/tensor/element_type.h).
  template <typename T>
  absl::Span<const T> values() const;
  template <typename T>
  absl::Span<T> mutable_values();
  const void* data() const;  // null for strings and for a tensor that holds nothing
  void* mutable_data();
  const std::vector<std::string>& strings() const;  // only of kString
  std::vector<std::string>& mutable_strings();

  // Same elements under another shape of as many elements.
  Tensor Reshaped(Shape shape) const;
  Tensor Clone() const;  // own memory
  const std::shared_ptr<Buffer>& buffer() const { return buffer_; }

  // Equal dtype, shape and bits (a NaN equals itself, zeros of two signs differ).
  bool BitwiseEquals(const Tensor& other) const;
  // "float32 [2,2] [1, 2, 3, 4]"; at most 16 elements, then "...". Numbers in the fewest digits that read back alike.
  std::string ToString() const;

 private:
  TensorSpec spec_;
  int64_t num_elements_ = 0;
  std::shared_ptr<Buffer> buffer_;
  size_t offset_ = 0;
  std::shared_ptr<std::vector<std::string>> strings_;
};

std::ostream& operator<<(std::ostream& os, const Tensor& tensor);

}  // namespace cohort

#endif  // COHORT_RUNTIME_TENSOR_TENSOR_H_
