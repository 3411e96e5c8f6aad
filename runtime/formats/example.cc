#include "runtime/formats/example.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace cohort {
namespace {

constexpr int kVarint = 0;
constexpr int kFixed64 = 1;
constexpr int kLengthDelimited = 2;
constexpr int kFixed32 = 5;

// One field of a message.
struct Field {
  uint64_t number = 0;
  int type = kVarint;
  uint64_t value = 0;       // kVarint
  absl::string_view bytes;  // of the other types
};

// Walks the fields of a message.
class FieldReader {
 public:
  explicit FieldReader(absl::string_view message) : begin_(message.data()), rest_(message) {}

  bool done() const { return rest_.empty(); }
  const char* here() const { return rest_.data(); }

  // False: no field begins here.
  bool Next(Field& field) {
    uint64_t tag = 0;
    if (!ReadVarint(rest_, tag)) return false;
    field.number = tag >> 3;
    field.type = static_cast<int>(tag & 7);
    uint64_t size = 0;
    switch (field.type) {
      case kVarint:
        return field.number != 0 && ReadVarint(rest_, field.value);
      case kFixed64:
        size = 8;
        break;
      case kFixed32:
        size = 4;
        break;
      case kLengthDelimited:
        if (!ReadVarint(rest_, size)) return false;
        break;
      default:
        return false;
    }
    if (field.number == 0 || size > rest_.size()) return false;
    field.bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }

  absl::Status Broken(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(what, " is broken at its byte ", rest_.data() - begin_));
  }

  static bool ReadVarint(absl::string_view& bytes, uint64_t& value) {
    value = 0;
    for (size_t i = 0; i < bytes.size() && i < 10; ++i) {
      const auto byte = static_cast<unsigned char>(bytes[i]);
      value |= uint64_t{byte & 0x7fu} << (7 * i);
      if (byte < 0x80) {
        bytes.remove_prefix(i + 1);
        return true;
      }
    }
    return false;
  }

 private:
  const char* begin_;
  absl::string_view rest_;
};

void AppendVarint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void AppendBytes(std::string& out, int field, absl::string_view bytes) {
  AppendVarint(out, static_cast<uint64_t>(field) << 3 | kLengthDelimited);
  AppendVarint(out, bytes.size());
  absl::StrAppend(&out, bytes);
}

absl::Status ReadFeature(absl::string_view message, ExampleFeature& feature) {
  FieldReader fields(message);
  feature.kind = FeatureKind::kNone;
  while (!fields.done()) {
    const char* const start = fields.here();
    Field field;
    if (!fields.Next(field)) return fields.Broken("a Feature");
    if (field.number < 1 || field.number > 3) continue;
    if (field.type != kLengthDelimited) return fields.Broken("a Feature");
    const auto kind = static_cast<FeatureKind>(field.number);
    if (kind == feature.kind) continue;
    feature.kind = kind;
    feature.lists = message.substr(start - message.data());
  }
  return absl::OkStatus();
}

absl::Status ReadEntry(absl::string_view message, ExampleFeature& feature) {
  FieldReader fields(message);
  absl::string_view value;
  while (!fields.done()) {
    Field field;
    if (!fields.Next(field)) return fields.Broken("an entry of Features");
    if (field.number != 1 && field.number != 2) continue;
    if (field.type != kLengthDelimited) return fields.Broken("an entry of Features");
    (field.number == 1 ? feature.key : value) = field.bytes;
  }
  return ReadFeature(value, feature);
}

