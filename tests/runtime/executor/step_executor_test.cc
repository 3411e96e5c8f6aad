#include "runtime/executor/step_executor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/runtime/executor/regression.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::Batch;
using ::cohort::testing::FillStore;
using ::cohort::testing::Sgd;
using ::cohort::testing::StatusIs;
using ::cohort::testing::TraceRegression;
using ::cohort::testing::ValueOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class StepExecutorTest : public ::testing::Test {
 protected:
  void SetUp() override { COHORT_ASSERT_OK(FillStore(store_)); }

  absl::StatusOr<std::unique_ptr<StepExecutor>> Create(const absl::StatusOr<Function>& function,
                                                       ParameterClient* client = nullptr, size_t bucket = 4 << 20) {
    if (!function.ok()) return function.status();
    return StepExecutor::Create(*function, {}, store_, nullptr, client, tiles_, {.bucket_bytes = bucket});
  }

  // A function of no parameters.
  absl::StatusOr<std::unique_ptr<StepExecutor>> CreateTraced(const std::function<void(FunctionBuilder&)>& trace) {
    FunctionBuilder builder("f");
    trace(builder);
    return Create(builder.Finish());
  }

  VariableStore store_;
  TilePool tiles_{1};
  StepHeader header_;
};

// Predictions 1 + 2 = 3 and 2; errors 2 and -2; gradients of the sum: w (2*2*1, 2*2*1 + 2*-2*1), b 0.
const std::vector<std::vector<float>> kRows = {{1, 1, 1}, {0, 1, 4}};

TEST_F(StepExecutorTest, ComputesReducesAndCommits) {
  COHORT_ASSERT_OK_AND_ASSIGN(auto executor, Create(TraceRegression(Sgd())));
  const Element batch = Batch(kRows);
  COHORT_ASSERT_OK(executor->Run({.step = 1, .learning_rate = 0.5, .batch = &batch, .has_next = true}, header_));
  EXPECT_THAT(ValueOf(store_, "w"), ElementsAre(0, 2));  // 1 - 0.5 * 4 / 2; 2 - 0.5 * 0 / 2
  EXPECT_THAT(ValueOf(store_, "b"), ElementsAre(0));
  EXPECT_EQ(header_.examples, 2);
  EXPECT_EQ(header_.loss_sum, 8);
  EXPECT_THAT(header_.metric_sums, ElementsAre(5));
  EXPECT_THAT(executor->metric_names(), ElementsAre("large"));
  EXPECT_EQ(header_.has_next, 1);
  EXPECT_EQ(header_.stop_requested, 0);
  EXPECT_EQ(header_.nonfinite, 0);
  EXPECT_EQ(header_.world, 1);
}

TEST_F(StepExecutorTest, GivesResultsAsTheyWereBeforeTheCommit) {
  COHORT_ASSERT_OK_AND_ASSIGN(auto executor, Create(TraceRegression(Sgd())));
  EXPECT_THAT(executor->Fetch("prediction"), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("no step")));
  const Element batch = Batch(kRows);
  COHORT_ASSERT_OK(executor->Run({.step = 1, .learning_rate = 0.5, .batch = &batch}, header_));
  COHORT_ASSERT_OK_AND_ASSIGN(const Tensor prediction, executor->Fetch("prediction"));
  EXPECT_EQ(prediction.shape(), (Shape{2, 1}));
  EXPECT_THAT(prediction.values<float>(), ElementsAre(3, 2));
  EXPECT_THAT(executor->Fetch("logits"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("'logits'")));
}

