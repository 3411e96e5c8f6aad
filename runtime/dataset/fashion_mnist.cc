#include "runtime/dataset/fashion_mnist.h"

#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status_macros.h"
#include "runtime/formats/idx.h"

namespace cohort {
namespace {

constexpr int64_t kSide = 28;
constexpr int64_t kPixels = kSide * kSide;
constexpr int kClasses = 10;

std::array<float, 256> PixelValues() {
  std::array<float, 256> values;
  for (int pixel = 0; pixel < 256; ++pixel) values[pixel] = static_cast<float>(pixel) / 255.0f;
  return values;
}

class FashionMnist final : public ExampleSource {
 public:
  FashionMnist(std::vector<uint8_t> images, std::vector<uint8_t> labels)
      : images_(std::move(images)),
        labels_(std::move(labels)),
        spec_{{DType::kF32, Shape{kSide, kSide, 1}}, {DType::kI32, Shape{}}} {}

  int64_t size() const override { return static_cast<int64_t>(labels_.size()); }
  const std::vector<TensorSpec>& example_spec() const override { return spec_; }

  void Read(absl::Span<const int64_t> indices, Element& batch) const override {
    float* image = static_cast<float*>(batch[0].mutable_data());
    int32_t* label = static_cast<int32_t*>(batch[1].mutable_data());
    for (const int64_t index : indices) {
      const uint8_t* pixels = images_.data() + index * kPixels;
      for (int64_t i = 0; i < kPixels; ++i) image[i] = values_[pixels[i]];
      image += kPixels;
      *label++ = labels_[index];
    }
  }

 private:
  const std::vector<uint8_t> images_;
  const std::vector<uint8_t> labels_;
  const std::vector<TensorSpec> spec_;
  const std::array<float, 256> values_ = PixelValues();  // a load costs less than a conversion and a division
};

// The file as the package has it, or unpacked.
absl::StatusOr<IdxArray> ReadPart(const std::string& directory, const std::string& name, int64_t rows) {
  const std::string packed = absl::StrCat(directory, "/", name, ".gz");
  absl::StatusOr<IdxArray> array = ReadIdx(packed, rows);
  if (absl::IsNotFound(array.status())) array = ReadIdx(absl::StrCat(directory, "/", name), rows);
  if (absl::IsNotFound(array.status())) {
    return absl::NotFoundError(
        absl::StrCat("Fashion-MNIST needs '", packed, "', which is not there: apt-get install dataset-fashion-mnist"));
  }
  return array;
}

absl::Status Check(const IdxArray& images, const IdxArray& labels, const std::string& where) {
  if (images.type != IdxType::kU8 || images.dims.size() != 3 || images.dims[1] != kSide || images.dims[2] != kSide) {
    return absl::DataLossError(
        absl::StrCat(where, "-images: expected bytes [?,28,28], found [", absl::StrJoin(images.dims, ","), "]"));
  }
  if (labels.type != IdxType::kU8 || labels.dims.size() != 1 || labels.dims[0] != images.dims[0]) {
    return absl::DataLossError(absl::StrCat(where, "-labels: expected bytes [", images.dims[0],
                                            "], one for each image, found [", absl::StrJoin(labels.dims, ","), "]"));
  }
  for (size_t i = 0; i < labels.data.size(); ++i) {
    if (labels.data[i] >= kClasses) {
      return absl::DataLossError(
          absl::StrCat(where, "-labels: label ", i, " is ", labels.data[i], ", expected 0 to ", kClasses - 1));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ExampleSource>> OpenFashionMnist(absl::string_view split, int64_t examples,
                                                                const std::string& directory) {
  if (split != "train" && split != "test") {
    return absl::InvalidArgumentError(
        absl::StrCat("Fashion-MNIST has no split '", split, "': train and test are there"));
  }
  const std::string prefix = split == "train" ? "train" : "t10k";
  const int64_t rows = examples > 0 ? examples : -1;
  COHORT_ASSIGN_OR_RETURN(IdxArray images, ReadPart(directory, prefix + "-images-idx3-ubyte", rows));
  COHORT_ASSIGN_OR_RETURN(IdxArray labels, ReadPart(directory, prefix + "-labels-idx1-ubyte", rows));
  COHORT_RETURN_IF_ERROR(Check(images, labels, absl::StrCat(directory, "/", prefix)));
  if (examples < 0 || images.dims[0] < examples) {
    return absl::InvalidArgumentError(absl::StrCat("the first ", examples, " examples are asked for, Fashion-MNIST's ",
                                                   split, " split has ", images.dims[0]));
  }
  return std::make_unique<FashionMnist>(std::move(images.data), std::move(labels.data));
}

}  // namespace cohort
