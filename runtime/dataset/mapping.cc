#include "runtime/dataset/mapping.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace cohort {
namespace {

class Map final : public DatasetIterator {
 public:
  Map(std::unique_ptr<DatasetIterator> input, const FunctionRunner& functions, std::string function,
      std::vector<TensorSpec> spec)
      : input_(std::move(input)), functions_(functions), function_(std::move(function)), spec_(std::move(spec)) {}

  const std::vector<TensorSpec>& element_spec() const override { return spec_; }
  int64_t cardinality() const override { return input_->cardinality(); }

 protected:
  absl::StatusOr<bool> DoNext(Element& element) override {
    COHORT_ASSIGN_OR_RETURN(const bool more, input_->Next(arguments_));
    if (!more) return false;
    COHORT_RETURN_IF_ERROR(functions_.Run(function_, arguments_, element))
        << "function '" << function_ << "', element " << position().element << " of epoch " << position().epoch;
    return true;
  }
  absl::Status DoSeek(const DatasetPosition& to) override { return input_->Seek(to); }

 private:
  const std::unique_ptr<DatasetIterator> input_;
  const FunctionRunner& functions_;
  const std::string function_;
  const std::vector<TensorSpec> spec_;
  Element arguments_;
};

class Filter final : public DatasetIterator {
 public:
  Filter(std::unique_ptr<DatasetIterator> input, const FunctionRunner& functions, std::string function)
      : input_(std::move(input)), functions_(functions), function_(std::move(function)) {}

  const std::vector<TensorSpec>& element_spec() const override { return input_->element_spec(); }
  int64_t cardinality() const override { return input_->cardinality() == 0 ? 0 : kUnknownCardinality; }

 protected:
  absl::StatusOr<bool> DoNext(Element& element) override {
    while (true) {
      const int64_t number = input_->position().element;
      COHORT_ASSIGN_OR_RETURN(const bool more, input_->Next(element));
      if (!more) return false;
      COHORT_RETURN_IF_ERROR(functions_.Run(function_, element, verdict_))
          << "function '" << function_ << "', element " << number << " of epoch " << position().epoch;
      if (verdict_[0].values<bool>()[0]) return true;
    }
  }
  absl::Status DoSeek(const DatasetPosition& to) override {
    return SeekByNext(to, [this](int64_t epoch) { return input_->Reset(epoch); });
  }

 private:
  const std::unique_ptr<DatasetIterator> input_;
  const FunctionRunner& functions_;
  const std::string function_;
  Element verdict_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeMap(std::unique_ptr<DatasetIterator> input,
                                                         const FunctionRunner& functions, std::string function) {
  COHORT_ASSIGN_OR_RETURN(std::vector<TensorSpec> spec, functions.ResultSpecs(function, input->element_spec()));
  return std::make_unique<Map>(std::move(input), functions, std::move(function), std::move(spec));
}

absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeFilter(std::unique_ptr<DatasetIterator> input,
                                                            const FunctionRunner& functions, std::string function) {
  COHORT_ASSIGN_OR_RETURN(const std::vector<TensorSpec> spec, functions.ResultSpecs(function, input->element_spec()));
  if (spec != std::vector<TensorSpec>{{DType::kBool, Shape{}}}) {
    return absl::InvalidArgumentError(
        absl::StrCat("function '", function, "' must give one bool [] to filter by, it gives ", spec.size(), " results",
                     spec.empty() ? "" : absl::StrCat(", the first ", spec[0].ToString())));
  }
  return std::make_unique<Filter>(std::move(input), functions, std::move(function));
}

}  // namespace cohort
