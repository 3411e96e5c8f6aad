#include "runtime/distribute/nest.h"

#include <bit>

#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"
#include "runtime/base/status_macros.h"
#include "runtime/distribute/elementwise.h"

namespace cohort {

Nest::Nest(IndexedSlices value)
    : kind_(Kind::kSparse), content_(std::make_shared<const IndexedSlices>(std::move(value))) {}

Nest::Nest(Kind kind, std::vector<std::string> keys, std::vector<Nest> items)
    : kind_(kind), content_(std::make_shared<const Children>(Children{std::move(keys), std::move(items)})) {}

Nest Nest::Map(std::map<std::string, Nest> items) {
  std::vector<std::string> keys;
  std::vector<Nest> values;
  for (auto& [key, value] : items) {
    keys.push_back(key);
    values.push_back(std::move(value));
  }
  return Nest(Kind::kMap, std::move(keys), std::move(values));
}

Nest Nest::PerReplica(std::vector<Nest> values) {
  COHORT_CHECK(!values.empty(), "a PerReplica has a value for each replica");
  return Nest(Kind::kPerReplica, {}, std::move(values));
}

Nest Nest::Mirrored(std::vector<Nest> values) {
  COHORT_CHECK(!values.empty(), "a mirrored value has a component for each device");
  return Nest(Kind::kMirrored, {}, std::move(values));
}

Nest Nest::Like(const Nest& like, std::vector<Nest> children) {
  COHORT_CHECK(like.is_structure() && like.children().size() == children.size(), "another structure");
  return Nest(like.kind_, {like.keys().begin(), like.keys().end()}, std::move(children));
}

bool Nest::bool_value() const {
  COHORT_CHECK(kind_ == Kind::kBool, "the leaf is no bool");
  return *std::get_if<bool>(&content_);
}
int64_t Nest::int_value() const {
  COHORT_CHECK(kind_ == Kind::kInt, "the leaf is no integer");
  return *std::get_if<int64_t>(&content_);
}
double Nest::double_value() const {
  COHORT_CHECK(kind_ == Kind::kDouble, "the leaf is no double");
  return *std::get_if<double>(&content_);
}
const std::string& Nest::string() const {
  COHORT_CHECK(kind_ == Kind::kString, "the leaf is no string");
  return *std::get_if<std::string>(&content_);
}
const Tensor& Nest::tensor() const {
  COHORT_CHECK(kind_ == Kind::kTensor, "the leaf is no tensor");
  return *std::get_if<Tensor>(&content_);
}
const IndexedSlices& Nest::sparse() const {
  COHORT_CHECK(kind_ == Kind::kSparse, "the leaf is no sparse value");
  return **std::get_if<std::shared_ptr<const IndexedSlices>>(&content_);
}
const ObjectRef& Nest::object() const {
  COHORT_CHECK(kind_ == Kind::kObject, "the leaf is no object");
  return *std::get_if<ObjectRef>(&content_);
}

absl::Span<const Nest> Nest::children() const {
  const auto* children = std::get_if<std::shared_ptr<const Children>>(&content_);
  return children ? absl::Span<const Nest>((*children)->items) : absl::Span<const Nest>();
}

absl::Span<const std::string> Nest::keys() const {
  const auto* children = std::get_if<std::shared_ptr<const Children>>(&content_);
  return children ? absl::Span<const std::string>((*children)->keys) : absl::Span<const std::string>();
}

absl::string_view KindName(Nest::Kind kind) {
  constexpr absl::string_view kNames[] = {"none",   "bool", "int",   "float", "string",     "tensor",  "sparse value",
                                          "object", "list", "tuple", "map",   "PerReplica", "Mirrored"};
  return kNames[static_cast<int>(kind)];
}

namespace {

std::string LeafToString(const Nest& leaf) {
  switch (leaf.kind()) {
    case Nest::Kind::kBool:
      return leaf.bool_value() ? "true" : "false";
    case Nest::Kind::kInt:
      return absl::StrCat(leaf.int_value());
    case Nest::Kind::kDouble:
      return absl::StrCat(leaf.double_value());
    case Nest::Kind::kString:
      return absl::StrCat("'", leaf.string(), "'");
    case Nest::Kind::kTensor:
      return leaf.tensor().ToString();
    case Nest::Kind::kSparse:
      return leaf.sparse().ToString();
    case Nest::Kind::kObject:
      return leaf.object().component < 0 ? leaf.object().label
                                         : absl::StrCat(leaf.object().label, " component ", leaf.object().component);
    default:
      return "none";
  }
}

}  // namespace

std::string Nest::ToString() const {
  if (!is_structure() && !is_distributed()) return LeafToString(*this);
  const bool tuple = kind_ == Kind::kTuple, list = kind_ == Kind::kList;
  std::string out = is_distributed() ? absl::StrCat(KindName(kind_), ":{") : tuple ? "(" : list ? "[" : "{";
  for (size_t i = 0; i < children().size(); ++i) {
    if (i > 0) out += ", ";
    if (is_distributed()) absl::StrAppend(&out, i, ": ");
    if (kind_ == Kind::kMap) absl::StrAppend(&out, keys()[i], ": ");
    out += children()[i].ToString();
  }
  if (tuple && children().size() == 1) out += ",";
  return out + (tuple ? ")" : list ? "]" : "}");
}

bool SameObject(const Nest& a, const Nest& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Nest::Kind::kNone:
      return true;
    case Nest::Kind::kBool:
      return a.bool_value() == b.bool_value();
    case Nest::Kind::kInt:
      return a.int_value() == b.int_value();
    case Nest::Kind::kDouble:  // bits: a NaN is itself, zeros of two signs are two
      return std::bit_cast<uint64_t>(a.double_value()) == std::bit_cast<uint64_t>(b.double_value());
    case Nest::Kind::kString:
      return a.string() == b.string();
    case Nest::Kind::kTensor:
      return SameHandle(a.tensor(), b.tensor());
    case Nest::Kind::kSparse:
      return SameHandle(a.sparse().values, b.sparse().values) && SameHandle(a.sparse().indices, b.sparse().indices) &&
             a.sparse().dense_shape == b.sparse().dense_shape;
    case Nest::Kind::kObject:
      return a.object() == b.object();
    default:
      break;
  }
  if (a.children().size() != b.children().size() || a.keys() != b.keys()) return false;
  for (size_t i = 0; i < a.children().size(); ++i) {
    if (!SameObject(a.children()[i], b.children()[i])) return false;
  }
  return true;
}

std::string PathStep(const Nest& structure, size_t child) {
  return structure.kind() == Nest::Kind::kMap ? absl::StrCat("['", structure.keys()[child], "']")
                                              : absl::StrCat("[", child, "]");
}

namespace {

absl::StatusOr<Nest> MapLeavesBelow(const Nest& nest, const std::string& path,
                                    absl::FunctionRef<absl::StatusOr<Nest>(const Nest&)> f) {
  if (!nest.is_structure()) {
    COHORT_ASSIGN_OR_RETURN(Nest result, f(nest), _ << path);
    return result;
  }
  std::vector<Nest> children;
  for (size_t i = 0; i < nest.children().size(); ++i) {
    COHORT_ASSIGN_OR_RETURN(Nest child, MapLeavesBelow(nest.children()[i], path + PathStep(nest, i), f));
    children.push_back(std::move(child));
  }
  return Nest::Like(nest, std::move(children));
}

}  // namespace

absl::StatusOr<Nest> MapLeaves(const Nest& nest, absl::FunctionRef<absl::StatusOr<Nest>(const Nest&)> f) {
  return MapLeavesBelow(nest, "", f);
}

}  // namespace cohort
