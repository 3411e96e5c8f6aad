#include "runtime/remote/graph_coding.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/remote/tensor_coding.h"

namespace cohort {
namespace {

using cohort::FromProto;
using cohort::ToProto;

constexpr int kFormatVersion = 1;
constexpr int kMaxDatasetDepth = 64;

// Roles and initializers have the order of their wire forms, which begin with UNSPECIFIED.
wire::ResultRole ToProto(ResultRole role) { return static_cast<wire::ResultRole>(static_cast<int>(role) + 1); }

absl::StatusOr<ResultRole> RoleFromProto(wire::ResultRole role) {
  if (!wire::ResultRole_IsValid(role) || role == wire::RESULT_ROLE_UNSPECIFIED) {
    return absl::InvalidArgumentError(absl::StrCat("result: no such role: ", static_cast<int>(role)));
  }
  return static_cast<ResultRole>(static_cast<int>(role) - 1);
}

absl::Status CheckOutput(const Graph& graph, const wire::Output& output) {
  const int nodes = static_cast<int>(graph.nodes().size());
  if (output.node() < 0 || output.node() >= nodes) {
    return absl::InvalidArgumentError(absl::StrCat("node ", output.node(), " of ", nodes));
  }
  const int outputs = static_cast<int>(graph.node(output.node()).outputs.size());
  if (output.index() < 0 || output.index() >= outputs) {
    return absl::InvalidArgumentError(absl::StrCat("output ", output.index(), " of node '",
                                                   graph.node(output.node()).name, "', which has ", outputs));
  }
  return absl::OkStatus();
}

wire::Output ToProto(const Output& output) {
  wire::Output proto;
  proto.set_node(output.node);
  proto.set_index(output.index);
  return proto;
}

wire::Node ToProto(const Node& node) {
  wire::Node proto;
  proto.set_op(node.op);
  proto.set_name(node.name);
  for (const Output& input : node.inputs) *proto.add_inputs() = ToProto(input);
  for (const int input : node.control_inputs) proto.add_control_inputs(input);
  AttributesToProto(node.attributes, proto.mutable_attributes());
  return proto;
}

absl::Status AddNode(const wire::Node& proto, Graph& graph) {
  if (proto.name().empty()) return absl::InvalidArgumentError("it has no name");
  COHORT_ASSIGN_OR_RETURN(Attributes attributes, AttributesFromProto(proto.attributes()));
  std::vector<Output> inputs;
  for (const wire::Output& input : proto.inputs()) {
    COHORT_RETURN_IF_ERROR(CheckOutput(graph, input)) << "input";
    inputs.push_back({input.node(), input.index()});
  }
  std::vector<int> control_inputs;
  for (const int input : proto.control_inputs()) {
    if (input < 0 || input >= static_cast<int>(graph.nodes().size())) {
      return absl::InvalidArgumentError(absl::StrCat("control input: node ", input));
    }
    control_inputs.push_back(input);
  }
  return graph.AddNode(proto.op(), proto.name(), std::move(inputs), std::move(attributes), std::move(control_inputs))
      .status();
}

absl::StatusOr<DatasetDef> DatasetFromProto(const wire::DatasetDef& proto, int depth) {
  if (depth > kMaxDatasetDepth) return absl::InvalidArgumentError("data set: too many above each other");
  DatasetDef dataset;
  dataset.kind = proto.kind();
  COHORT_ASSIGN_OR_RETURN(dataset.attributes, AttributesFromProto(proto.attributes()),
                          _ << "data set '" << proto.kind() << "'");
  for (const wire::DatasetDef& input : proto.inputs()) {
    COHORT_ASSIGN_OR_RETURN(DatasetDef inner, DatasetFromProto(input, depth + 1));
    dataset.inputs.push_back(std::move(inner));
  }
  return dataset;
}

wire::Initializer ToProto(const Initializer& initializer) {
  wire::Initializer proto;
  proto.set_kind(static_cast<wire::Initializer::Kind>(static_cast<int>(initializer.kind) + 1));
  proto.set_value(initializer.value);
  if (initializer.tensor.has_value()) *proto.mutable_tensor() = ToProto(initializer.tensor);
  return proto;
}

absl::StatusOr<Initializer> FromProto(const wire::Initializer& proto) {
  if (!wire::Initializer::Kind_IsValid(proto.kind()) || proto.kind() == wire::Initializer::KIND_UNSPECIFIED) {
    return absl::InvalidArgumentError(absl::StrCat("initializer: no such kind: ", static_cast<int>(proto.kind())));
  }
  Initializer initializer;
  initializer.kind = static_cast<Initializer::Kind>(static_cast<int>(proto.kind()) - 1);
  initializer.value = proto.value();
  COHORT_ASSIGN_OR_RETURN(initializer.tensor, FromProto(proto.tensor()));
  if (initializer.kind == Initializer::Kind::kTensor && !initializer.tensor.has_value()) {
    return absl::InvalidArgumentError("initializer: a tensor without value");
  }
  return initializer;
}

wire::Loop ToProto(const Loop& loop) {
  wire::Loop proto;
  proto.set_train_function(loop.train_function);
  *proto.mutable_train_dataset() = ToProto(loop.train_dataset);
  proto.set_global_batch(loop.global_batch);
  proto.set_epochs(loop.epochs);
  proto.set_steps(loop.steps);
  proto.set_report_every(loop.report_every);
  proto.set_learning_rate(loop.learning_rate);
  if (loop.final_learning_rate >= 0) proto.set_final_learning_rate(loop.final_learning_rate);
  proto.set_evaluate_function(loop.evaluate_function);
  *proto.mutable_evaluate_dataset() = ToProto(loop.evaluate_dataset);
  proto.set_evaluate_batch(loop.evaluate_batch);
  proto.set_evaluate_each_epoch(loop.evaluate_each_epoch);
  return proto;
}

absl::StatusOr<Loop> FromProto(const wire::Loop& proto) {
  for (const int64_t count :
       {proto.global_batch(), proto.epochs(), proto.steps(), proto.report_every(), proto.evaluate_batch()}) {
    if (count < 0) return absl::InvalidArgumentError(absl::StrCat("loop: a negative count: ", count));
  }
  Loop loop;
  loop.train_function = proto.train_function();
  COHORT_ASSIGN_OR_RETURN(loop.train_dataset, FromProto(proto.train_dataset()));
  loop.global_batch = proto.global_batch();
  loop.epochs = proto.epochs();
  loop.steps = proto.steps();
  loop.report_every = proto.report_every();
  loop.learning_rate = proto.learning_rate();
  if (proto.has_final_learning_rate()) loop.final_learning_rate = proto.final_learning_rate();
  loop.evaluate_function = proto.evaluate_function();
  COHORT_ASSIGN_OR_RETURN(loop.evaluate_dataset, FromProto(proto.evaluate_dataset()));
  loop.evaluate_batch = proto.evaluate_batch();
  loop.evaluate_each_epoch = proto.evaluate_each_epoch();
  return loop;
}

// Decodes a program's functions, each after those that it calls.
class FunctionsDecoder {
 public:
  FunctionsDecoder(const wire::Program& program, FunctionLibrary& done) : program_(program), done_(done) {}

