#include "ps/shard_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "runtime/base/thread.h"
#include "runtime/optimizer/optimizer.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::StatusIs;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Gradient = ParameterServer::Gradient;

const TaskId kWorker = {"worker", 0};
#if defined(__SANITIZE_THREAD__)
constexpr int kPushes = 50;
#else
constexpr int kPushes = 1000;
#endif

Tensor Filled(const Shape& shape, float value) {
  Tensor tensor = Tensor::Zeros(DType::kF32, shape);
  for (float& element : tensor.mutable_values<float>()) element = value;
  return tensor;
}

PsVariable Variable(const std::string& name, const Shape& shape, float value, Attributes optimizer) {
  PsVariable variable;
  variable.definition.name = name;
  variable.definition.spec = {DType::kF32, shape};
  variable.definition.initializer.kind = Initializer::Kind::kConstant;
  variable.definition.initializer.value = value;
  variable.optimizer = std::move(optimizer);
  return variable;
}

std::shared_ptr<ShardSession> Make(std::vector<PsVariable> variables) {
  PsSessionSpec spec;
  spec.session = 1;
  spec.variables = std::move(variables);
  auto session = ShardSession::Create(spec);
  EXPECT_THAT(session, testing::IsOk());
  return *std::move(session);
}

std::vector<float> ValueOf(const ShardSession& session, const std::string& name) {
  const auto values = session.Pull({name});
  EXPECT_THAT(values, testing::IsOk());
  const auto span = (*values)[0].values<float>();
  return {span.begin(), span.end()};
}

Tensor SummaryOf(const ShardSession& session, const std::string& name) {
  const auto summary = session.Summarize();
  for (const auto& [key, value] : summary->values) {
    if (key == name) return value;
  }
  ADD_FAILURE() << "no " << name;
  return {};
}