// Calls `visit(field)` for each field 1 of each list of the feature; it says whether the field is what it should be.
template <typename Visit>
absl::Status VisitValues(const ExampleFeature& feature, FeatureKind kind, const Visit& visit) {
  if (feature.kind == FeatureKind::kNone) return absl::OkStatus();
  if (feature.kind != kind) {
    return absl::InvalidArgumentError(
        absl::StrCat("holds ", FeatureKindName(feature.kind), " values, not ", FeatureKindName(kind)));
  }
  FieldReader lists(feature.lists);
  while (!lists.done()) {
    Field list;
    if (!lists.Next(list)) return lists.Broken("a Feature");
    if (list.number != static_cast<uint64_t>(kind)) continue;
    FieldReader values(list.bytes);
    while (!values.done()) {
      Field value;
      if (!values.Next(value) || (value.number == 1 && !visit(value))) {
        return values.Broken(absl::StrCat("a list of ", FeatureKindName(kind), " values"));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::string_view FeatureKindName(FeatureKind kind) {
  switch (kind) {
    case FeatureKind::kNone:
      return "nothing";
    case FeatureKind::kBytes:
      return "bytes";
    case FeatureKind::kFloat:
      return "float";
    case FeatureKind::kInt64:
      return "int64";
  }
  return "?";
}

absl::Status SplitExample(absl::string_view message, std::vector<ExampleFeature>& features) {
  features.clear();
  FieldReader example(message);
  while (!example.done()) {
    Field field;
    if (!example.Next(field)) return example.Broken("the Example");
    if (field.number != 1) continue;
    if (field.type != kLengthDelimited) return example.Broken("the Example");
    FieldReader entries(field.bytes);
    while (!entries.done()) {
      Field entry;
      if (!entries.Next(entry)) return entries.Broken("the Example's Features");
      if (entry.number != 1) continue;
      if (entry.type != kLengthDelimited) return entries.Broken("the Example's Features");
      COHORT_RETURN_IF_ERROR(ReadEntry(entry.bytes, features.emplace_back())) << "the Example";
    }
  }
  return absl::OkStatus();
}

absl::Status AppendValues(const ExampleFeature& feature, std::vector<int64_t>& values) {
  return VisitValues(feature, FeatureKind::kInt64, [&](const Field& field) {
    if (field.type == kVarint) {
      values.push_back(static_cast<int64_t>(field.value));
      return true;
    }
    if (field.type != kLengthDelimited) return false;
    absl::string_view packed = field.bytes;
    for (uint64_t value; !packed.empty();) {
      if (!FieldReader::ReadVarint(packed, value)) return false;
      values.push_back(static_cast<int64_t>(value));
    }
    return true;
  });
}

absl::Status AppendValues(const ExampleFeature& feature, std::vector<float>& values) {
  return VisitValues(feature, FeatureKind::kFloat, [&](const Field& field) {
    if (field.type != kFixed32 && field.type != kLengthDelimited) return false;
    if (field.bytes.size() % sizeof(float) != 0) return false;
    const size_t old = values.size();
    values.resize(old + field.bytes.size() / sizeof(float));
    if (!field.bytes.empty()) std::memcpy(values.data() + old, field.bytes.data(), field.bytes.size());
    return true;
  });
}

absl::Status AppendValues(const ExampleFeature& feature, std::vector<absl::string_view>& values) {
  return VisitValues(feature, FeatureKind::kBytes, [&](const Field& field) {
    if (field.type != kLengthDelimited) return false;
    values.push_back(field.bytes);
    return true;
  });
}

void ExampleBuilder::AddFeature(absl::string_view key, FeatureKind kind, absl::string_view list) {
  std::string feature;
  AppendBytes(feature, static_cast<int>(kind), list);
  std::string entry;
  AppendBytes(entry, 1, key);
  AppendBytes(entry, 2, feature);
  AppendBytes(features_, 1, entry);
}

void ExampleBuilder::Add(absl::string_view key, absl::Span<const int64_t> values) {
  std::string packed;
  for (const int64_t value : values) AppendVarint(packed, static_cast<uint64_t>(value));
  std::string list;
  if (!values.empty()) AppendBytes(list, 1, packed);
  AddFeature(key, FeatureKind::kInt64, list);
}

void ExampleBuilder::Add(absl::string_view key, absl::Span<const float> values) {
  std::string list;
  if (!values.empty()) {
    AppendBytes(list, 1,
                absl::string_view(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
  }
  AddFeature(key, FeatureKind::kFloat, list);
}

void ExampleBuilder::Add(absl::string_view key, absl::Span<const absl::string_view> values) {
  std::string list;
  for (const absl::string_view value : values) AppendBytes(list, 1, value);
  AddFeature(key, FeatureKind::kBytes, list);
}

std::string ExampleBuilder::Finish() {
  std::string message;
  AppendBytes(message, 1, features_);
  features_.clear();
  return message;
}

}  // namespace cohort
