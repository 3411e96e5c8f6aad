#include "runtime/cluster/json_value.h"

#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/cluster/host_port.h"

namespace cohort {
namespace {

using nlohmann::json;

constexpr size_t kMaxDepth = 32;

// Builds a JsonValue from the parser's events. The parser itself keeps its place on the heap, so that depth is our
// choice. Returning false stops it; error_ then says why.
class Builder final : public json::json_sax_t {
 public:
  absl::StatusOr<JsonValue> Take() && {
    if (!error_.ok()) return error_;
    return std::move(root_);
  }

  bool null() override { return Add({.kind = JsonValue::Kind::kNull}) != nullptr; }
  bool boolean(bool value) override {
    return Add({.kind = JsonValue::Kind::kBool, .text = value ? "true" : "false"}) != nullptr;
  }
  bool number_integer(number_integer_t value) override {
    return Add({.kind = JsonValue::Kind::kInt, .text = absl::StrCat(value), .integer = value}) != nullptr;
  }
  bool number_unsigned(number_unsigned_t value) override {
    const bool fits = value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    return Add({.kind = fits ? JsonValue::Kind::kInt : JsonValue::Kind::kFloat,
                .text = absl::StrCat(value),
                .integer = fits ? static_cast<int64_t>(value) : 0}) != nullptr;
  }
  bool number_float(number_float_t, const string_t& text) override {
    return Add({.kind = JsonValue::Kind::kFloat, .text = text}) != nullptr;
  }
  bool string(string_t& value) override { return Add({.kind = JsonValue::Kind::kString, .text = value}) != nullptr; }
  bool binary(binary_t&) override { return Fail("binary data is no JSON"); }

  bool start_object(std::size_t) override { return Open(JsonValue::Kind::kObject); }
  bool start_array(std::size_t) override { return Open(JsonValue::Kind::kArray); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(string_t& key) override {
    Level& level = levels_.back();
    level.key = key;
    if (!level.keys.insert(key).second) return Fail("the key appears twice");
    return true;
  }

  bool parse_error(std::size_t byte, const std::string& last_token, const json::exception& error) override {
    // 406: a number too large for a double. The rest are syntax, whose text repeats the position that is given here.
    if (error.id == 406) return Fail(absl::StrCat("number out of range: ", Quoted(last_token)));
    const std::string where = levels_.empty() ? "" : absl::StrCat(" (in ", Path(), ")");
    error_ = absl::InvalidArgumentError(
        absl::StrCat("not valid JSON at byte ", byte, where, ": unexpected ",
                     last_token.empty() ? "end of the text" : absl::StrCat("text at ", Quoted(last_token))));
    return false;
  }

 private:
  struct Level {
    JsonValue* value;  // its container does not grow while it is open
    std::string key;
    absl::flat_hash_set<std::string> keys;
  };

  std::string Path() const {
    std::string path;
    for (const Level& level : levels_) {
      if (level.value->kind == JsonValue::Kind::kArray) {
        absl::StrAppend(&path, "[", level.value->items.empty() ? 0 : level.value->items.size() - 1, "]");
      } else if (!level.key.empty()) {
        const std::string quoted = Quoted(level.key);
        absl::StrAppend(&path, path.empty() ? "" : ".", quoted.substr(1, quoted.size() - 2));
      }
    }
    return path.empty() ? "the top level" : path;
  }

  bool Fail(absl::string_view what) {
    error_ = absl::InvalidArgumentError(absl::StrCat(Path(), ": ", what));
    return false;
  }

  JsonValue* Add(JsonValue value) {
    if (levels_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    JsonValue& parent = *levels_.back().value;
    if (parent.kind == JsonValue::Kind::kArray) return &parent.items.emplace_back(std::move(value));
    return &parent.members.emplace_back(levels_.back().key, std::move(value)).second;
  }

  bool Open(JsonValue::Kind kind) {
    JsonValue* value = Add({.kind = kind});
    if (levels_.size() == kMaxDepth) return Fail(absl::StrCat("nested deeper than ", kMaxDepth, " levels"));
    levels_.push_back({.value = value, .key = "", .keys = {}});
    return true;
  }

  bool Close() {
    levels_.pop_back();
    return true;
  }

  JsonValue root_;
  std::vector<Level> levels_;
  absl::Status error_;
};

}  // namespace

const JsonValue* JsonValue::Find(absl::string_view key) const {
  for (const auto& [name, value] : members) {
    if (name == key) return &value;
  }
  return nullptr;
}

absl::string_view JsonValue::KindName() const {
  switch (kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "a boolean";
    case Kind::kInt:
    case Kind::kFloat:
      return "a number";
    case Kind::kString:
      return "a string";
    case Kind::kArray:
      return "a list";
    case Kind::kObject:
      return "an object";
  }
  return "a value";
}

absl::StatusOr<JsonValue> ParseJson(absl::string_view text) {
  Builder builder;
  json::sax_parse(text.begin(), text.end(), &builder);
  COHORT_ASSIGN_OR_RETURN(JsonValue value, std::move(builder).Take());
  // The parser takes a NUL outside strings for the end of the text, whatever follows.
  if (const size_t nul = text.find('\0'); nul != absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat("not valid JSON at byte ", nul + 1, ": unexpected NUL byte"));
  }
  return value;
}

std::string JsonQuoted(absl::string_view text) {
  return json(std::string(text)).dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace cohort
