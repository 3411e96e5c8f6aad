#ifndef COHORT_RUNTIME_DISTRIBUTE_NEST_H_
#define COHORT_RUNTIME_DISTRIBUTE_NEST_H_

#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/distribute/indexed_slices.h"
#include "runtime/tensor/tensor.h"

namespace cohort {

// Something that these rules only pass on: a variable, an iterator, a symbolic tensor.
struct ObjectRef {
  std::shared_ptr<const void> object;
  int num_components = 0;  // of a distributed variable: one for each replica; 0 for anything else
  int component = -1;      // the component that replica r sees; -1: the object itself
  std::string label;       // how it prints
  friend bool operator==(const ObjectRef& a, const ObjectRef& b) {
    return a.object == b.object && a.component == b.component;
  }
};

// What goes into a step function and comes out of it: lists, tuples and maps, nested, of leaves. A leaf is none, a host
// scalar, a string, a tensor, a sparse value, an object, or a container with one value for each replica: PerReplica,
// whose values may differ, or Mirrored, whose values are equal. A value type; copies share their children.
class Nest {
 public:
  enum class Kind : uint8_t {
    kNone,
    kBool,
    kInt,
    kDouble,
    kString,
    kTensor,
    kSparse,
    kObject,
    kList,
    kTuple,
    kMap,
    kPerReplica,
    kMirrored,
  };

  Nest() = default;  // none
  // Implicit, so that a nest can be written down: Nest::List({1, 2.5, "x", tensor}).
  template <std::same_as<bool> T>
  Nest(T value) : kind_(Kind::kBool), content_(value) {}  // NOLINT
  template <std::integral T>
  requires(!std::same_as<T, bool>) Nest(T value)
      : kind_(Kind::kInt), content_(static_cast<int64_t>(value)) {}  // NOLINT
  template <std::floating_point T>
  Nest(T value) : kind_(Kind::kDouble), content_(static_cast<double>(value)) {}          // NOLINT
  Nest(const char* value) : kind_(Kind::kString), content_(std::string(value)) {}        // NOLINT
  Nest(absl::string_view value) : kind_(Kind::kString), content_(std::string(value)) {}  // NOLINT
  Nest(std::string value) : kind_(Kind::kString), content_(std::move(value)) {}          // NOLINT
  Nest(Tensor value) : kind_(Kind::kTensor), content_(std::move(value)) {}               // NOLINT
  Nest(IndexedSlices value);                                                             // NOLINT
  Nest(ObjectRef value) : kind_(Kind::kObject), content_(std::move(value)) {}            // NOLINT

  static Nest List(std::vector<Nest> items) { return Nest(Kind::kList, {}, std::move(items)); }
  static Nest Tuple(std::vector<Nest> items) { return Nest(Kind::kTuple, {}, std::move(items)); }
  static Nest Map(std::map<std::string, Nest> items);
  // One value for each replica, in replica order; at least one (checked).
  static Nest PerReplica(std::vector<Nest> values);
  static Nest Mirrored(std::vector<Nest> values);
  // A list, tuple or map like `like` (checked) with other children, as many (checked).
  static Nest Like(const Nest& like, std::vector<Nest> children);

  Kind kind() const { return kind_; }
  bool is_structure() const { return kind_ == Kind::kList || kind_ == Kind::kTuple || kind_ == Kind::kMap; }
  bool is_distributed() const { return kind_ == Kind::kPerReplica || kind_ == Kind::kMirrored; }
  bool is_host_scalar() const { return kind_ == Kind::kBool || kind_ == Kind::kInt || kind_ == Kind::kDouble; }

  // Only of the kind that they name (checked).
  bool bool_value() const;
  int64_t int_value() const;
  double double_value() const;
  const std::string& string() const;
  const Tensor& tensor() const;
  const IndexedSlices& sparse() const;
  const ObjectRef& object() const;

  // Of structures the items, of containers the values by replica; empty for other leaves. A map's are in the order of
  // its keys, ascending.
  absl::Span<const Nest> children() const;
  absl::Span<const std::string> keys() const;  // of a map

  // In one line, tensors with dtype, shape and values: "[1, 'x', {a: PerReplica:{0: float32 [] [1], 1: float32 []
  // [2]}}]".
  std::string ToString() const;

 private:
  struct Children {
    std::vector<std::string> keys;
    std::vector<Nest> items;
  };
  Nest(Kind kind, std::vector<std::string> keys, std::vector<Nest> items);

  Kind kind_ = Kind::kNone;
  std::variant<std::monostate, bool, int64_t, double, std::string, Tensor, std::shared_ptr<const IndexedSlices>,
               ObjectRef, std::shared_ptr<const Children>>
      content_;
};

// "list", "PerReplica", ...: how messages name a kind.
absl::string_view KindName(Nest::Kind kind);

// Whether two leaves are one object (4.8): the same tensor handle or object, or equal host values of the same type.
// Tensors of equal numbers in different memory are not.
bool SameObject(const Nest& a, const Nest& b);

// How a place below a list, tuple or map is written: "[1]", "['loss']".
std::string PathStep(const Nest& structure, size_t child);

// The same structure with f(leaf) for each leaf; PerReplica and Mirrored are leaves. The first error ends it, with the
// leaf's path before its message: "['a'][1]: ...".
absl::StatusOr<Nest> MapLeaves(const Nest& nest, absl::FunctionRef<absl::StatusOr<Nest>(const Nest&)> f);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DISTRIBUTE_NEST_H_
