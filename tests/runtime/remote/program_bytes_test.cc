#include "runtime/remote/program_bytes.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "proto/graph.pb.h"
#include "runtime/graph/builder.h"
#include "runtime/graph/ops.h"
#include "runtime/remote/graph_coding.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::IsOk;
using ::cohort::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Every kind of value, with the ones at the edges.
Attributes AllKinds() {
  Attributes attributes;
  attributes["bool"] = true;
  attributes["int"] = std::numeric_limits<int64_t>::min();
  attributes["double"] = -0.0;
  attributes["nan"] = std::nan("7");
  attributes["string"] = std::string("\0\xff utf8 \xc3\xa9", 10);
  attributes["empty string"] = std::string();
  attributes["dtype"] = DType::kBF16;
  attributes["shape"] = Shape({2, Shape::kUnknown, 0});
  attributes["scalar shape"] = Shape();
  attributes["ints"] = std::vector<int64_t>{1, -1, std::numeric_limits<int64_t>::max()};
  attributes["no ints"] = std::vector<int64_t>();
  attributes["strings"] = std::vector<std::string>{"a", "", std::string("\xff\0", 2)};
  attributes["no strings"] = std::vector<std::string>();
  attributes["tensor"] = Tensor::Of<float>({2, 2}, {1, -0.0f, std::nanf("3"), 4});
  attributes["string tensor"] = Tensor::OfStrings({2}, {"x", std::string("\0y", 2)});
  attributes["bool tensor"] = Tensor::Of<bool>({3}, {true, false, true});
  attributes["empty tensor"] = Tensor::Zeros(DType::kI64, {0, 3});
  attributes["no tensor"] = Tensor();
  return attributes;
}

bool BitwiseEqual(const AttributeValue& a, const AttributeValue& b) {
  if (a.index() != b.index()) return false;
  if (const auto* x = std::get_if<double>(&a)) {
    return std::bit_cast<uint64_t>(*x) == std::bit_cast<uint64_t>(std::get<double>(b));
  }
  if (const auto* x = std::get_if<Tensor>(&a)) {
    const Tensor& y = std::get<Tensor>(b);
    return x->has_value() == y.has_value() && (!x->has_value() || x->BitwiseEquals(y));
  }
  return AttributeToString(a) == AttributeToString(b);
}

Function Train() {
  FunctionBuilder b("train");
  const Value x = b.AddParameter("x", {DType::kF32, {Shape::kUnknown, 4}});
  const Value w = b.Variable("w", {DType::kF32, {4, 2}});
  const Value y = MatMul(x, b.ReadVariable(w));
  b.AddResult("y", y);
  b.AddResult("loss", b.Add("Sum", {y, b.Add("Const", {}, {{"value", Tensor::Of<int32_t>({2}, {0, 1})}})}),
              ResultRole::kLossSum);
  b.AddResult("n", b.Add("Const", {}, {{"value", Tensor::Scalar<int64_t>(4)}}), ResultRole::kExamples);
  absl::StatusOr<Function> function = b.Finish();
  EXPECT_THAT(function.status(), IsOk());
  return *std::move(function);
}

Program SmallProgram() {
  Program program;
  program.name = "small";
  program.strategy = StrategyKind::kMultiWorkerMirrored;
  program.functions["train"] = Train();
  program.seed = 0xfedcba9876543210;
  VariableDef w;
  w.name = "w";
  w.spec = {DType::kF32, {4, 2}};
  w.initializer.kind = Initializer::Kind::kTensor;
  w.initializer.value = 0.5;
  w.initializer.tensor = Tensor::Of<float>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  w.trainable = false;
  program.variables.push_back(w);
  program.loop.train_function = "train";
  program.loop.train_dataset.kind = "Batch";
  program.loop.train_dataset.attributes = AllKinds();
  program.loop.train_dataset.inputs.resize(2);
  program.loop.train_dataset.inputs[1].kind = "Synthetic";
  program.loop.global_batch = 64;
  program.loop.epochs = 3;
  program.loop.report_every = 7;
  program.loop.learning_rate = 0.1;
  program.loop.evaluate_batch = 5;
  program.loop.evaluate_each_epoch = true;
  return program;
}

