#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/dataset/element_memory.h"
#include "runtime/dataset/mapping.h"
#include "runtime/dataset/parse_value.h"
#include "runtime/formats/example.h"

namespace cohort {
namespace {

bool IsVarLen(const ParsedFeature& feature) { return !feature.spec.shape.IsFullyDefined(); }

class ParseExample final : public DatasetIterator {
 public:
  ParseExample(std::unique_ptr<DatasetIterator> input, std::vector<ParsedFeature> features)
      : input_(std::move(input)),
        features_(std::move(features)),
        batched_(input_->element_spec()[0].shape.rank() == 1),
        values_(features_.size()) {
    for (const ParsedFeature& feature : features_) {
      spec_.push_back(batched_ ? BatchSpec(feature.spec, Shape::kUnknown) : feature.spec);
    }
  }

  const std::vector<TensorSpec>& element_spec() const override { return spec_; }
  int64_t cardinality() const override { return input_->cardinality(); }

 protected:
  absl::StatusOr<bool> DoNext(Element& element) override {
    COHORT_ASSIGN_OR_RETURN(const bool more, input_->Next(serialised_));
    if (!more) return false;
    const std::vector<std::string>& messages = serialised_[0].strings();
    for (Values& values : values_) values.Clear();
    for (size_t i = 0; i < messages.size(); ++i) {
      const absl::Status status = Parse(messages[i]);
      if (!status.ok()) {
        return Annotate(status, absl::StrCat("element ", position().element, " of epoch ", position().epoch,
                                             batched_ ? absl::StrCat(", row ", i) : ""));
      }
    }
    element.resize(features_.size());
    for (size_t f = 0; f < features_.size(); ++f) Emit(f, messages.size(), element[f]);
    return true;
  }
  absl::Status DoSeek(const DatasetPosition& to) override { return input_->Seek(to); }

 private:
  // The values of one feature in all messages of an element.
  struct Values {
    std::vector<float> floats;
    std::vector<int64_t> ints;
    std::vector<absl::string_view> texts;
    std::string bytes;            // uint8
    std::vector<int64_t> counts;  // by message
    void Clear() {
      floats.clear();
      ints.clear();
      texts.clear();
      bytes.clear();
      counts.clear();
    }
    int64_t size(DType dtype) const {
      switch (dtype) {
        case DType::kF32:
          return static_cast<int64_t>(floats.size());
        case DType::kI64:
          return static_cast<int64_t>(ints.size());
        case DType::kU8:
          return static_cast<int64_t>(bytes.size());
        default:
          return static_cast<int64_t>(texts.size());
      }
    }
  };

  absl::Status Parse(absl::string_view message) {
    COHORT_RETURN_IF_ERROR(SplitExample(message, found_));
    for (size_t f = 0; f < features_.size(); ++f) {
      // From behind: of two features with one key the later counts.
      const auto it = std::find_if(found_.rbegin(), found_.rend(),
                                   [&](const ExampleFeature& feature) { return feature.key == features_[f].key; });
      COHORT_RETURN_IF_ERROR(Append(features_[f], it == found_.rend() ? nullptr : &*it, values_[f]))
          << "feature '" << features_[f].key << "'";
    }
    return absl::OkStatus();
  }

  absl::Status Append(const ParsedFeature& wanted, const ExampleFeature* found, Values& values) {
    const DType dtype = wanted.spec.dtype;
    const int64_t before = values.size(dtype);
    if (found != nullptr && found->kind != FeatureKind::kNone) {
      if (dtype == DType::kU8) {
        texts_.clear();
        COHORT_RETURN_IF_ERROR(AppendValues(*found, texts_));
        for (const absl::string_view text : texts_) absl::StrAppend(&values.bytes, text);
      } else {
        COHORT_RETURN_IF_ERROR(dtype == DType::kF32   ? AppendValues(*found, values.floats)
                               : dtype == DType::kI64 ? AppendValues(*found, values.ints)
                                                      : AppendValues(*found, values.texts));
      }
    } else if (!IsVarLen(wanted)) {
      if (!wanted.default_value.has_value()) {
        return absl::InvalidArgumentError("is missing, and has no default");
      }
      AppendDefault(wanted, values);
    }
    const int64_t count = values.size(dtype) - before;
    values.counts.push_back(count);
    if (IsVarLen(wanted) || count == wanted.spec.shape.num_elements()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("has ", count, " values, its shape ", wanted.spec.shape.ToString(),
                                                   " needs ", wanted.spec.shape.num_elements()));
  }

