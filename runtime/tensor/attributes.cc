#include "runtime/tensor/attributes.h"

#include <charconv>
#include <type_traits>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/hash.h"

namespace cohort {
namespace {

constexpr absl::string_view kTypeNames[] = {"bool",  "int",         "float",          "string", "dtype",
                                            "shape", "list of int", "list of string", "tensor"};
static_assert(std::size(kTypeNames) == std::variant_size_v<AttributeValue>);

std::string Text(bool value) { return value ? "true" : "false"; }
std::string Text(int64_t value) { return absl::StrCat(value); }
std::string Text(double value) {
  char text[32];
  std::string out(text, std::to_chars(text, text + sizeof(text), value).ptr);
  // A float that prints as an integer keeps a dot: 1.0 and 1 are different attributes.
  if (out.find_first_of(".en") == std::string::npos) out += ".0";
  return out;
}
std::string Text(const std::string& value) { return absl::StrCat("'", absl::CHexEscape(value), "'"); }
std::string Text(DType value) { return std::string(DTypeName(value)); }
std::string Text(const Shape& value) { return value.ToString(); }
std::string Text(const std::vector<int64_t>& value) { return absl::StrCat("{", absl::StrJoin(value, ", "), "}"); }
std::string Text(const std::vector<std::string>& value) {
  return absl::StrCat("{", absl::StrJoin(value, ", ", [](std::string* out, const std::string& s) { *out += Text(s); }),
                      "}");
}
std::string Text(const Tensor& value) {
  std::string out = value.ToString();
  constexpr int64_t kShown = 16;
  if (value.num_elements() <= kShown) return out;
  uint64_t hash = Fnv1a64("");
  if (value.dtype() == DType::kString) {
    for (const std::string& s : value.strings()) hash = Fnv1a64(absl::string_view("\0", 1), Fnv1a64(s, hash));
  } else {
    hash = Fnv1a64({static_cast<const char*>(value.data()), value.num_bytes()});
  }
  return absl::StrCat(out, " #", absl::Hex(hash, absl::kZeroPad16));
}

}  // namespace

absl::string_view AttributeTypeName(const AttributeValue& value) { return kTypeNames[value.index()]; }

template <typename T>
absl::StatusOr<T> GetAttribute(const Attributes& attributes, absl::string_view name) {
  const auto it = attributes.find(std::string(name));
  if (it == attributes.end()) return absl::NotFoundError(absl::StrCat("attribute '", name, "' is missing"));
  if (const T* value = std::get_if<T>(&it->second)) return *value;
  return absl::InvalidArgumentError(absl::StrCat("attribute '", name, "' is a ", AttributeTypeName(it->second),
                                                 ", not a ", AttributeTypeName(AttributeValue(std::in_place_type<T>))));
}

template <typename T>
T GetAttributeOr(const Attributes& attributes, absl::string_view name, T fallback) {
  const auto it = attributes.find(std::string(name));
  if (it == attributes.end()) return fallback;
  const T* value = std::get_if<T>(&it->second);
  return value ? *value : fallback;
}

std::string AttributeToString(const AttributeValue& value) {
  return std::visit([](const auto& v) { return Text(v); }, value);
}

std::string AttributesToString(const Attributes& attributes) {
  if (attributes.empty()) return "";
  return absl::StrCat("{",
                      absl::StrJoin(attributes, ", ",
                                    [](std::string* out, const auto& item) {
                                      absl::StrAppend(out, item.first, "=", AttributeToString(item.second));
                                    }),
                      "}");
}

#define COHORT_INSTANTIATE(T)                                                       \
  template absl::StatusOr<T> GetAttribute<T>(const Attributes&, absl::string_view); \
  template T GetAttributeOr<T>(const Attributes&, absl::string_view, T);
COHORT_INSTANTIATE(bool)
COHORT_INSTANTIATE(int64_t)
COHORT_INSTANTIATE(double)
COHORT_INSTANTIATE(std::string)
COHORT_INSTANTIATE(DType)
COHORT_INSTANTIATE(Shape)
COHORT_INSTANTIATE(std::vector<int64_t>)
COHORT_INSTANTIATE(std::vector<std::string>)
COHORT_INSTANTIATE(Tensor)
#undef COHORT_INSTANTIATE

}  // namespace cohort
