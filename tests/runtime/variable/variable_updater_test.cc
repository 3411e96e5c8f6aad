#include "runtime/variable/variable_updater.h"

#include <gtest/gtest.h>

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

class VariableUpdaterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    COHORT_ASSERT_OK_AND_ASSIGN(variable_, store_.Create({"w", ""}, {DType::kF32, Shape{3}}, true));
    COHORT_ASSERT_OK(variable_->Assign(Tensor::Of<float>(Shape{3}, {1, 1, 1})));
  }

  VariableStore store_;
  Variable* variable_ = nullptr;
};

TEST_F(VariableUpdaterTest, AppliesTheMean) {
  COHORT_ASSERT_OK_AND_ASSIGN(VariableUpdater updater,
                              VariableUpdater::Create(store_, {"w", ""}, Def(OptimizerDef::Kind::kSgd)));
  const float sums[] = {4, -8, 2};
  updater.Apply(sums, 0.5, 4);
  COHORT_ASSERT_OK_AND_ASSIGN(const Tensor value, variable_->Snapshot());
  EXPECT_THAT(value.values<float>(), ElementsAre(0.5f, 2.0f, 0.75f));
}

TEST_F(VariableUpdaterTest, MakesSlotsAndCountsUpdates) {
  COHORT_ASSERT_OK_AND_ASSIGN(VariableUpdater updater,
                              VariableUpdater::Create(store_, {"w", ""}, Def(OptimizerDef::Kind::kAdam)));
  const float sums[] = {1, 1, 1};
  updater.Apply(sums, 0.5, 1);
  updater.Apply(sums, 0.5, 1);
  COHORT_ASSERT_OK_AND_ASSIGN(Variable * counter, store_.Find({"w", "t"}));
  COHORT_ASSERT_OK_AND_ASSIGN(const Tensor t, counter->Snapshot());
  EXPECT_EQ(t.values<int64_t>()[0], 2);
  COHORT_ASSERT_OK(store_.Find({"w", "m"}));
  COHORT_ASSERT_OK(store_.Find({"w", "v"}));
}

TEST_F(VariableUpdaterTest, KeepsSlotsThatAreThere) {
  COHORT_ASSERT_OK_AND_ASSIGN(Variable * slot, store_.Create({"w", "accumulator"}, {DType::kF32, Shape{3}}, false));
  COHORT_ASSERT_OK(slot->Assign(Tensor::Of<float>(Shape{3}, {5, 6, 7})));
  COHORT_ASSERT_OK(VariableUpdater::Create(store_, {"w", ""}, Def(OptimizerDef::Kind::kAdagrad)));
  COHORT_ASSERT_OK_AND_ASSIGN(const Tensor value, slot->Snapshot());
  EXPECT_THAT(value.values<float>(), ElementsAre(5, 6, 7));
}

TEST_F(VariableUpdaterTest, RefusesWhatIsNotFloat32) {
  COHORT_ASSERT_OK(store_.Create({"n", ""}, {DType::kI64, Shape{}}, true));
  EXPECT_THAT(VariableUpdater::Create(store_, {"n", ""}, Def(OptimizerDef::Kind::kSgd)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'n'")));
}

}  // namespace
}  // namespace cohort
