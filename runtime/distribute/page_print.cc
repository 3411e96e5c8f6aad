#include "runtime/distribute/page_print.h"

#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/distribute/replica_ids.h"
#include "runtime/tensor/element_type.h"

namespace cohort {
namespace {

constexpr int64_t kShown = 64;

// Floats show their point: "6.0" alone, "6." in an array, as numpy has it.
template <typename T>
std::string Number(T value, bool alone) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "True" : "False";
  } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return Number(static_cast<float>(value), alone);
  } else if constexpr (std::is_integral_v<T>) {
    return absl::StrCat(value);
  } else {
    const std::string tensor = Tensor::Scalar<T>(value).ToString();  // in the fewest digits that read back
    std::string text = tensor.substr(tensor.find(" [] [") + 5);
    text.pop_back();
    const bool whole = text.find_first_not_of("-0123456789") == std::string::npos;
    return whole ? text + (alone ? ".0" : ".") : text;
  }
}

std::string Element(const Tensor& tensor, int64_t i, bool alone) {
  if (tensor.dtype() == DType::kString) return absl::StrCat("b'", tensor.strings()[i], "'");
  std::string text;
  DispatchElementType(tensor.dtype(), [&](auto zero) { text = Number(tensor.values<decltype(zero)>()[i], alone); });
  return text;
}

// Dimensions from `depth` on, beginning at element `at`, which moves on.
std::string Nested(const Tensor& tensor, int depth, int64_t& at) {
  if (depth == tensor.shape().rank()) return Element(tensor, at++, false);
  std::string out = "[";
  for (int64_t i = 0; i < tensor.shape().dim(depth); ++i) {
    if (i > 0) out += ", ";
    if (at >= kShown) return out + "...]";
    out += Nested(tensor, depth + 1, at);
  }
  return out + "]";
}

std::string ArrayText(const Tensor& tensor) {
  if (tensor.shape().rank() == 0) return Element(tensor, 0, true);
  int64_t at = 0;
  const std::string values = Nested(tensor, 0, at);
  const DType dtype = tensor.dtype();
  // Empty arrays look like float64, so numpy names the others.
  const bool evident = tensor.num_elements() == 0
                           ? dtype == DType::kF64
                           : dtype == DType::kI64 || dtype == DType::kF64 || dtype == DType::kBool;
  const absl::string_view name = dtype == DType::kString ? "object" : DTypeName(dtype);
  return absl::StrCat("array(", values, evident ? "" : absl::StrCat(", dtype=", name), ")");
}

std::string ShapeText(const Shape& shape) {
  return absl::StrCat("(", absl::StrJoin(shape.dims(), ", "), shape.rank() == 1 ? ",)" : ")");
}

std::string HostScalar(const Nest& value) {
  if (value.kind() == Nest::Kind::kBool) return value.bool_value() ? "True" : "False";
  if (value.kind() == Nest::Kind::kDouble) return Number(value.double_value(), true);
  return value.ToString();
}

std::string Distributed(absl::string_view type, absl::Span<const std::string> values) {
  std::string out = absl::StrCat(type, ":{\n");
  for (size_t r = 0; r < values.size(); ++r) {
    absl::StrAppend(&out, "  ", r, ": ", values[r], r + 1 < values.size() ? ",\n" : "\n");
  }
  return out + "}";
}

}  // namespace

std::string PagePrint(const Tensor& tensor) {
  return absl::StrCat("<tf.Tensor: shape=", ShapeText(tensor.shape()), ", dtype=", DTypeName(tensor.dtype()),
                      ", numpy=", ArrayText(tensor), ">");
}

std::string PagePrint(const Nest& value) {
  std::vector<std::string> children;
  for (const Nest& child : value.children()) children.push_back(PagePrint(child));
  switch (value.kind()) {
    case Nest::Kind::kNone:
      return "None";
    case Nest::Kind::kTensor:
      return PagePrint(value.tensor());
    case Nest::Kind::kPerReplica:
    case Nest::Kind::kMirrored:
      return Distributed(KindName(value.kind()), children);
    case Nest::Kind::kList:
      return absl::StrCat("[", absl::StrJoin(children, ", "), "]");
    case Nest::Kind::kTuple:
      return absl::StrCat("(", absl::StrJoin(children, ", "), children.size() == 1 ? ",)" : ")");
    case Nest::Kind::kMap:
      for (size_t i = 0; i < children.size(); ++i) {
        children[i] = absl::StrCat("'", value.keys()[i], "': ", children[i]);
      }
      return absl::StrCat("{", absl::StrJoin(children, ", "), "}");
    default:
      return HostScalar(value);
  }
}

std::string PagePrintVariable(absl::string_view name, const Tensor& value) {
  return absl::StrCat("<tf.Variable '", name, ":0' shape=", ShapeText(value.shape()),
                      " dtype=", DTypeName(value.dtype()), ", numpy=", ArrayText(value), ">");
}

std::string PagePrintDistributedVariable(absl::string_view type, absl::string_view name,
                                         absl::Span<const Tensor> components) {
  std::vector<std::string> texts;
  for (size_t k = 0; k < components.size(); ++k) {
    texts.push_back(PagePrintVariable(ComponentName(name, static_cast<int>(k)), components[k]));
  }
  return Distributed(type, texts);
}

}  // namespace cohort
