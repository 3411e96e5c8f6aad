#ifndef COHORT_RUNTIME_DATASET_MAPPING_H_
#define COHORT_RUNTIME_DATASET_MAPPING_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/dataset/function_runner.h"
#include "runtime/dataset/iterator.h"

namespace cohort {

// The results of `function` for each element. Errors of the function name it and the element's number.
absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeMap(std::unique_ptr<DatasetIterator> input,
                                                         const FunctionRunner& functions, std::string function);

// The elements for which `function` says true. InvalidArgument: it gives anything but one bool [].
absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeFilter(std::unique_ptr<DatasetIterator> input,
                                                            const FunctionRunner& functions, std::string function);

// A feature that ParseExample makes a component of.
struct ParsedFeature {
  std::string key;
  // float32 (of a FloatList), int64 (Int64List), string (BytesList), or uint8: the bytes of one string. [?] is a
  // feature of any length; else the feature has as many values as the shape.
  TensorSpec spec;
  std::optional<std::string> default_value;  // of each element, where the feature is missing; none: an error
};

// Components from serialised tf.train.Examples, the only component, string [] or [n]. Of batches, features of any
// length are filled up to the longest with 0 or "".
// InvalidArgument, from Next: no Example; a feature is missing, of another kind, or has another number of values; names
// the key and the element.
absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeParseExample(std::unique_ptr<DatasetIterator> input,
                                                                  std::vector<ParsedFeature> features);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DATASET_MAPPING_H_
