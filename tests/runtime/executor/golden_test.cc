// Trainings whose loss at every step is known from float64: the whole step, from kernels to optimizers, one replica.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include "client/models/training_program.h"
#include "nlohmann/json.hpp"
#include "runtime/dataset/iterator.h"
#include "runtime/executor/step_executor.h"
#include "runtime/variable/initializer.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

nlohmann::json Load(const std::string& name) {
  std::ifstream file("tests/testdata/golden/" + name + ".json");
  return nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
}

TrainOptions OptionsOf(const nlohmann::json& golden) {
  TrainOptions options;
  options.model = golden["model"];
  options.optimizer = golden["optimizer"];
  options.learning_rate = golden["learning_rate"];
  options.batch_size = golden["global_batch"];
  options.examples = golden["examples"];
  options.steps = golden["steps"];
  options.initializer = "golden";
  options.shuffle = "none";
  return options;
}

class GoldenTest : public ::testing::TestWithParam<const char*> {
 protected:
  void FillStore(const Program& program) {
    for (const VariableDef& def : program.variables) {
      COHORT_ASSERT_OK_AND_ASSIGN(Variable * variable, store_.Create({def.name, ""}, def.spec, def.trainable));
      COHORT_ASSERT_OK_AND_ASSIGN(const Tensor value, InitialValue(def, program.seed));
      COHORT_ASSERT_OK(variable->Assign(value));
    }
  }

  // Pooling picks the first of equals, and what differs in float64 may be equal in float32: the gradient then takes
  // another way. The reference's own float32 run leaves float64 by just as much (float32_deviation) as ours.
  void CheckFinal(const nlohmann::json& golden) {
    const double tolerance = golden["model"] == "cnn" ? 1e-3 : 1e-4;
    for (const auto& [name, want] : golden["final"].items()) {
      COHORT_ASSERT_OK_AND_ASSIGN(Variable * variable, store_.Find({name, ""}));
      COHORT_ASSERT_OK_AND_ASSIGN(const Tensor value, variable->Snapshot());
      double sum = 0, squares = 0;
      for (const float x : value.values<float>()) {
        sum += x;
        squares += static_cast<double>(x) * x;
      }
      const double l2 = want["l2"];
      EXPECT_NEAR(sum, want["sum"].get<double>(), tolerance * std::max(l2, 1.0)) << name;
      EXPECT_NEAR(std::sqrt(squares), l2, 1e-4 * std::max(l2, 1.0)) << name;
      for (size_t i = 0; i < want["first4"].size(); ++i) {
        EXPECT_NEAR(value.values<float>()[i], want["first4"][i].get<double>(), 1e-4) << name << " element " << i;
      }
    }
  }

  VariableStore store_;
};

TEST_P(GoldenTest, LossStaysWithinTheBoundAtEveryStep) {
  const nlohmann::json golden = Load(GetParam());
  ASSERT_TRUE(golden.is_object());
  const TrainOptions options = OptionsOf(golden);
  COHORT_ASSERT_OK_AND_ASSIGN(const Program program, MakeTrainingProgram(options));
  FillStore(program);
  TilePool tiles(1);
  COHORT_ASSERT_OK_AND_ASSIGN(auto executor, StepExecutor::Create(program.functions.at("train"), program.functions,
                                                                  store_, nullptr, nullptr, tiles));
  COHORT_ASSERT_OK_AND_ASSIGN(
      auto iterator, MakeIterator({"Batch", {{"batch_size", options.batch_size}}, {program.loop.train_dataset}}));
  Element batch;
  StepHeader header;
  for (int64_t step = 1, epoch = 0; step <= options.steps; ++step) {
    COHORT_ASSERT_OK_AND_ASSIGN(bool more, iterator->Next(batch));
    if (!more) {
      COHORT_ASSERT_OK(iterator->Reset(++epoch));
      COHORT_ASSERT_OK_AND_ASSIGN(more, iterator->Next(batch));
    }
    ASSERT_TRUE(more);
    COHORT_ASSERT_OK(
        executor->Run({.step = step, .learning_rate = program.loop.learning_rate, .batch = &batch}, header));
    const double loss = header.loss_sum / static_cast<double>(header.examples);
    const double want = golden["losses"][step - 1];
    ASSERT_LE(std::abs(loss - want) / std::max(std::abs(want), 1e-3), golden["bound"].get<double>())
        << "step " << step << ": " << loss << ", not " << want;
  }
  CheckFinal(golden);
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenTest,
                         ::testing::Values("linear_sgd_b128", "linear_adam_b128", "mlp_sgd_b100", "mlp_sgd_b128",
                                           "mlp_sgd_b128_n1000", "mlp_momentum_b128", "mlp_adagrad_b128",
                                           "mlp_adam_b128", "cnn_sgd_b128", "cnn_adam_b128"));

}  // namespace
}  // namespace cohort