TEST(ProgramBytesTest, ProgramComesBackAsItWas) {
  const Program program = SmallProgram();
  const std::string bytes = SerializeProgram(program);
  COHORT_ASSERT_OK_AND_ASSIGN(const Program back, ParseProgram(bytes));
  EXPECT_EQ(SerializeProgram(back), bytes);
  EXPECT_EQ(back.name, "small");
  EXPECT_EQ(back.strategy, StrategyKind::kMultiWorkerMirrored);
  EXPECT_EQ(back.seed, 0xfedcba9876543210);
  ASSERT_EQ(back.functions.size(), 1u);
  EXPECT_EQ(back.functions.at("train").ToString(), program.functions.at("train").ToString());
  ASSERT_EQ(back.variables.size(), 1u);
  EXPECT_EQ(back.variables[0].name, "w");
  EXPECT_EQ(back.variables[0].spec, program.variables[0].spec);
  EXPECT_EQ(back.variables[0].initializer.kind, Initializer::Kind::kTensor);
  EXPECT_EQ(back.variables[0].initializer.value, 0.5);
  EXPECT_TRUE(back.variables[0].initializer.tensor.BitwiseEquals(program.variables[0].initializer.tensor));
  EXPECT_FALSE(back.variables[0].trainable);
  EXPECT_EQ(back.loop.train_dataset.inputs.size(), 2u);
  EXPECT_EQ(back.loop.epochs, 3);
  EXPECT_EQ(back.loop.learning_rate, 0.1);
  EXPECT_TRUE(back.loop.evaluate_each_epoch);
}

TEST(ProgramBytesTest, EveryKindOfAttributeKeepsItsBits) {
  const Attributes sent = AllKinds();
  COHORT_ASSERT_OK_AND_ASSIGN(const Program back, ParseProgram(SerializeProgram(SmallProgram())));
  const Attributes& received = back.loop.train_dataset.attributes;
  ASSERT_EQ(received.size(), sent.size());
  for (const auto& [name, value] : sent) {
    ASSERT_TRUE(received.contains(name)) << name;
    EXPECT_TRUE(BitwiseEqual(received.at(name), value)) << name;
  }
}

TEST(ProgramBytesTest, EveryInitializerAndRoleComesBack) {
  for (const Initializer::Kind kind :
       {Initializer::Kind::kZeros, Initializer::Kind::kConstant, Initializer::Kind::kTensor,
        Initializer::Kind::kGlorotUniform, Initializer::Kind::kGolden}) {
    VariableDef variable = SmallProgram().variables[0];
    variable.initializer.kind = kind;
    COHORT_ASSERT_OK_AND_ASSIGN(const VariableDef back, FromProto(ToProto(variable)));
    EXPECT_EQ(back.initializer.kind, kind);
  }
  const Function train = Train();
  COHORT_ASSERT_OK_AND_ASSIGN(const Function back, FromProto(ToProto(train)));
  ASSERT_EQ(back.results.size(), train.results.size());
  for (size_t i = 0; i < train.results.size(); ++i) EXPECT_EQ(back.results[i].role, train.results[i].role);
}

TEST(ProgramBytesTest, TensorOf30MegabytesComesBack) {
  Program program = SmallProgram();
  Tensor large(DType::kI32, {30 << 18});
  int32_t next = 1;
  for (int32_t& value : large.mutable_values<int32_t>()) value = next *= 1664525;
  program.loop.train_dataset.attributes["large"] = large;
  COHORT_ASSERT_OK_AND_ASSIGN(const Program back, ParseProgram(SerializeProgram(program)));
  EXPECT_TRUE(std::get<Tensor>(back.loop.train_dataset.attributes.at("large")).BitwiseEquals(large));
}

TEST(ProgramBytesTest, CalledFunctionMayStandBehindItsCaller) {
  Program program = SmallProgram();
  FunctionLibrary library;
  library["z_callee"] = Train();
  library["z_callee"].name = "z_callee";
  FunctionBuilder b("a_caller", &library);
  const Value x = b.AddParameter("x", {DType::kF32, {3, 4}});
  b.AddResult("y", b.Add("PartitionedCall", {x}, {{"f", std::string("z_callee")}}));
  absl::StatusOr<Function> caller = b.Finish();
  COHORT_ASSERT_OK(caller.status());
  program.functions["z_callee"] = library["z_callee"];
  program.functions["a_caller"] = *caller;
  COHORT_ASSERT_OK_AND_ASSIGN(const Program back, ParseProgram(SerializeProgram(program)));
  EXPECT_EQ(back.functions.at("a_caller").ToString(), caller->ToString());
  EXPECT_EQ(back.functions.at("a_caller").graph.library(), nullptr);
}

