#ifndef COHORT_RUNTIME_FORMATS_EXAMPLE_H_
#define COHORT_RUNTIME_FORMATS_EXAMPLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace cohort {

// tf.train.Example, read straight from the wire: Example {1: Features {1: map<string, Feature>}}, Feature {oneof 1:
// BytesList, 2: FloatList, 3: Int64List}, each list {1: repeated value}; numbers packed or not. Unknown fields are
// passed over. Source: tensorflow/core/example/feature.proto.

enum class FeatureKind { kNone, kBytes, kFloat, kInt64 };  // kNone: present without a value

absl::string_view FeatureKindName(FeatureKind kind);  // "nothing", "bytes", "float", "int64"

// One feature, as views into the message: valid as long as its bytes.
struct ExampleFeature {
  absl::string_view key;
  FeatureKind kind = FeatureKind::kNone;
  absl::string_view lists;  // the lists of that kind, as fields of the Feature message
};

// Splits a message into its features, in the order of the message: of two with one key the later counts. Of two kinds
// in one feature the last counts.
// InvalidArgument: not an Example; names the offset.
absl::Status SplitExample(absl::string_view message, std::vector<ExampleFeature>& features);

// Append the feature's values, of which the feature must have that kind, or none. InvalidArgument: not such a list.
absl::Status AppendValues(const ExampleFeature& feature, std::vector<int64_t>& values);
absl::Status AppendValues(const ExampleFeature& feature, std::vector<float>& values);
absl::Status AppendValues(const ExampleFeature& feature, std::vector<absl::string_view>& values);

// Makes a message, with the features in the order in which they are added; numbers are packed.
class ExampleBuilder {
 public:
  void Add(absl::string_view key, absl::Span<const int64_t> values);
  void Add(absl::string_view key, absl::Span<const float> values);
  void Add(absl::string_view key, absl::Span<const absl::string_view> values);

  // The message; the builder is empty afterwards.
  std::string Finish();

 private:
  void AddFeature(absl::string_view key, FeatureKind kind, absl::string_view list);

  std::string features_;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_FORMATS_EXAMPLE_H_
