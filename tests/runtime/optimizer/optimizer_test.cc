#include "runtime/optimizer/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

OptimizerDef Def(OptimizerDef::Kind kind) {
  OptimizerDef def;
  def.kind = kind;
  return def;
}

// Sums over 4 examples; their means are 1, -2, 0.5.
const std::vector<float> kSums = {4, -8, 2};

TEST(OptimizerTest, SgdSubtractsTheRateTimesTheMean) {
  std::vector<float> w = {1, 1, 1};
  ApplyOptimizer(Def(OptimizerDef::Kind::kSgd), {.learning_rate = 0.5, .examples = 4}, w.data(), {}, kSums.data(), 0,
                 3);
  EXPECT_THAT(w, ElementsAre(0.5f, 2.0f, 0.75f));
}

TEST(OptimizerTest, MomentumKeepsPartOfTheLastStep) {
  OptimizerDef def = Def(OptimizerDef::Kind::kMomentum);
  def.momentum = 0.5;
  std::vector<float> w = {1, 1, 1}, a = {2, 4, -1};
  float* slots[] = {a.data()};
  ApplyOptimizer(def, {.learning_rate = 0.25, .examples = 4}, w.data(), slots, kSums.data(), 0, 3);
  EXPECT_THAT(a, ElementsAre(2.0f, 0.0f, 0.0f));
  EXPECT_THAT(w, ElementsAre(0.5f, 1.0f, 1.0f));
}

TEST(OptimizerTest, AdagradDividesByTheRootOfTheSquares) {
  OptimizerDef def = Def(OptimizerDef::Kind::kAdagrad);
  def.epsilon = 0;
  std::vector<float> w = {1, 1, 1}, a = {3, 0, 3.75f};  // roots of a + g^2: 2, 2, 2
  float* slots[] = {a.data()};
  ApplyOptimizer(def, {.learning_rate = 1, .examples = 4}, w.data(), slots, kSums.data(), 0, 3);
  EXPECT_THAT(a, ElementsAre(4.0f, 4.0f, 4.0f));
  EXPECT_THAT(w, ElementsAre(0.5f, 2.0f, 0.75f));
}

TEST(OptimizerTest, AdamCorrectsTheRateByTheNumberOfUpdates) {
  OptimizerDef def = Def(OptimizerDef::Kind::kAdam);
  def.beta1 = 0.5;
  def.beta2 = 0.75;
  def.epsilon = 0;
  std::vector<float> w = {1}, m = {0}, v = {0};
  float* slots[] = {m.data(), v.data()};
  // First update: m = 0.5, v = 0.25; the rate is lr * sqrt(1 - 0.75) / (1 - 0.5) = lr: w -= lr * 0.5 / 0.5.
  ApplyOptimizer(def, {.learning_rate = 0.125, .examples = 4, .t = 1}, w.data(), slots, kSums.data(), 0, 1);
  EXPECT_EQ(m[0], 0.5f);
  EXPECT_EQ(v[0], 0.25f);
  EXPECT_EQ(w[0], 0.875f);
  // Second: m = 0.75, v = 0.4375 with the correction sqrt(1 - 0.75^2) / (1 - 0.5^2).
  ApplyOptimizer(def, {.learning_rate = 0.125, .examples = 4, .t = 2}, w.data(), slots, kSums.data(), 0, 1);
  EXPECT_EQ(m[0], 0.75f);
  EXPECT_EQ(v[0], 0.4375f);
  EXPECT_FLOAT_EQ(w[0], 0.875f - 0.125f * std::sqrt(0.4375f) / 0.75f * 0.75f / std::sqrt(0.4375f));
}

TEST(OptimizerTest, AnyCutGivesTheSameBits) {
  constexpr int64_t kElements = 101;
  for (const auto kind : {OptimizerDef::Kind::kSgd, OptimizerDef::Kind::kMomentum, OptimizerDef::Kind::kAdagrad,
                          OptimizerDef::Kind::kAdam}) {
    std::vector<float> sums(kElements), whole(kElements), cut(kElements);
    for (int64_t i = 0; i < kElements; ++i) {
      sums[i] = std::sin(static_cast<float>(i));
      whole[i] = cut[i] = std::cos(static_cast<float>(i));
    }
    std::vector<float> a(kElements, 0.1f), b = a, c = a, d = a;
    float* whole_slots[] = {a.data(), b.data()};
    float* cut_slots[] = {c.data(), d.data()};
    const OptimizerUpdate update{.learning_rate = 0.1, .examples = 3, .t = 5};
    ApplyOptimizer(Def(kind), update, whole.data(), whole_slots, sums.data(), 0, kElements);
    for (const int64_t begin : {0, 1, 18, 50}) {
      const int64_t end = begin == 0 ? 1 : begin == 1 ? 18 : begin == 18 ? 50 : kElements;
      ApplyOptimizer(Def(kind), update, cut.data(), cut_slots, sums.data(), begin, end);
    }
    EXPECT_EQ(whole, cut);
    EXPECT_EQ(a, c);
    EXPECT_EQ(b, d);
  }
}

TEST(OptimizerTest, AttributesComeBackAsTheSameDefinition) {
  for (const auto kind : {OptimizerDef::Kind::kSgd, OptimizerDef::Kind::kMomentum, OptimizerDef::Kind::kAdagrad,
                          OptimizerDef::Kind::kAdam}) {
    OptimizerDef def = Def(kind);
    if (kind == OptimizerDef::Kind::kAdagrad) def.initial_accumulator = 0.5;
    if (kind == OptimizerDef::Kind::kAdam) def.beta2 = 0.5;
    COHORT_ASSERT_OK_AND_ASSIGN(const OptimizerDef parsed, ParseOptimizer(OptimizerAttributes(def)));
    EXPECT_EQ(parsed, def);
  }
}

TEST(OptimizerTest, SlotsHaveTensorFlowsNamesAndFirstValues) {
  EXPECT_TRUE(OptimizerSlots(OptimizerDef::Kind::kSgd).empty());
  EXPECT_EQ(OptimizerSlots(OptimizerDef::Kind::kMomentum)[0].name, "momentum");
  const auto adagrad = OptimizerSlots(OptimizerDef::Kind::kAdagrad);
  EXPECT_EQ(adagrad[0].name, "accumulator");
  EXPECT_EQ(InitialSlotValue(Def(OptimizerDef::Kind::kAdagrad), adagrad[0]), 0.1);
  const auto adam = OptimizerSlots(OptimizerDef::Kind::kAdam);
  ASSERT_EQ(adam.size(), 3u);
  EXPECT_EQ(adam[0].name, "m");
  EXPECT_EQ(adam[1].name, "v");
  EXPECT_TRUE(adam[2].is_counter);
}

TEST(OptimizerTest, UnknownNamesAndValuesOutOfRangeAreNamed) {
  EXPECT_THAT(ParseOptimizer({{"optimizer", std::string("lion")}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'lion'")));
  EXPECT_THAT(ParseOptimizer({{"optimizer", std::string("adam")}, {"beta1", 1.5}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("beta1 = 1.5")));
}

}  // namespace
}  // namespace cohort