TEST_F(StepExecutorTest, MakesOnePlanForEachBatchSize) {
  COHORT_ASSERT_OK_AND_ASSIGN(auto executor, Create(TraceRegression(Sgd())));
  const Element two = Batch(kRows), one = Batch({{1, 0, 1}}), none = Batch({});
  uint64_t hash = 0;
  for (int64_t step = 1; step <= 100; ++step) {
    COHORT_ASSERT_OK(executor->Run({.step = step, .learning_rate = 0.1, .batch = &two}, header_));
    if (step == 1) hash = executor->launch_hash();
    EXPECT_EQ(executor->launch_hash(), hash);
    if (step == 50) {
      COHORT_ASSERT_OK(executor->Run({.step = step, .batch = &one}, header_));
    }
  }
  EXPECT_EQ(executor->plan_count(), 2);
  const std::vector<float> before = ValueOf(store_, "w");
  COHORT_ASSERT_OK(executor->Run({.step = 101, .learning_rate = 0.5, .batch = &none}, header_));
  EXPECT_EQ(header_.examples, 0);
  EXPECT_EQ(header_.loss_sum, 0);
  EXPECT_EQ(ValueOf(store_, "w"), before);  // nothing to apply
  EXPECT_EQ(executor->plan_count(), 3);
}

TEST_F(StepExecutorTest, CountsNonfiniteLossesAndStillApplies) {
  COHORT_ASSERT_OK_AND_ASSIGN(auto executor, Create(TraceRegression(Sgd())));
  const Element batch = Batch({{std::numeric_limits<float>::infinity(), 1, 1}});
  COHORT_ASSERT_OK(executor->Run({.step = 1, .learning_rate = 0.5, .batch = &batch}, header_));
  EXPECT_EQ(header_.nonfinite, 1);
  EXPECT_FALSE(std::isfinite(ValueOf(store_, "w")[0]));
}

TEST_F(StepExecutorTest, SlotsLieBesideTheirVariables) {
  COHORT_ASSERT_OK_AND_ASSIGN(auto executor,
                              Create(TraceRegression({{"optimizer", std::string("momentum")}, {"momentum", 0.5}})));
  const Element batch = Batch(kRows);
  COHORT_ASSERT_OK(executor->Run({.step = 1, .learning_rate = 0.5, .batch = &batch}, header_));
  EXPECT_THAT(ValueOf(store_, "w", "momentum"), ElementsAre(2, 0));
  EXPECT_THAT(ValueOf(store_, "w"), ElementsAre(0, 2));
}

TEST_F(StepExecutorTest, SnapshotsOutliveSteps) {
  COHORT_ASSERT_OK_AND_ASSIGN(auto executor, Create(TraceRegression(Sgd())));
  COHORT_ASSERT_OK_AND_ASSIGN(Variable * w, store_.Find({"w", ""}));
  COHORT_ASSERT_OK_AND_ASSIGN(const Tensor lent, w->Snapshot());
  const Element batch = Batch(kRows);
  for (int64_t step = 1; step <= 3; ++step) {
    COHORT_ASSERT_OK(executor->Run({.step = step, .learning_rate = 0.5, .batch = &batch}, header_));
  }
  EXPECT_THAT(lent.values<float>(), ElementsAre(1, 2));
  EXPECT_NE(ValueOf(store_, "w")[0], 1);  // later steps read what earlier ones wrote
}

TEST_F(StepExecutorTest, AssignmentsAreSeenLaterInTheStepAndStoredByTheCommit) {
  COHORT_ASSERT_OK(store_.Create({"n", ""}, {DType::kI64, Shape{}}, false));
  COHORT_ASSERT_OK_AND_ASSIGN(Variable * n, store_.Find({"n", ""}));
  COHORT_ASSERT_OK(n->Assign(Tensor::Scalar<int64_t>(5)));
  COHORT_ASSERT_OK_AND_ASSIGN(auto executor, CreateTraced([](FunctionBuilder& builder) {
                                const Value handle = builder.Variable("n", {DType::kI64, Shape{}});
                                const Value two = ScalarConstant(builder, DType::kI64, 2);
                                builder.AddResult("before", ReadVariable(handle));
                                AssignAdd(handle, two);
                                builder.AddResult("between", ReadVariable(handle));
                                AssignSub(handle, ScalarConstant(builder, DType::kI64, 10));
                                builder.AddResult("after", ReadVariable(handle));
                              }));
  COHORT_ASSERT_OK(executor->Run({.step = 1}, header_));
  const auto fetched = [&](const std::string& name) { return executor->Fetch(name)->values<int64_t>()[0]; };
  EXPECT_EQ(fetched("before"), 5);
  EXPECT_EQ(fetched("between"), 7);
  EXPECT_EQ(fetched("after"), -3);
  COHORT_ASSERT_OK_AND_ASSIGN(const Tensor value, n->Snapshot());
  EXPECT_EQ(value.values<int64_t>()[0], -3);
}

