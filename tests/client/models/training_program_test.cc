#include "client/models/training_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "runtime/optimizer/optimizer.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::IsOkAndHolds;
using ::cohort::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Program Make(const TrainOptions& options) {
  absl::StatusOr<Program> program = MakeTrainingProgram(options);
  EXPECT_TRUE(program.ok()) << program.status();
  return program.ok() ? *std::move(program) : Program();
}

TrainOptions WithModel(std::string model) {
  TrainOptions options;
  options.model = std::move(model);
  return options;
}

std::vector<std::string> Variables(const Program& program) {
  std::vector<std::string> texts;
  for (const VariableDef& variable : program.variables) {
    texts.push_back(variable.name + " " + variable.spec.ToString());
  }
  return texts;
}

// The attributes of the ApplyGradient nodes, by the name of their variable.
std::map<std::string, Attributes> Updates(const Function& function) {
  std::map<std::string, Attributes> updates;
  for (const Node& node : function.graph.nodes()) {
    if (node.op != "ApplyGradient") continue;
    const Node& handle = function.graph.node(node.inputs[0].node);
    updates[*GetAttribute<std::string>(handle.attributes, "shared_name")] = node.attributes;
  }
  return updates;
}

TEST(TrainingProgramTest, ModelsHaveTheirVariablesInOrder) {
  EXPECT_THAT(Variables(Make(WithModel("linear"))),
              ElementsAre("dense/kernel float32 [784,10]", "dense/bias float32 [10]"));
  EXPECT_THAT(Variables(Make(WithModel("mlp"))),
              ElementsAre("hidden/kernel float32 [784,128]", "hidden/bias float32 [128]",
                          "logits/kernel float32 [128,10]", "logits/bias float32 [10]"));
  EXPECT_THAT(Variables(Make(WithModel("cnn"))),
              ElementsAre("conv1/kernel float32 [5,5,1,8]", "conv1/bias float32 [8]", "conv2/kernel float32 [5,5,8,16]",
                          "conv2/bias float32 [16]", "logits/kernel float32 [784,10]", "logits/bias float32 [10]"));
  EXPECT_THAT(
      Variables(Make(WithModel("mlp512"))),
      ElementsAre("hidden1/kernel float32 [784,512]", "hidden1/bias float32 [512]", "hidden2/kernel float32 [512,512]",
                  "hidden2/bias float32 [512]", "logits/kernel float32 [512,10]", "logits/bias float32 [10]"));
  EXPECT_THAT(
      Variables(Make(WithModel("cnn32"))),
      ElementsAre("conv1/kernel float32 [3,3,1,32]", "conv1/bias float32 [32]", "conv2/kernel float32 [3,3,32,64]",
                  "conv2/bias float32 [64]", "hidden/kernel float32 [1600,128]", "hidden/bias float32 [128]",
                  "logits/kernel float32 [128,10]", "logits/bias float32 [10]"));
}

TEST(TrainingProgramTest, HiddenLayersAreAList) {
  TrainOptions options;
  options.hidden = {512, 512};
  EXPECT_EQ(Variables(Make(options)), Variables(Make(WithModel("mlp512"))));
  options.hidden = {};
  EXPECT_THAT(Variables(Make(options)), ElementsAre("logits/kernel float32 [784,10]", "logits/bias float32 [10]"));
}

TEST(TrainingProgramTest, BothFunctionsHaveTheSameSignature) {
  for (const std::string& model : KnownModels()) {
    const Program program = Make(WithModel(model));
    for (const char* name : {"train", "evaluate"}) {
      const Function& function = program.functions.at(name);
      ASSERT_EQ(function.parameters.size(), 2u);
      EXPECT_EQ(function.parameters[0].name, "images");
      EXPECT_EQ(function.parameters[1].name, "labels");
      ASSERT_EQ(function.results.size(), 3u);
      EXPECT_EQ(function.results[0].role, ResultRole::kLossSum);
      EXPECT_EQ(function.results[1].role, ResultRole::kExamples);
      EXPECT_EQ(function.results[2].role, ResultRole::kMetricSum);
      EXPECT_EQ(function.results[2].name, "correct");
    }
    EXPECT_EQ(Updates(program.functions.at("train")).size(), program.variables.size()) << model;
    EXPECT_THAT(Updates(program.functions.at("evaluate")), IsEmpty()) << model;
  }
}

TEST(TrainingProgramTest, EveryVariableIsUpdatedByTheOptimizer) {
  for (const std::string& optimizer : KnownOptimizers()) {
    TrainOptions options = WithModel("linear");
    options.optimizer = optimizer;
    for (const auto& [variable, attributes] : Updates(Make(options).functions.at("train"))) {
      COHORT_ASSERT_OK_AND_ASSIGN(const OptimizerDef def, ParseOptimizer(attributes));
      EXPECT_EQ(def, *ParseOptimizer({{"optimizer", optimizer}})) << variable;
    }
  }
}

TEST(TrainingProgramTest, WeightsAreDrawnAndBiasesZero) {
  for (const auto& [name, kind] :
       {std::pair{"default", Initializer::Kind::kGlorotUniform}, std::pair{"golden", Initializer::Kind::kGolden}}) {
    TrainOptions options = WithModel("cnn");
    options.initializer = name;
    for (const VariableDef& variable : Make(options).variables) {
      const bool bias = variable.spec.shape.rank() == 1;
      EXPECT_EQ(variable.initializer.kind, bias ? Initializer::Kind::kZeros : kind) << variable.name;
    }
  }
}

