// A steady step allocates nothing: every call of malloc in this process is counted by thread.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "client/models/training_program.h"
#include "runtime/executor/step_executor.h"
#include "runtime/variable/initializer.h"
#include "tests/testing/status_matchers.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COHORT_COUNTS_ALLOCATIONS 1

namespace {
thread_local int64_t allocations = 0;
}  // namespace

// glibc's own entry points; operator new comes through malloc.
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  ++allocations;
  return __libc_calloc(count, bytes);
}
void* realloc(void* block, size_t bytes) {
  ++allocations;
  return __libc_realloc(block, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  ++allocations;
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** block, size_t alignment, size_t bytes) {
  ++allocations;
  *block = __libc_memalign(alignment, bytes);
  return *block == nullptr ? 12 : 0;
}
}
#endif

namespace cohort {
namespace {

class AllocationTest : public ::testing::TestWithParam<const char*> {};

TEST_P(AllocationTest, SteadyStepsAllocateNothing) {
#ifndef COHORT_COUNTS_ALLOCATIONS
  GTEST_SKIP() << "the sanitizer owns malloc";
#else
  TrainOptions options;
  options.model = GetParam();
  options.dataset = "synthetic";
  options.optimizer = "adam";
  COHORT_ASSERT_OK_AND_ASSIGN(const Program program, MakeTrainingProgram(options));
  VariableStore store;
  for (const VariableDef& def : program.variables) {
    COHORT_ASSERT_OK_AND_ASSIGN(Variable * variable, store.Create({def.name, ""}, def.spec, def.trainable));
    COHORT_ASSERT_OK_AND_ASSIGN(const Tensor value, InitialValue(def, 1));
    COHORT_ASSERT_OK(variable->Assign(value));
  }
  TilePool tiles(2);
  COHORT_ASSERT_OK_AND_ASSIGN(auto executor,
                              StepExecutor::Create(program.functions.at("train"), {}, store, nullptr, nullptr, tiles));
  const Element slots[2] = {
      {Tensor::Zeros(DType::kF32, {4, 28, 28, 1}), Tensor::Zeros(DType::kI32, {4})},
      {Tensor::Zeros(DType::kF32, {4, 28, 28, 1}), Tensor::Zeros(DType::kI32, {4})},
  };
  StepHeader header;
  uint64_t hash = 0;
  int64_t before = 0;
  for (int64_t step = 1; step <= 110; ++step) {
    if (step == 10) before = allocations;
    ASSERT_TRUE(executor->Run({.step = step, .learning_rate = 0.01, .batch = &slots[step % 2]}, header).ok());
    if (step == 1) hash = executor->launch_hash();
  }
  EXPECT_EQ(allocations, before);
  EXPECT_GT(before, 0);  // the counter works
  EXPECT_EQ(executor->launch_hash(), hash);
#endif
}

INSTANTIATE_TEST_SUITE_P(Models, AllocationTest, ::testing::Values("linear", "mlp", "cnn"));

}  // namespace
}  // namespace cohort
