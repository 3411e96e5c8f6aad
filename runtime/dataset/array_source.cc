#include "runtime/dataset/array_source.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/dataset/element_memory.h"
#include "runtime/formats/idx.h"
#include "runtime/formats/npy.h"

namespace cohort {
namespace {

class ArraySource final : public ExampleSource {
 public:
  explicit ArraySource(std::vector<Tensor> arrays) : arrays_(std::move(arrays)) {
    for (const Tensor& array : arrays_) spec_.push_back(RowSpec(array.spec()));
  }

  int64_t size() const override { return arrays_[0].shape().dim(0); }
  const std::vector<TensorSpec>& example_spec() const override { return spec_; }

  void Read(absl::Span<const int64_t> indices, Element& batch) const override {
    for (size_t c = 0; c < arrays_.size(); ++c) {
      for (size_t row = 0; row < indices.size(); ++row) CopyRows(arrays_[c], indices[row], batch[c], row, 1);
    }
  }

 private:
  const std::vector<Tensor> arrays_;
  std::vector<TensorSpec> spec_;
};

class RangeSource final : public ExampleSource {
 public:
  RangeSource(int64_t start, int64_t step, int64_t size) : start_(start), step_(step), size_(size) {}

  int64_t size() const override { return size_; }
  const std::vector<TensorSpec>& example_spec() const override { return spec_; }

  void Read(absl::Span<const int64_t> indices, Element& batch) const override {
    int64_t* out = static_cast<int64_t*>(batch[0].mutable_data());
    for (const int64_t index : indices) *out++ = start_ + index * step_;
  }

 private:
  const int64_t start_;
  const int64_t step_;
  const int64_t size_;
  const std::vector<TensorSpec> spec_ = {{DType::kI64, Shape{}}};
};

DType DTypeOf(const NpyArray& array) {
  switch (array.kind) {
    case 'b':
      return DType::kBool;
    case 'i':
      return array.item_bytes == 1   ? DType::kI8
             : array.item_bytes == 2 ? DType::kI16
             : array.item_bytes == 4 ? DType::kI32
                                     : DType::kI64;
    case 'u':
      return array.item_bytes == 1   ? DType::kU8
             : array.item_bytes == 2 ? DType::kU16
             : array.item_bytes == 4 ? DType::kU32
                                     : DType::kU64;
    case 'f':
      return array.item_bytes == 2 ? DType::kF16 : array.item_bytes == 4 ? DType::kF32 : DType::kF64;
    case 'S':
    case 'U':
      return DType::kString;
    default:
      return DType::kInvalid;
  }
}

DType DTypeOf(IdxType type) {
  switch (type) {
    case IdxType::kU8:
      return DType::kU8;
    case IdxType::kI8:
      return DType::kI8;
    case IdxType::kI16:
      return DType::kI16;
    case IdxType::kI32:
      return DType::kI32;
    case IdxType::kF32:
      return DType::kF32;
    case IdxType::kF64:
      return DType::kF64;
  }
  return DType::kInvalid;
}

absl::StatusOr<Shape> ShapeOf(const std::vector<int64_t>& dims, const std::string& name) {
  if (dims.size() <= Shape::kMaxRank) return Shape(dims);
  return absl::InvalidArgumentError(
      absl::StrCat("'", name, "' has ", dims.size(), " dimensions, at most ", Shape::kMaxRank, " are supported"));
}

absl::StatusOr<Tensor> TensorOf(const NpyArray& array, const std::string& name) {
  const DType dtype = DTypeOf(array);
  if (dtype == DType::kInvalid) {
    return absl::InvalidArgumentError(absl::StrCat("'", name, "' holds '", std::string(1, array.kind), array.item_bytes,
                                                   "', bytes without a meaning"));
  }
  COHORT_ASSIGN_OR_RETURN(const Shape shape, ShapeOf(array.dims, name));
  if (dtype == DType::kBool &&
      std::any_of(array.data.begin(), array.data.end(), [](unsigned char c) { return c > 1; })) {
    return absl::InvalidArgumentError(absl::StrCat("'", name, "' holds a bool that is neither 0 nor 1"));
  }
  if (dtype != DType::kString) {
    Tensor tensor(dtype, shape);
    if (!array.data.empty()) std::memcpy(tensor.mutable_data(), array.data.data(), array.data.size());
    return tensor;
  }
  std::vector<std::string> texts(array.num_elements());
  for (size_t i = 0; i < texts.size(); ++i) {
    COHORT_ASSIGN_OR_RETURN(texts[i], array.Text(i), _ << "'" << name << "'");
  }
  return Tensor::OfStrings(shape, std::move(texts));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ExampleSource>> MakeArraySource(std::vector<Tensor> arrays) {
  if (arrays.empty()) return absl::InvalidArgumentError("there are no arrays to slice");
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i].shape().rank() == 0) {
      return absl::InvalidArgumentError(absl::StrCat("array ", i, " is a scalar, which has no rows"));
    }
    if (arrays[i].shape().dim(0) != arrays[0].shape().dim(0)) {
      return absl::InvalidArgumentError(absl::StrCat("array ", i, " has shape ", arrays[i].shape().ToString(),
                                                     ", array 0 ", arrays[0].shape().ToString(),
                                                     ": the first dimensions must be equal"));
    }
  }
  return std::make_unique<ArraySource>(std::move(arrays));
}

absl::StatusOr<std::unique_ptr<ExampleSource>> MakeRangeSource(int64_t start, int64_t stop, int64_t step) {
  if (step == 0) return absl::InvalidArgumentError("step is 0");
  const __int128 distance = step > 0 ? __int128{stop} - start : __int128{start} - stop;
  const __int128 stride = step > 0 ? __int128{step} : -__int128{step};
  const __int128 size = distance <= 0 ? 0 : (distance + stride - 1) / stride;
  if (size > (__int128{1} << 62)) return absl::InvalidArgumentError("the range has more than 2^62 numbers");
  return std::make_unique<RangeSource>(start, step, static_cast<int64_t>(size));
}

absl::StatusOr<std::vector<Tensor>> ReadNpyTensors(const FileSystem& files, const std::vector<std::string>& paths) {
  std::vector<Tensor> tensors;
  for (const std::string& path : paths) {
    COHORT_ASSIGN_OR_RETURN(const NpyArray array, ReadNpy(files, path));
    COHORT_ASSIGN_OR_RETURN(tensors.emplace_back(), TensorOf(array, path));
  }
  return tensors;
}

absl::StatusOr<std::vector<Tensor>> ReadNpzTensors(const FileSystem& files, const std::string& path,
                                                   const std::vector<std::string>& keys) {
  COHORT_ASSIGN_OR_RETURN(const std::vector<NpzMember> members, ReadNpz(files, path, keys));
  std::vector<Tensor> tensors;
  for (const NpzMember& member : members) {
    COHORT_ASSIGN_OR_RETURN(tensors.emplace_back(), TensorOf(member.array, absl::StrCat(path, ":", member.name)));
  }
  return tensors;
}

absl::StatusOr<std::vector<Tensor>> ReadIdxTensors(const std::vector<std::string>& paths) {
  std::vector<Tensor> tensors;
  for (const std::string& path : paths) {
    COHORT_ASSIGN_OR_RETURN(const IdxArray array, ReadIdx(path));
    COHORT_ASSIGN_OR_RETURN(const Shape shape, ShapeOf(array.dims, path));
    Tensor tensor(DTypeOf(array.type), shape);
    if (!array.data.empty()) std::memcpy(tensor.mutable_data(), array.data.data(), array.data.size());
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace cohort