  static void AppendDefault(const ParsedFeature& wanted, Values& values) {
    const int64_t count = wanted.spec.shape.num_elements();
    if (wanted.spec.dtype == DType::kString) {
      values.texts.insert(values.texts.end(), count, *wanted.default_value);
      return;
    }
    Tensor value(wanted.spec.dtype == DType::kF32 ? DType::kF32 : DType::kI64, Shape{});
    ParseValue(*wanted.default_value, value, 0);  // checked when the iterator was made
    if (wanted.spec.dtype == DType::kF32) {
      values.floats.insert(values.floats.end(), count, value.values<float>()[0]);
    } else if (wanted.spec.dtype == DType::kI64) {
      values.ints.insert(values.ints.end(), count, value.values<int64_t>()[0]);
    } else {
      values.bytes.append(count, static_cast<char>(value.values<int64_t>()[0]));
    }
  }

  void Emit(size_t f, size_t messages, Tensor& out) {
    const Values& values = values_[f];
    TensorSpec spec = features_[f].spec;
    int64_t longest = spec.shape.IsFullyDefined() ? spec.shape.num_elements() : 0;
    if (IsVarLen(features_[f])) {
      for (const int64_t count : values.counts) longest = std::max(longest, count);
      spec.shape.set_dim(0, longest);
    }
    FitTensor(out, batched_ ? BatchSpec(spec, messages) : spec);
    int64_t from = 0;
    for (size_t i = 0; i < values.counts.size(); ++i) {
      Copy(values, from, values.counts[i], out, i * longest, longest);
      from += values.counts[i];
    }
  }

  static void Copy(const Values& values, int64_t from, int64_t count, Tensor& out, int64_t to, int64_t room) {
    if (out.dtype() == DType::kString) {
      for (int64_t i = 0; i < count; ++i) out.mutable_strings()[to + i] = std::string(values.texts[from + i]);
      return;
    }
    const size_t item = DTypeSize(out.dtype());
    const char* source = out.dtype() == DType::kF32   ? reinterpret_cast<const char*>(values.floats.data())
                         : out.dtype() == DType::kI64 ? reinterpret_cast<const char*>(values.ints.data())
                                                      : values.bytes.data();
    char* const target = static_cast<char*>(out.mutable_data()) + to * item;
    if (count > 0) std::memcpy(target, source + from * item, count * item);
    if (room > count) std::memset(target + count * item, 0, (room - count) * item);
  }

  const std::unique_ptr<DatasetIterator> input_;
  const std::vector<ParsedFeature> features_;
  const bool batched_;
  std::vector<TensorSpec> spec_;
  Element serialised_;
  std::vector<ExampleFeature> found_;
  std::vector<absl::string_view> texts_;
  std::vector<Values> values_;  // by feature
};

absl::Status Check(const ParsedFeature& feature) {
  const TensorSpec& spec = feature.spec;
  const bool known = spec.dtype == DType::kF32 || spec.dtype == DType::kI64 || spec.dtype == DType::kString ||
                     spec.dtype == DType::kU8;
  if (!known || (IsVarLen(feature) && spec.shape.rank() != 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("feature '", feature.key, "' cannot be ", spec.ToString(),
                     ": float32, int64, string and uint8 of a known shape or [?] can be parsed"));
  }
  if (!feature.default_value.has_value() || spec.dtype == DType::kString) return absl::OkStatus();
  Tensor value(spec.dtype == DType::kF32 ? DType::kF32 : DType::kI64, Shape{});
  if (ParseValue(*feature.default_value, value, 0)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the default of feature '", feature.key, "', '", *feature.default_value, "', is no number"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeParseExample(std::unique_ptr<DatasetIterator> input,
                                                                  std::vector<ParsedFeature> features) {
  const std::vector<TensorSpec>& in = input->element_spec();
  if (in.size() != 1 || in[0].dtype != DType::kString || in[0].shape.rank() > 1) {
    return absl::InvalidArgumentError("the input must have one component, string [] or [?]: serialised Examples");
  }
  for (const ParsedFeature& feature : features) COHORT_RETURN_IF_ERROR(Check(feature));
  return std::make_unique<ParseExample>(std::move(input), std::move(features));
}

}  // namespace cohort