TEST(ProgramBytesTest, FunctionThatCallsItselfIsRefused) {
  wire::Program proto = ToProto(SmallProgram());
  wire::Node& node = *proto.mutable_functions(0)->add_nodes();
  node.set_op("PartitionedCall");
  node.set_name("again");
  wire::Attribute& f = *node.add_attributes();
  f.set_name("f");
  f.set_s("train");
  EXPECT_THAT(ParseProgram(proto.SerializeAsString()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'train' calls itself")));
}

// Each change makes one thing wrong; the answer names it.
TEST(ProgramBytesTest, WrongProgramsAreRefused) {
  const auto refuse = [](const char* why, auto change) {
    wire::Program proto = ToProto(SmallProgram());
    change(proto);
    EXPECT_THAT(ParseProgram(proto.SerializeAsString()), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(why)));
  };
  refuse("format version 2", [](wire::Program& p) { p.set_version(2); });
  refuse("no strategy 'fast'", [](wire::Program& p) { p.set_strategy("fast"); });
  refuse("'train' stands there twice", [](wire::Program& p) { *p.add_functions() = wire::Program(p).functions(0); });
  refuse("node 99",
         [](wire::Program& p) { p.mutable_functions(0)->mutable_results(0)->mutable_output()->set_node(99); });
  refuse("parameter 'x'", [](wire::Program& p) { p.mutable_functions(0)->mutable_parameters(0)->set_node(-1); });
  refuse("no such role",
         [](wire::Program& p) { p.mutable_functions(0)->mutable_results(0)->set_role(wire::RESULT_ROLE_UNSPECIFIED); });
  refuse("control input", [](wire::Program& p) { p.mutable_functions(0)->mutable_nodes(0)->add_control_inputs(5); });
  refuse("variable 'w'", [](wire::Program& p) { p.mutable_variables(0)->mutable_spec()->set_dtype(11); });
  refuse("variable 'w'",
         [](wire::Program& p) { p.mutable_variables(0)->mutable_spec()->mutable_shape()->set_dims(0, -1); });
  refuse("variable 'w'", [](wire::Program& p) {
    p.mutable_variables(0)->mutable_initializer()->mutable_tensor()->mutable_data()->pop_back();
  });
  refuse("negative", [](wire::Program& p) { p.mutable_loop()->set_steps(-1); });
  refuse("attribute 'x' stands there twice", [](wire::Program& p) {
    for (int i = 0; i < 2; ++i) {
      wire::Attribute& a = *p.mutable_loop()->mutable_train_dataset()->add_attributes();
      a.set_name("x");
      a.set_b(true);
    }
  });
  refuse("no value",
         [](wire::Program& p) { p.mutable_loop()->mutable_train_dataset()->add_attributes()->set_name("x"); });
}

TEST(ProgramBytesTest, OtherBytesAreNoProgram) {
  EXPECT_THAT(ParseProgram("\x0a\xff"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not a program")));
  EXPECT_THAT(ParseProgram(""), StatusIs(absl::StatusCode::kInvalidArgument));
  const std::string bytes = SerializeProgram(SmallProgram());
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_THAT(ParseProgram(bytes.substr(0, cut)).status(), ::testing::Not(IsOk())) << cut;
  }
}

TEST(ProgramBytesTest, DeepDatasetIsRefused) {
  DatasetDef dataset;
  for (int i = 0; i < 70; ++i) {
    DatasetDef outer;
    outer.inputs.push_back(dataset);
    dataset = outer;
  }
  EXPECT_THAT(FromProto(ToProto(dataset)), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(TensorCodingTest, WrongTensorsAreRefused) {
  const auto refuse = [](const Tensor& good, auto change) {
    wire::Program unused;
    wire::Attribute attribute;
    google::protobuf::RepeatedPtrField<wire::Attribute> list;
    AttributesToProto({{"t", good}}, &list);
    change(*list.Mutable(0)->mutable_tensor());
    return AttributesFromProto(list).status();
  };
  const Tensor f = Tensor::Of<float>({2}, {1, 2});
  EXPECT_THAT(refuse(f, [](wire::Tensor& t) { t.mutable_spec()->mutable_shape()->set_dims(0, 3); }),
              StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("'t'"), HasSubstr("not 12"))));
  EXPECT_THAT(refuse(f, [](wire::Tensor& t) { t.mutable_spec()->mutable_shape()->set_dims(0, int64_t{1} << 62); }),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("too large")));
  EXPECT_THAT(refuse(f, [](wire::Tensor& t) { t.mutable_spec()->mutable_shape()->set_dims(0, -2); }),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(refuse(f,
                     [](wire::Tensor& t) {
                       for (int i = 0; i < 9; ++i) t.mutable_spec()->mutable_shape()->add_dims(1);
                     }),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("10 dimensions")));
  EXPECT_THAT(refuse(f, [](wire::Tensor& t) { t.mutable_spec()->set_dtype(20); }),  // a handle has no elements
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(refuse(Tensor::Of<bool>({1}, {true}), [](wire::Tensor& t) { t.set_data("\x02"); }),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("bool")));
  EXPECT_THAT(refuse(Tensor::OfStrings({1}, {"a"}), [](wire::Tensor& t) { t.add_strings("b"); }),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("2 strings")));
}

}  // namespace
}  // namespace cohort
