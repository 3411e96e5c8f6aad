#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/remote/graph_coding.h"
#include "runtime/remote/tensor_coding.h"

namespace cohort {
namespace {

// Writes the alternative that an AttributeValue holds.
struct ValueToProto {
  wire::Attribute& proto;

  void operator()(bool value) const { proto.set_b(value); }
  void operator()(int64_t value) const { proto.set_i(value); }
  void operator()(double value) const { proto.set_d(value); }
  void operator()(const std::string& value) const { proto.set_s(value); }
  void operator()(DType value) const { proto.set_dtype(static_cast<int32_t>(value)); }
  void operator()(const Shape& value) const { *proto.mutable_shape() = ToProto(value); }
  void operator()(const std::vector<int64_t>& value) const {
    proto.mutable_ints()->mutable_values()->Add(value.begin(), value.end());
  }
  void operator()(const std::vector<std::string>& value) const {
    for (const std::string& item : value) proto.mutable_strings()->add_values(item);
    proto.mutable_strings();  // an empty list is a list too
  }
  void operator()(const Tensor& value) const { *proto.mutable_tensor() = ToProto(value); }
};

absl::StatusOr<AttributeValue> ValueFromProto(const wire::Attribute& proto) {
  switch (proto.value_case()) {
    case wire::Attribute::kB:
      return AttributeValue(proto.b());
    case wire::Attribute::kI:
      return AttributeValue(int64_t{proto.i()});
    case wire::Attribute::kD:
      return AttributeValue(proto.d());
    case wire::Attribute::kS:
      return AttributeValue(proto.s());
    case wire::Attribute::kDtype: {
      COHORT_ASSIGN_OR_RETURN(const DType dtype, DTypeFromProto(proto.dtype()));
      return AttributeValue(dtype);
    }
    case wire::Attribute::kShape: {
      COHORT_ASSIGN_OR_RETURN(Shape shape, FromProto(proto.shape()));
      return AttributeValue(std::move(shape));
    }
    case wire::Attribute::kInts:
      return AttributeValue(std::vector<int64_t>(proto.ints().values().begin(), proto.ints().values().end()));
    case wire::Attribute::kStrings:
      return AttributeValue(std::vector<std::string>(proto.strings().values().begin(), proto.strings().values().end()));
    case wire::Attribute::kTensor: {
      COHORT_ASSIGN_OR_RETURN(Tensor tensor, FromProto(proto.tensor()));
      return AttributeValue(std::move(tensor));
    }
    case wire::Attribute::VALUE_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("no value of a kind that is known here");
}

}  // namespace

void AttributesToProto(const Attributes& attributes, google::protobuf::RepeatedPtrField<wire::Attribute>* proto) {
  for (const auto& [name, value] : attributes) {
    wire::Attribute& attribute = *proto->Add();
    attribute.set_name(name);
    if (const auto* ints = std::get_if<std::vector<int64_t>>(&value); ints != nullptr && ints->empty()) {
      attribute.mutable_ints();
    }
    std::visit(ValueToProto{attribute}, value);
  }
}

absl::StatusOr<Attributes> AttributesFromProto(const google::protobuf::RepeatedPtrField<wire::Attribute>& proto) {
  Attributes attributes;
  for (const wire::Attribute& attribute : proto) {
    COHORT_ASSIGN_OR_RETURN(AttributeValue value, ValueFromProto(attribute),
                            _ << "attribute '" << attribute.name() << "'");
    if (!attributes.emplace(attribute.name(), std::move(value)).second) {
      return absl::InvalidArgumentError(absl::StrCat("attribute '", attribute.name(), "' stands there twice"));
    }
  }
  return attributes;
}

}  // namespace cohort