  absl::Status Run() {
    for (const wire::Function& function : program_.functions()) {
      if (!waiting_.emplace(function.name(), &function).second) {
        return absl::InvalidArgumentError(absl::StrCat("function '", function.name(), "' stands there twice"));
      }
    }
    for (const wire::Function& function : program_.functions()) COHORT_RETURN_IF_ERROR(Decode(function.name()));
    return absl::OkStatus();
  }

 private:
  absl::Status Decode(const std::string& name) {
    const auto entry = waiting_.find(name);
    if (entry == waiting_.end()) return absl::OkStatus();  // done, or unknown, which its caller's node will say
    if (entry->second == nullptr) return absl::InvalidArgumentError(absl::StrCat("function '", name, "' calls itself"));
    const wire::Function& proto = *std::exchange(entry->second, nullptr);
    for (const wire::Node& node : proto.nodes()) {
      if (node.op() != "PartitionedCall") continue;
      for (const wire::Attribute& attribute : node.attributes()) {
        if (attribute.name() == "f") COHORT_RETURN_IF_ERROR(Decode(attribute.s()));
      }
    }
    COHORT_ASSIGN_OR_RETURN(Function function, FromProto(proto, &done_));
    done_.emplace(name, std::move(function));
    waiting_.erase(name);
    return absl::OkStatus();
  }