TEST_F(StepExecutorTest, VariablesCanChangePlaces) {
  COHORT_ASSERT_OK_AND_ASSIGN(Variable * v, store_.Create({"v", ""}, testing::kWeightSpec, true));
  COHORT_ASSERT_OK(v->Assign(Tensor::Of<float>(Shape{2, 1}, {7, 8})));
  COHORT_ASSERT_OK_AND_ASSIGN(auto executor, CreateTraced([](FunctionBuilder& builder) {
                                const Value w = builder.Variable("w", testing::kWeightSpec);
                                const Value other = builder.Variable("v", testing::kWeightSpec);
                                const Value old_w = ReadVariable(w), old_v = ReadVariable(other);
                                Assign(w, old_v);
                                Assign(other, old_w);
                              }));
  COHORT_ASSERT_OK(executor->Run({.step = 1}, header_));
  EXPECT_THAT(ValueOf(store_, "w"), ElementsAre(7, 8));
  EXPECT_THAT(ValueOf(store_, "v"), ElementsAre(1, 2));
}

TEST_F(StepExecutorTest, ListsItsCollectivesWhateverTheBatch) {
  COHORT_ASSERT_OK_AND_ASSIGN(auto one, Create(TraceRegression(Sgd())));
  COHORT_ASSERT_OK_AND_ASSIGN(auto two, Create(TraceRegression(Sgd()), nullptr, /*bucket=*/4));
  EXPECT_EQ(one->collectives_text(), "grads/0 SUM float32 [18]\nheader SUM float64 [6]\n");
  EXPECT_NE(one->collectives_hash(), two->collectives_hash());
  EXPECT_THAT(two->collectives_text(), HasSubstr("grads/1"));
  const uint64_t hash = one->collectives_hash();
  const Element batch = Batch(kRows);
  COHORT_ASSERT_OK(one->Run({.step = 1, .batch = &batch}, header_));
  EXPECT_EQ(one->collectives_hash(), hash);
}

TEST_F(StepExecutorTest, NamesWhatDoesNotFit) {
  COHORT_ASSERT_OK_AND_ASSIGN(auto executor, Create(TraceRegression(Sgd())));
  const Element wide = {Tensor::Zeros(DType::kF32, {2, 3}), Tensor::Zeros(DType::kF32, {2, 1})};
  EXPECT_THAT(executor->Run({.step = 7, .batch = &wide}, header_),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("step 7")));
  EXPECT_THAT(executor->Run({.step = 7}, header_), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("2 param")));
  VariableStore empty;
  COHORT_ASSERT_OK_AND_ASSIGN(const Function function, TraceRegression(Sgd()));
  EXPECT_THAT(StepExecutor::Create(function, {}, empty, nullptr, nullptr, tiles_),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no variable '")));
  COHORT_ASSERT_OK(empty.Create({"w", ""}, testing::kWeightSpec, true));
  COHORT_ASSERT_OK(empty.Create({"b", ""}, testing::kBiasSpec, true));
  COHORT_ASSERT_OK_AND_ASSIGN(executor, StepExecutor::Create(function, {}, empty, nullptr, nullptr, tiles_));
  const Element batch = Batch(kRows);
  EXPECT_THAT(executor->Run({.step = 1, .batch = &batch}, header_),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("' has no value yet")));
}

