#include "runtime/variable/variable_store.h"

#include <gtest/gtest.h>

#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::HasCode;
using ::cohort::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const TensorSpec kSpec{DType::kF32, Shape{2}};

Tensor Floats(float a, float b) { return Tensor::Of<float>(Shape{2}, {a, b}); }

TEST(VariableTest, HasNoValueBeforeTheFirstWrite) {
  Variable variable({"w", ""}, kSpec, true);
  EXPECT_FALSE(variable.initialized());
  EXPECT_EQ(variable.data(), nullptr);
  EXPECT_THAT(variable.Snapshot(), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("'w'")));
  COHORT_ASSERT_OK(variable.Assign(Floats(1, 2)));
  EXPECT_TRUE(variable.initialized());
  EXPECT_EQ(variable.version(), 1);
}

TEST(VariableTest, SnapshotsNeverChange) {
  Variable variable({"w", ""}, kSpec, true);
  COHORT_ASSERT_OK(variable.Assign(Floats(1, 2)));
  COHORT_ASSERT_OK_AND_ASSIGN(const Tensor before, variable.Snapshot());
  float* memory = static_cast<float*>(variable.BeginWrite());
  EXPECT_EQ(memory[0], 1);  // the second buffer starts as a copy
  memory[0] = 7;
  variable.EndWrite();
  EXPECT_THAT(before.values<float>(), ElementsAre(1, 2));
  COHORT_ASSERT_OK_AND_ASSIGN(const Tensor after, variable.Snapshot());
  EXPECT_THAT(after.values<float>(), ElementsAre(7, 2));
}

TEST(VariableTest, WritesInPlaceWhenNoSnapshotIsOut) {
  Variable variable({"w", ""}, kSpec, true);
  COHORT_ASSERT_OK(variable.Assign(Floats(1, 2)));
  const void* memory = variable.data();
  { COHORT_ASSERT_OK_AND_ASSIGN(const Tensor returned, variable.Snapshot()); }
  COHORT_ASSERT_OK(variable.Assign(Floats(3, 4)));
  EXPECT_EQ(variable.data(), memory);
}

TEST(VariableTest, TakesItsSpareBufferAgain) {
  Variable variable({"w", ""}, kSpec, true);
  COHORT_ASSERT_OK(variable.Assign(Floats(1, 2)));
  const void* first = variable.data();
  {
    COHORT_ASSERT_OK_AND_ASSIGN(const Tensor lent, variable.Snapshot());
    COHORT_ASSERT_OK(variable.Assign(Floats(3, 4)));
  }
  COHORT_ASSERT_OK_AND_ASSIGN(const Tensor lent, variable.Snapshot());
  COHORT_ASSERT_OK(variable.Assign(Floats(5, 6)));
  EXPECT_EQ(variable.data(), first);
  EXPECT_THAT(lent.values<float>(), ElementsAre(3, 4));
}

TEST(VariableTest, AssignNamesBothSpecs) {
  Variable variable({"w", ""}, kSpec, true);
  EXPECT_THAT(variable.Assign(Tensor::Scalar<float>(1)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("float32 [2]")));
}

TEST(VariableStoreTest, CreatesFindsAndLists) {
  VariableStore store;
  COHORT_ASSERT_OK_AND_ASSIGN(Variable * w, store.Create({"w", ""}, kSpec, true));
  COHORT_ASSERT_OK_AND_ASSIGN(Variable * slot, store.Create({"w", "m"}, kSpec, false));
  COHORT_ASSERT_OK_AND_ASSIGN(Variable * b, store.Create({"b", ""}, kSpec, true));
  EXPECT_THAT(store.List(), ElementsAre(b, w, slot));
  EXPECT_THAT(store.Create({"w", ""}, kSpec, true), testing::IsOkAndHolds(w));
  EXPECT_THAT(store.Create({"w", ""}, {DType::kF32, Shape{3}}, true), HasCode(absl::StatusCode::kAlreadyExists));
  EXPECT_THAT(store.Find({"v", ""}), StatusIs(absl::StatusCode::kNotFound, HasSubstr("'v'")));
}

TEST(VariableStoreTest, ChecksumsOfWeightsLeaveSlotsOut) {
  VariableStore a, b;
  for (VariableStore* store : {&a, &b}) {
    COHORT_ASSERT_OK_AND_ASSIGN(Variable * w, store->Create({"w", ""}, kSpec, true));
    COHORT_ASSERT_OK(w->Assign(Floats(1, 2)));
    COHORT_ASSERT_OK_AND_ASSIGN(Variable * m, store->Create({"w", "m"}, kSpec, false));
    COHORT_ASSERT_OK(m->Assign(Floats(store == &a ? 3 : 4, 0)));
  }
  EXPECT_EQ(*a.WeightsCrc32c(), *b.WeightsCrc32c());
  EXPECT_NE(*a.StateCrc32c(1), *b.StateCrc32c(1));
  EXPECT_NE(*a.StateCrc32c(1), *a.StateCrc32c(2));
}

}  // namespace
}  // namespace cohort