  const wire::Program& program_;
  FunctionLibrary& done_;
  std::map<std::string, const wire::Function*> waiting_;  // null: being decoded
};

}  // namespace

wire::Function ToProto(const Function& function) {
  wire::Function proto;
  proto.set_name(function.name);
  for (const Node& node : function.graph.nodes()) *proto.add_nodes() = ToProto(node);
  for (const Parameter& parameter : function.parameters) {
    wire::Parameter& p = *proto.add_parameters();
    p.set_name(parameter.name);
    p.set_node(parameter.node);
  }
  for (const Result& result : function.results) {
    wire::Result& r = *proto.add_results();
    r.set_name(result.name);
    *r.mutable_output() = ToProto(result.output);
    r.set_role(ToProto(result.role));
  }
  return proto;
}

absl::StatusOr<Function> FromProto(const wire::Function& proto, const FunctionLibrary* library) {
  const auto where = [&] { return absl::StrCat("function '", proto.name(), "'"); };
  Function function;
  function.name = proto.name();
  function.graph.set_library(library);
  for (const wire::Node& node : proto.nodes()) {
    COHORT_RETURN_IF_ERROR(AddNode(node, function.graph)) << where() << ", node '" << node.name() << "'";
  }
  for (const wire::Parameter& parameter : proto.parameters()) {
    wire::Output output;
    output.set_node(parameter.node());
    COHORT_RETURN_IF_ERROR(CheckOutput(function.graph, output))
        << where() << ", parameter '" << parameter.name() << "'";
    function.parameters.push_back({parameter.name(), parameter.node()});
  }
  for (const wire::Result& result : proto.results()) {
    COHORT_RETURN_IF_ERROR(CheckOutput(function.graph, result.output()))
        << where() << ", result '" << result.name() << "'";
    COHORT_ASSIGN_OR_RETURN(const ResultRole role, RoleFromProto(result.role()), _ << where());
    function.results.push_back({result.name(), {result.output().node(), result.output().index()}, role});
  }
  function.graph.set_library(nullptr);
  return function;
}

wire::DatasetDef ToProto(const DatasetDef& dataset) {
  wire::DatasetDef proto;
  proto.set_kind(dataset.kind);
  AttributesToProto(dataset.attributes, proto.mutable_attributes());
  for (const DatasetDef& input : dataset.inputs) *proto.add_inputs() = ToProto(input);
  return proto;
}

absl::StatusOr<DatasetDef> FromProto(const wire::DatasetDef& proto) { return DatasetFromProto(proto, 1); }

wire::VariableDef ToProto(const VariableDef& variable) {
  wire::VariableDef proto;
  proto.set_name(variable.name);
  *proto.mutable_spec() = ToProto(variable.spec);
  *proto.mutable_initializer() = ToProto(variable.initializer);
  proto.set_trainable(variable.trainable);
  return proto;
}

absl::StatusOr<VariableDef> FromProto(const wire::VariableDef& proto) {
  if (proto.name().empty()) return absl::InvalidArgumentError("variable: it has no name");
  const auto where = [&] { return absl::StrCat("variable '", proto.name(), "'"); };
  VariableDef variable;
  variable.name = proto.name();
  COHORT_ASSIGN_OR_RETURN(variable.spec, FromProto(proto.spec()), _ << where());
  COHORT_RETURN_IF_ERROR(CheckedBytes(variable.spec).status()) << where();
  COHORT_ASSIGN_OR_RETURN(variable.initializer, FromProto(proto.initializer()), _ << where());
  variable.trainable = proto.trainable();
  return variable;
}

wire::Program ToProto(const Program& program) {
  wire::Program proto;
  proto.set_version(kFormatVersion);
  proto.set_name(program.name);
  proto.set_strategy(std::string(StrategyName(program.strategy)));
  for (const auto& [name, function] : program.functions) {
    wire::Function& f = *proto.add_functions();
    f = ToProto(function);
    f.set_name(name);
  }
  for (const VariableDef& variable : program.variables) *proto.add_variables() = ToProto(variable);
  *proto.mutable_loop() = ToProto(program.loop);
  proto.set_seed(program.seed);
  proto.set_complete(true);
  return proto;
}

absl::StatusOr<Program> FromProto(const wire::Program& proto) {
  if (proto.version() != kFormatVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("program: format version ", proto.version(), ", this build reads ", kFormatVersion));
  }
  if (!proto.complete()) return absl::InvalidArgumentError("program: it is cut short");
  Program program;
  program.name = proto.name();
  COHORT_ASSIGN_OR_RETURN(program.strategy, ParseStrategy(proto.strategy()));
  COHORT_RETURN_IF_ERROR(FunctionsDecoder(proto, program.functions).Run()) << "program";
  for (const wire::VariableDef& v : proto.variables()) {
    COHORT_ASSIGN_OR_RETURN(VariableDef variable, FromProto(v));
    program.variables.push_back(std::move(variable));
  }
  COHORT_ASSIGN_OR_RETURN(program.loop, FromProto(proto.loop()));
  program.seed = proto.seed();
  return program;
}

}  // namespace cohort