TEST_F(StepExecutorTest, RefusesGradientsThatCannotBeApplied) {
  const auto apply = [](FunctionBuilder& builder, int times, bool assign) {
    const Value w = builder.Variable("w", testing::kWeightSpec);
    for (int i = 0; i < times; ++i) ApplyGradient(w, Square(ReadVariable(w)), Sgd());
    if (assign) Assign(w, ReadVariable(w));
  };
  const auto count = [](FunctionBuilder& builder) {
    builder.AddResult("n", ScalarConstant(builder, DType::kI64, 1), ResultRole::kExamples);
  };
  EXPECT_THAT(CreateTraced([&](FunctionBuilder& b) { apply(b, 1, false); }),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("kExamples")));
  EXPECT_THAT(CreateTraced([&](FunctionBuilder& b) {
                count(b);
                apply(b, 2, false);
              }),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("two gradients")));
  EXPECT_THAT(CreateTraced([&](FunctionBuilder& b) {
                count(b);
                apply(b, 1, true);
              }),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("assigned")));
  COHORT_EXPECT_OK(CreateTraced([&](FunctionBuilder& b) {
    count(b);
    apply(b, 1, false);
  }));
}

// A gradient that is also a result, one that is a variable as it stands, one that two variables share.
TEST_F(StepExecutorTest, GradientsThatAreReadElsewhereAreCopied) {
  COHORT_ASSERT_OK_AND_ASSIGN(Variable * v, store_.Create({"v", ""}, testing::kWeightSpec, true));
  COHORT_ASSERT_OK(v->Assign(Tensor::Of<float>(Shape{2, 1}, {3, 4})));
  COHORT_ASSERT_OK_AND_ASSIGN(auto executor, CreateTraced([](FunctionBuilder& builder) {
                                const Value w = builder.Variable("w", testing::kWeightSpec);
                                const Value other = builder.Variable("v", testing::kWeightSpec);
                                const Value gradient = Square(ReadVariable(w));
                                builder.AddResult("n", ScalarConstant(builder, DType::kI64, 1), ResultRole::kExamples);
                                builder.AddResult("gradient", gradient);
                                ApplyGradient(w, gradient, Sgd());
                                ApplyGradient(other, ReadVariable(other), Sgd());
                              }));
  COHORT_ASSERT_OK(executor->Run({.step = 1, .learning_rate = 0.5}, header_));
  EXPECT_THAT(ValueOf(store_, "w"), ElementsAre(0.5f, 0));
  EXPECT_THAT(ValueOf(store_, "v"), ElementsAre(1.5f, 2));
  COHORT_ASSERT_OK_AND_ASSIGN(const Tensor gradient, executor->Fetch("gradient"));
  EXPECT_THAT(gradient.values<float>(), ElementsAre(1, 4));
}

TEST_F(StepExecutorTest, WithoutExamplesNothingIsAssignedEither) {
  FunctionBuilder builder("f");
  const Value x = builder.AddParameter("x", {DType::kF32, Shape{Shape::kUnknown, 1}});
  builder.AddResult("n", Size(x, DType::kI64), ResultRole::kExamples);
  Assign(builder.Variable("b", testing::kBiasSpec), Mean(x, {0}));
  COHORT_ASSERT_OK_AND_ASSIGN(auto executor, Create(builder.Finish()));
  const Element two = {Tensor::Of<float>(Shape{2, 1}, {1, 3})}, none = {Tensor::Zeros(DType::kF32, Shape{0, 1})};
  COHORT_ASSERT_OK(executor->Run({.step = 1, .batch = &two}, header_));
  EXPECT_THAT(ValueOf(store_, "b"), ElementsAre(2));
  COHORT_ASSERT_OK(executor->Run({.step = 2, .batch = &none}, header_));
  EXPECT_THAT(ValueOf(store_, "b"), ElementsAre(2));  // not the mean of nothing
}

TEST_F(StepExecutorTest, AGraphCannotSpeakToKernels) {
  COHORT_ASSERT_OK_AND_ASSIGN(
      auto executor, CreateTraced([](FunctionBuilder& builder) {
        const Value w = ReadVariable(builder.Variable("w", testing::kWeightSpec));
        builder.AddResult(
            "product",
            builder.Add(
                "MatMul", {w, w},
                {{"transpose_a", true}, {"transpose_b", false}, {"_bias", true}, {"_relu", true}, {"_mask", true}}));
      }));
  COHORT_ASSERT_OK(executor->Run({.step = 1}, header_));
  EXPECT_THAT(executor->Fetch("product")->values<float>(), ElementsAre(5));
}

