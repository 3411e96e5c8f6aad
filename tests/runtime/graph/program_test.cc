#include "runtime/graph/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "runtime/graph/ops.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::IsOkAndHolds;
using ::cohort::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

const TensorSpec kWeights{DType::kF32, {2, 2}};

Program Valid() {
  Program program;
  program.name = "mlp";
  program.variables.push_back({"w", kWeights, {}, true});
  FunctionBuilder b("train");
  const Value w = ReadVariable(b.Variable("w", kWeights));
  b.AddResult("examples", Size(w, DType::kI64), ResultRole::kExamples);
  b.AddResult("loss", Sum(w), ResultRole::kLossSum);
  program.functions["train"] = b.Finish().value();
  program.loop.train_function = "train";
  program.loop.train_dataset.kind = "Synthetic";
  program.loop.global_batch = 8;
  program.loop.steps = 10;
  program.loop.learning_rate = 0.1;
  return program;
}

TEST(ProgramTest, AValidOne) { COHORT_EXPECT_OK(Valid().Validate()); }

TEST(ProgramTest, ErrorsNameWhatIsWrong) {
  const std::pair<std::function<void(Program&)>, const char*> cases[] = {
      {[](Program& p) { p.variables.clear(); }, "function 'train' uses variable 'w', which is not declared"},
      {[](Program& p) { p.variables[0].spec.shape = {3}; }, "as float32 [2,2], but it is declared as float32 [3]"},
      {[](Program& p) { p.variables.push_back(p.variables[0]); }, "variable 'w' is declared twice"},
      {[](Program& p) { p.variables[0].name.clear(); }, "a variable has no name"},
      {[](Program& p) {
         p.variables[0].initializer = {Initializer::Kind::kTensor, 0, Tensor::Scalar(1.0f)};
       },
       "but its initial value is float32 []"},
      {[](Program& p) { p.functions["train"].results[0].role = ResultRole::kLossSum; },
       "result 'examples' is int64 []"},
      {[](Program& p) {
         p.functions["train"].results[1].output = {1, 0};
       },
       "result 'loss' is float32 [2,2]"},
      {[](Program& p) {
         p.functions["train"].parameters.push_back({"x", 1});
       },
       "parameter 'x' needs a Placeholder of its own"},
      {[](Program& p) { p.functions["train"].name = "other"; }, "function 'other' is listed as 'train'"},
      {[](Program& p) { p.functions["train"].results.clear(); }, "has 0 results with the count of examples"},
      {[](Program& p) { p.loop.train_function = "trian"; }, "the training function 'trian' does not exist"},
      {[](Program& p) { p.loop.train_function = ""; }, "the loop names no training function"},
      {[](Program& p) { p.loop.train_dataset.kind = ""; }, "no training data set"},
      {[](Program& p) { p.loop.global_batch = 0; }, "the global batch is 0"},
      {[](Program& p) { p.loop.epochs = 2; }, "2 epochs and 10 steps"},
      {[](Program& p) { p.loop.steps = 0; }, "0 epochs and 0 steps"},
      {[](Program& p) { p.loop.learning_rate = -1; }, "the learning rate is -1"},
      {[](Program& p) { p.loop.final_learning_rate = std::nan(""); }, "the final learning rate is nan"},
      {[](Program& p) { p.loop.evaluate_function = "eval"; }, "the evaluation function 'eval' does not exist"},
      {[](Program& p) { p.loop.evaluate_function = "train"; }, "no data set for it"},
  };
  for (const auto& [spoil, text] : cases) {
    Program program = Valid();
    spoil(program);
    EXPECT_THAT(program.Validate(),
                StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("program 'mlp'"), HasSubstr(text))));
  }
}

TEST(StrategyTest, NamesReadBack) {
  for (const auto kind :
       {StrategyKind::kDefault, StrategyKind::kOneDevice, StrategyKind::kMirrored, StrategyKind::kMultiWorkerMirrored,
        StrategyKind::kCentralStorage, StrategyKind::kParameterServer}) {
    EXPECT_THAT(ParseStrategy(StrategyName(kind)), IsOkAndHolds(kind));
  }
  EXPECT_THAT(ParseStrategy("horovod"), StatusIs(absl::StatusCode::kInvalidArgument,
                                                 AllOf(HasSubstr("'horovod'"), HasSubstr("parameter_server"))));
}

}  // namespace
}  // namespace cohort
