#ifndef COHORT_RUNTIME_CLUSTER_JSON_VALUE_H_
#define COHORT_RUNTIME_CLUSTER_JSON_VALUE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cohort {

// A parsed JSON text, with object members in their order.
struct JsonValue {
  enum class Kind { kNull, kBool, kInt, kFloat, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  std::string text = "";  // of a string; of a number as written
  int64_t integer = 0;
  std::vector<std::pair<std::string, JsonValue>> members = {};
  std::vector<JsonValue> items = {};

  // nullptr if this is no object or has no such member.
  const JsonValue* Find(absl::string_view key) const;

  // "an object", "a string", "null", ...: for messages.
  absl::string_view KindName() const;
};

// Strict: InvalidArgument with the byte, counted from 1, or the path ("cluster.worker[1]") for text that is not JSON,
// goes on after its value, has a key twice in one object, or nests deeper than 32. Integers beyond 64 bits come out as
// kFloat.
absl::StatusOr<JsonValue> ParseJson(absl::string_view text);

// `text` as a JSON string, with its quotes; bytes that are not UTF-8 are replaced.
std::string JsonQuoted(absl::string_view text);

}  // namespace cohort

#endif  // COHORT_RUNTIME_CLUSTER_JSON_VALUE_H_
