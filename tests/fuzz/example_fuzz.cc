// Any bytes are an Example or an error.

#include <cstdint>
#include <vector>

#include "runtime/formats/example.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::vector<cohort::ExampleFeature> features;
  if (!cohort::SplitExample(bytes, features).ok()) return 0;
  for (const cohort::ExampleFeature& feature : features) {
    std::vector<int64_t> ints;
    std::vector<float> floats;
    std::vector<absl::string_view> texts;
    (void)cohort::AppendValues(feature, ints);
    (void)cohort::AppendValues(feature, floats);
    (void)cohort::AppendValues(feature, texts);
  }
  return 0;
}