TEST(TrainingProgramTest, TheLoopIsWhatTheOptionsSay) {
  TrainOptions options;
  options.strategy = StrategyKind::kMultiWorkerMirrored;
  options.batch_size = 64;
  options.steps = 30;
  options.seed = 9;
  options.examples = 1000;
  options.learning_rate = 0.25;
  options.report_every = 5;
  const Program program = Make(options);
  EXPECT_EQ(program.strategy, StrategyKind::kMultiWorkerMirrored);
  EXPECT_EQ(program.seed, 9u);
  EXPECT_EQ(program.loop.global_batch, 64);
  EXPECT_EQ(program.loop.steps, 30);
  EXPECT_EQ(program.loop.epochs, 0);
  EXPECT_EQ(program.loop.learning_rate, 0.25);
  EXPECT_EQ(program.loop.report_every, 5);
  const DatasetDef& train = program.loop.train_dataset;
  EXPECT_EQ(train.kind, "Shuffle");
  EXPECT_THAT(GetAttribute<int64_t>(train.attributes, "seed"), IsOkAndHolds(9));
  EXPECT_EQ(train.inputs[0].kind, "FashionMnist");
  EXPECT_THAT(GetAttribute<std::string>(train.inputs[0].attributes, "split"), IsOkAndHolds("train"));
  EXPECT_THAT(GetAttribute<int64_t>(train.inputs[0].attributes, "examples"), IsOkAndHolds(1000));
  EXPECT_EQ(program.loop.evaluate_function, "evaluate");
  EXPECT_THAT(GetAttribute<std::string>(program.loop.evaluate_dataset.attributes, "split"), IsOkAndHolds("test"));
}

TEST(TrainingProgramTest, DefaultsAreOneShuffledEpochAtTheOptimizersRate) {
  for (const std::string& optimizer : KnownOptimizers()) {
    TrainOptions options;
    options.optimizer = optimizer;
    const Loop loop = Make(options).loop;
    EXPECT_EQ(loop.epochs, 1);
    EXPECT_EQ(loop.steps, 0);
    EXPECT_EQ(loop.learning_rate, *DefaultLearningRate(optimizer));
    EXPECT_EQ(loop.train_dataset.kind, "Shuffle");
  }
}

TEST(TrainingProgramTest, ShuffleAndEvaluationCanBeLeftOut) {
  TrainOptions options;
  options.shuffle = "none";
  options.evaluate = false;
  const Program program = Make(options);
  EXPECT_EQ(program.loop.train_dataset.kind, "FashionMnist");
  EXPECT_EQ(program.loop.evaluate_function, "");
  EXPECT_EQ(program.functions.count("evaluate"), 0u);
}

TEST(TrainingProgramTest, SyntheticTrainAndTestSetsDoNotOverlap) {
  TrainOptions options;
  options.dataset = "synthetic";
  options.shuffle = "none";
  options.examples = 500;
  const Loop loop = Make(options).loop;
  EXPECT_EQ(loop.train_dataset.kind, "Skip");
  EXPECT_THAT(GetAttribute<int64_t>(loop.train_dataset.attributes, "count"), IsOkAndHolds(10000));
  EXPECT_THAT(GetAttribute<int64_t>(loop.train_dataset.inputs[0].attributes, "examples"), IsOkAndHolds(10500));
  EXPECT_THAT(GetAttribute<int64_t>(loop.evaluate_dataset.attributes, "examples"), IsOkAndHolds(10000));
}

TEST(TrainingProgramTest, UnknownNamesGetTheKnownOnes) {
  const struct {
    std::string TrainOptions::*option;
    const char* known;
  } kTable[] = {
      {&TrainOptions::model, "there is no model 'x'; known: linear, mlp, cnn, mlp512, cnn32"},
      {&TrainOptions::dataset, "there is no data set 'x'; known: fashion_mnist, synthetic"},
      {&TrainOptions::optimizer, "there is no optimizer 'x'; known: sgd, momentum, adagrad, adam"},
      {&TrainOptions::initializer, "there is no initializer 'x'; known: default, golden"},
      {&TrainOptions::shuffle, "there is no shuffle 'x'; known: default, none"},
  };
  for (const auto& row : kTable) {
    TrainOptions options;
    options.*row.option = "x";
    EXPECT_THAT(MakeTrainingProgram(options), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(row.known)));
  }
}

TEST(TrainingProgramTest, NumbersOutOfRangeAreNamed) {
  const auto message = [](auto change) {
    TrainOptions options;
    change(options);
    return std::string(MakeTrainingProgram(options).status().message());
  };
  EXPECT_THAT(message([](TrainOptions& o) { o.batch_size = 0; }), AllOf(HasSubstr("batch_size"), HasSubstr("0")));
  EXPECT_THAT(message([](TrainOptions& o) { o.epochs = o.steps = 1; }), HasSubstr("choose one"));
  EXPECT_THAT(message([](TrainOptions& o) { o.steps = -1; }), HasSubstr("steps is -1"));
  EXPECT_THAT(message([](TrainOptions& o) { o.learning_rate = std::nan(""); }), HasSubstr("learning_rate"));
  EXPECT_THAT(message([](TrainOptions& o) { o.hidden = {128, 0}; }), HasSubstr("0 units"));
}

}  // namespace
}  // namespace cohort
