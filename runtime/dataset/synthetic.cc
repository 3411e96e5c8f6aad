#include "runtime/dataset/synthetic.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/hash.h"

namespace cohort {
namespace {

// An example's noise is a window into one long row of noise; so many windows there are.
constexpr int64_t kWindows = 8192;
constexpr int64_t kMaxElements = int64_t{1} << 28;  // of the pictures of all classes together: 1 GiB

std::vector<float> UniformRow(int64_t count, uint64_t key) {
  std::vector<float> row(count);
  for (int64_t i = 0; i < count; ++i) {
    row[i] = static_cast<float>(SplitMix64(key + i * 0x9e3779b97f4a7c15) >> 40) * 0x1p-24f;
  }
  return row;
}

class Synthetic final : public ExampleSource {
 public:
  Synthetic(int64_t examples, const Shape& shape, int64_t classes, uint64_t seed)
      : examples_(examples),
        elements_(shape.num_elements()),
        classes_(classes),
        key_(SplitMix64(seed ^ Fnv1a64("examples"))),
        pictures_(UniformRow(classes * elements_, SplitMix64(seed ^ Fnv1a64("pictures")))),
        noise_(UniformRow(elements_ + kWindows, SplitMix64(seed ^ Fnv1a64("noise")))),
        spec_{{DType::kF32, shape}, {DType::kI32, Shape{}}} {}

  int64_t size() const override { return examples_; }
  const std::vector<TensorSpec>& example_spec() const override { return spec_; }

  void Read(absl::Span<const int64_t> indices, Element& batch) const override {
    float* image = static_cast<float*>(batch[0].mutable_data());
    int32_t* label = static_cast<int32_t*>(batch[1].mutable_data());
    for (const int64_t index : indices) {
      const uint64_t hash = SplitMix64(key_ + index * 0x9e3779b97f4a7c15);
      const int64_t kind = static_cast<int64_t>((hash >> 32) % static_cast<uint64_t>(classes_));
      const float* picture = pictures_.data() + kind * elements_;
      const float* noise = noise_.data() + hash % kWindows;
      for (int64_t i = 0; i < elements_; ++i) image[i] = 0.5f * (picture[i] + noise[i]);
      image += elements_;
      *label++ = static_cast<int32_t>(kind);
    }
  }

 private:
  const int64_t examples_;
  const int64_t elements_;
  const int64_t classes_;
  const uint64_t key_;
  const std::vector<float> pictures_;  // [classes, elements]
  const std::vector<float> noise_;     // [elements + kWindows]
  const std::vector<TensorSpec> spec_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ExampleSource>> MakeSynthetic(int64_t examples, const Shape& shape, int64_t classes,
                                                             uint64_t seed) {
  if (examples < 0 || classes < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("Synthetic needs examples >= 0 and classes >= 1, not ", examples, " and ", classes));
  }
  if (!shape.IsFullyDefined() || shape.num_elements() > kMaxElements / classes) {
    return absl::InvalidArgumentError(absl::StrCat("Synthetic needs a fully defined shape with at most ",
                                                   kMaxElements / classes, " elements, not ", shape.ToString()));
  }
  return std::make_unique<Synthetic>(examples, shape, classes, seed);
}

}  // namespace cohort