TEST(ShardSessionTest, VariablesStartWithTheirFirstValuesInTheOrderAskedFor) {
  const auto session = Make({Variable("a", {2}, 1, {}), Variable("b", {1}, 2, {{"optimizer", "sgd"}})});
  const auto values = session->Pull(std::vector<std::string>{"b", "a", "b"});
  COHORT_ASSERT_OK(values);
  ASSERT_EQ(values->size(), 3u);
  EXPECT_THAT((*values)[0].values<float>(), ElementsAre(2));
  EXPECT_THAT((*values)[1].values<float>(), ElementsAre(1, 1));
  EXPECT_TRUE(session->Pull({})->empty());
  EXPECT_THAT(session->Pull(std::vector<std::string>{"a", "c"}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'c'")));
}

TEST(ShardSessionTest, APushDividesTheSumOnceAndMovesByTheLearningRate) {
  const auto session = Make({Variable("w", {2}, 1, {{"optimizer", "sgd"}})});
  // 1 - 0.5 * 8 / 4
  COHORT_ASSERT_OK(session->Push(kWorker, {1, 0.5, 4}, {{"w", Filled({2}, 8)}}));
  EXPECT_THAT(ValueOf(*session, "w"), ElementsAre(0, 0));
  EXPECT_EQ(session->Summarize()->updates, 1);
}

TEST(ShardSessionTest, APulledValueNeverChanges) {
  const auto session = Make({Variable("w", {2}, 1, {{"optimizer", "sgd"}})});
  const auto before = session->Pull({"w"});
  for (int step = 1; step <= 3; ++step) {
    COHORT_ASSERT_OK(session->Push(kWorker, {step, 1, 1}, {{"w", Filled({2}, 1)}}));
  }
  EXPECT_THAT((*before)[0].values<float>(), ElementsAre(1, 1));
  EXPECT_THAT(ValueOf(*session, "w"), ElementsAre(-2, -2));
}

TEST(ShardSessionTest, ARepeatedStepOfAWorkerIsAppliedOnce) {
  const auto session = Make({Variable("w", {1}, 0, {{"optimizer", "sgd"}})});
  for (int i = 0; i < 3; ++i) COHORT_ASSERT_OK(session->Push(kWorker, {1, 1, 1}, {{"w", Filled({1}, 1)}}));
  COHORT_ASSERT_OK(session->Push(kWorker, {2, 1, 1}, {{"w", Filled({1}, 1)}}));
  COHORT_ASSERT_OK(session->Push(kWorker, {1, 1, 1}, {{"w", Filled({1}, 1)}}));
  EXPECT_THAT(ValueOf(*session, "w"), ElementsAre(-2));
  COHORT_ASSERT_OK(session->Push({"worker", 1}, {1, 1, 1}, {{"w", Filled({1}, 1)}}));  // another worker's step 1
  EXPECT_THAT(ValueOf(*session, "w"), ElementsAre(-3));
  EXPECT_EQ(session->Summarize()->updates, 3);
}

TEST(ShardSessionTest, RepetitionsAtOnceAreAppliedOnce) {
  const auto session = Make({Variable("w", {1000}, 0, {{"optimizer", "sgd"}})});
  std::vector<Thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back("pusher", [&] {
      for (int step = 1; step <= 100; ++step) {
        EXPECT_THAT(session->Push(kWorker, {step, 1, 1}, {{"w", Filled({1000}, 1)}}), testing::IsOk());
      }
    });
  }
  for (Thread& thread : threads) thread.Join();
  EXPECT_THAT(ValueOf(*session, "w"), Each(-100));
  EXPECT_EQ(session->Summarize()->updates, 100);
}

TEST(ShardSessionTest, APushWithOneBadGradientAppliesNothing) {
  const auto session = Make({Variable("w", {2}, 0, {{"optimizer", "sgd"}}), Variable("fixed", {2}, 0, {})});
  const Gradient good = {"w", Filled({2}, 1)};
  EXPECT_THAT(session->Push(kWorker, {1, 1, 1}, {good, {"nowhere", Filled({2}, 1)}}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'nowhere'")));
  EXPECT_THAT(session->Push(kWorker, {1, 1, 1}, {good, {"w", Filled({3}, 1)}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("[3]")));
  EXPECT_THAT(session->Push(kWorker, {1, 1, 1}, {good, {"w", Tensor::Zeros(DType::kF64, {2})}}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(session->Push(kWorker, {1, 1, 1}, {good, {"w", Tensor()}}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(session->Push(kWorker, {1, 1, 1}, {good, {"fixed", Filled({2}, 1)}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'fixed' has no optimizer")));
  EXPECT_THAT(session->Push(kWorker, {1, 1, 1}, {good, good}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'w' twice")));
  EXPECT_THAT(session->Push(kWorker, {0, 1, 1}, {good}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(session->Push(kWorker, {1, 1, -1}, {good}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ValueOf(*session, "w"), ElementsAre(0, 0));
  EXPECT_EQ(session->Summarize()->updates, 0);
  COHORT_ASSERT_OK(session->Push(kWorker, {1, 1, 1}, {good}));  // the step has not been used up
  EXPECT_THAT(ValueOf(*session, "w"), ElementsAre(-1, -1));
}

TEST(ShardSessionTest, AnEmptyBatchMovesNothing) {
  const auto session = Make({Variable("w", {1}, 5, {{"optimizer", "adam"}})});
  COHORT_ASSERT_OK(session->Push(kWorker, {1, 1, 0}, {{"w", Filled({1}, 1)}}));
  EXPECT_THAT(ValueOf(*session, "w"), ElementsAre(5));
  EXPECT_THAT(SummaryOf(*session, "w:t").values<int64_t>(), ElementsAre(0));
}

TEST(ShardSessionTest, AdamCountsTheUpdatesOfEachVariable) {
  const auto session =
      Make({Variable("a", {1}, 0, {{"optimizer", "adam"}}), Variable("b", {1}, 0, {{"optimizer", "adam"}})});
  COHORT_ASSERT_OK(session->Push(kWorker, {1, 0.25, 1}, {{"a", Filled({1}, 1)}, {"b", Filled({1}, 1)}}));
  COHORT_ASSERT_OK(session->Push({"worker", 1}, {1, 0.25, 1}, {{"a", Filled({1}, 1)}}));
  COHORT_ASSERT_OK(session->Push(kWorker, {1, 0.25, 1}, {{"a", Filled({1}, 1)}}));  // repeated
  EXPECT_THAT(SummaryOf(*session, "a:t").values<int64_t>(), ElementsAre(2));
  EXPECT_THAT(SummaryOf(*session, "b:t").values<int64_t>(), ElementsAre(1));
  // The first update of Adam is one learning rate against the gradient, but for epsilon.
  EXPECT_NEAR(ValueOf(*session, "b")[0], -0.25, 1e-5);
}

TEST(ShardSessionTest, SummaryHoldsVariablesAndSlotsInOrderOfTheirKeys) {
  const auto session =
      Make({Variable("w", {1}, 1, {{"optimizer", "momentum"}}), Variable("b", {1}, 2, {{"optimizer", "adagrad"}})});
  const auto summary = session->Summarize();
  COHORT_ASSERT_OK(summary);
  std::vector<std::string> keys;
  for (const auto& [key, value] : summary->values) keys.push_back(key);
  EXPECT_THAT(keys, ElementsAre("b", "b:accumulator", "w", "w:momentum"));
  EXPECT_EQ(summary->values[1].second.values<float>()[0], 0.1f);
}

TEST(ShardSessionTest, WrongDefinitionsAreRefused) {
  PsSessionSpec spec;
  spec.variables = {Variable("w", {1}, 0, {{"optimizer", "nonsense"}})};
  EXPECT_THAT(ShardSession::Create(spec),
              StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("'w'"), HasSubstr("nonsense"))));
  spec.variables = {Variable("w", {Shape::kUnknown}, 0, {})};
  EXPECT_THAT(ShardSession::Create(spec), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'w'")));
  spec.variables = {Variable("w", {1}, 0, {{"optimizer", "sgd"}})};
  spec.variables[0].definition.spec.dtype = DType::kI32;
  EXPECT_THAT(ShardSession::Create(spec), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'w'")));
  spec.variables = {Variable("w", {1}, 0, {}), Variable("w", {1}, 0, {})};
  EXPECT_THAT(ShardSession::Create(spec), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'w'")));
}

// R31: no update is lost, none is seen half.
TEST(ShardSessionTest, ConcurrentPushesAddUpExactlyAndPullsSeeWholeOnes) {
  constexpr int kThreads = 4;
  const Shape shape = {100000};
  const auto session = Make({Variable("w", shape, 0, {{"optimizer", "sgd"}})});
  std::atomic<bool> done = false;
  int64_t pulls = 0;
  Thread reader("reader", [&] {
    float last = 0;
    while (!done) {
      const auto pulled = session->Pull({"w"});
      const auto values = (*pulled)[0].values<float>();
      const float first = values[0];
      ASSERT_EQ(std::count(values.begin(), values.end(), first), values.size());
      ASSERT_EQ(first, std::trunc(first));
      ASSERT_LE(first, last);  // never an older one
      last = first;
      ++pulls;
    }
  });
  std::vector<Thread> pushers;
  for (int t = 0; t < kThreads; ++t) {
    pushers.emplace_back("pusher", [&, t] {
      const std::vector<Gradient> gradients = {{"w", Filled(shape, 4)}};
      for (int step = 1; step <= kPushes; ++step) {
        ASSERT_THAT(session->Push({"worker", t}, {step, 0.5, 2}, gradients), testing::IsOk());  // w -= 1
      }
    });
  }
  for (Thread& pusher : pushers) pusher.Join();
  done = true;
  reader.Join();
  EXPECT_THAT(ValueOf(*session, "w"), Each(-kThreads * kPushes));
  EXPECT_EQ(session->Summarize()->updates, kThreads * kPushes);
  EXPECT_GT(pulls, 0);
}

TEST(ShardSessionTest, PushesOfDifferentVariablesInAnyOrderDoNotBlockEachOther) {
  const auto session =
      Make({Variable("a", {64}, 0, {{"optimizer", "sgd"}}), Variable("b", {64}, 0, {{"optimizer", "sgd"}})});
  std::vector<Thread> pushers;
  for (int t = 0; t < 2; ++t) {
    pushers.emplace_back("pusher", [&, t] {
      std::vector<Gradient> gradients = {{"a", Filled({64}, 1)}, {"b", Filled({64}, 1)}};
      if (t == 1) std::reverse(gradients.begin(), gradients.end());
      for (int step = 1; step <= 500; ++step) {
        ASSERT_THAT(session->Push({"worker", t}, {step, 1, 1}, gradients), testing::IsOk());
      }
    });
  }
  for (Thread& pusher : pushers) pusher.Join();
  EXPECT_THAT(ValueOf(*session, "a"), Each(-1000));
  EXPECT_THAT(ValueOf(*session, "b"), Each(-1000));
}

}  // namespace
}  // namespace cohort
