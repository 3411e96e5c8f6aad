#ifndef COHORT_RUNTIME_GRAPH_OP_H_
#define COHORT_RUNTIME_GRAPH_OP_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/graph/graph.h"

namespace cohort {

struct Value;            // builder.h
struct GradientContext;  // gradient_rule.h

// What a shape rule sees of the node that is being added. Borrows the graph and the node.
class InferenceContext {
 public:
  InferenceContext(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  int num_inputs() const { return static_cast<int>(node_.inputs.size()); }
  const TensorSpec& input(int i) const { return graph_.spec(node_.inputs[i]); }
  const Attributes& attributes() const { return node_.attributes; }
  const FunctionLibrary* library() const { return graph_.library(); }

  // The elements of input i, which must come from a Const of int32 or int64, rank 0 or 1. InvalidArgument otherwise.
  absl::StatusOr<std::vector<int64_t>> ConstantInts(int i) const;
  // The variable behind handle input i, which must come from a VarHandleOp. InvalidArgument otherwise.
  absl::StatusOr<TensorSpec> VariableSpec(int i) const;

 private:
  const Graph& graph_;
  const Node& node_;
};

// What T in a signature stands for.
enum class TypeClass { kAny, kNumber, kNumberOrBool, kFloating };

// What running a node does beside its outputs.
enum class Effect {
  kNone,     // equal nodes may be merged, unused ones dropped
  kReads,    // depends on state: unused ones may be dropped
  kChanges,  // always runs, once
};

// dtypes and shapes of the outputs, from those of the inputs. Number and dtypes of the inputs and the types of the
// attributes have been checked. The error's message says what does not fit; AddNode puts node and op before it.
using ShapeRule = absl::StatusOr<std::vector<TensorSpec>> (*)(const InferenceContext&);

// Gradients of the inputs, one per input, as nodes added to the builder. An invalid Value: none flows there.
using GradientRule = absl::StatusOr<std::vector<Value>> (*)(const GradientContext&);

// A row of the op table. Names and meanings are TensorFlow's.
struct OpDef {
  absl::string_view name = {};
  // A letter per input. T: the op's own dtype, the same wherever it stands; I: int32 or int64; R: a handle; A: any.
  // "*" alone: any number of any.
  absl::string_view inputs = {};
  TypeClass type = TypeClass::kAny;  // what T may be
  // "name:type" by commas, the types as AttributeTypeName has them, "?" behind the type of an optional one. Names that
  // begin with "_" are allowed on every node.
  absl::string_view attributes = {};
  int num_outputs = 1;  // -1: as the called function has it
  ShapeRule shape = nullptr;
  GradientRule gradient = nullptr;  // null: no gradient flows through
  Effect effect = Effect::kNone;

  bool stateful() const { return effect != Effect::kNone; }
};

// Null if there is no such op. Lookup by hash; the pointer stays valid.
const OpDef* FindOp(absl::string_view name);
// All ops, by family.
std::vector<const OpDef*> AllOps();

// The rows of one family, each in ops/FAMILY.cc.
namespace ops {
absl::Span<const OpDef> ArrayOps();
absl::Span<const OpDef> ConvolutionOps();
absl::Span<const OpDef> FunctionalOps();
absl::Span<const OpDef> MathOps();
absl::Span<const OpDef> NnOps();
absl::Span<const OpDef> ReductionOps();
absl::Span<const OpDef> StateOps();
}  // namespace ops

}  // namespace cohort

#endif  // COHORT_RUNTIME_GRAPH_OP_H_