TEST_F(StepExecutorTest, RefusesWhatHasNoMemory) {
  EXPECT_THAT(CreateTraced([](FunctionBuilder& b) {
                b.AddResult("n", Size(b.Variable("w", testing::kWeightSpec), DType::kI64));
              }),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("input 0 is resource")));
  EXPECT_THAT(CreateTraced([](FunctionBuilder& b) {
                b.AddResult("text", Identity(Constant(b, Tensor::OfStrings(Shape{1}, {"x"}))));
              }),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("result 'text' is string [1]")));
}

TEST_F(StepExecutorTest, RefusesSizesThatNothingTells) {
  FunctionBuilder builder("f");
  const Value dy = builder.AddParameter("dy", {DType::kF32, Shape{1, 2, 2, 1}});
  const Value filter = builder.AddParameter("filter", {DType::kF32, Shape{1, 1, 1, 1}});
  builder.AddResult("dx", Conv2DBackpropInput({1, -1, -1, 1}, filter, dy, {.strides = {1, 1}, .padding = "SAME"}));
  COHORT_ASSERT_OK_AND_ASSIGN(auto executor, Create(builder.Finish()));
  const Element batch = {Tensor::Zeros(DType::kF32, {1, 2, 2, 1}), Tensor::Zeros(DType::kF32, {1, 1, 1, 1})};
  EXPECT_THAT(executor->Run({.step = 1, .batch = &batch}, header_),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("float32 [1,?,?,1]")));
}

// --- parameter servers

class FakeClient final : public ParameterClient {
 public:
  absl::Status Pull(absl::Span<const PullTarget> targets, absl::Time) override {
    for (const PullTarget& target : targets) {
      float* to = static_cast<float*>(target.destination);
      for (int64_t i = 0; i < target.spec.shape.num_elements(); ++i) to[i] = target.variable == "w" ? 1.0f + i : 0.0f;
    }
    return pull_status;
  }
  absl::Status Push(const Update& update, absl::Span<const Gradient> gradients, absl::Time) override {
    updates.push_back(update);
    for (const Gradient& gradient : gradients) {
      const float* data = static_cast<const float*>(gradient.data);
      pushed.emplace_back(gradient.variable, std::vector<float>(data, data + gradient.spec.shape.num_elements()));
    }
    return absl::OkStatus();
  }
  int64_t bytes_sent() const override { return 0; }

  absl::Status pull_status;
  std::vector<Update> updates;
  std::vector<std::pair<std::string, std::vector<float>>> pushed;
};

TEST_F(StepExecutorTest, PullsAndPushesWhatLivesElsewhere) {
  FakeClient client;
  COHORT_ASSERT_OK_AND_ASSIGN(auto executor, Create(TraceRegression(Sgd()), &client));
  const Element batch = Batch(kRows);
  COHORT_ASSERT_OK(executor->Run({.step = 3, .learning_rate = 0.5, .batch = &batch}, header_));
  ASSERT_EQ(client.updates.size(), 1u);
  EXPECT_EQ(client.updates[0].worker_step, 3);
  EXPECT_EQ(client.updates[0].learning_rate, 0.5);
  EXPECT_EQ(client.updates[0].examples, 2);
  EXPECT_THAT(client.pushed, ::testing::UnorderedElementsAre(::testing::Pair("w", ElementsAre(4, 0)),
                                                             ::testing::Pair("b", ElementsAre(0))));
  EXPECT_THAT(ValueOf(store_, "w"), ElementsAre(1, 2));  // not ours
  client.pull_status = absl::UnavailableError("/job:ps/task:0 is gone");
  EXPECT_THAT(executor->Run({.step = 4, .batch = &batch}, header_),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("step 4: /job:ps/task:0")));
  EXPECT_EQ(client.updates.size(), 1u);
}

}  // namespace
}  // namespace cohort
