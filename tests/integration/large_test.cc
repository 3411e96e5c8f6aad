// Tensors far above gRPC's default message limit, between client, workers and a parameter server, without any setting.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/api.h"
#include "tests/integration/cohort.h"
#include "tests/testing/status_matchers.h"

namespace cohort::testing {
namespace {

constexpr int64_t kElements = 25'000'000;
const TensorSpec kBig{DType::kF32, {kElements}};

// Exact in float32, as are sums of a few of them; no two neighbours are alike.
Tensor Pattern(int64_t factor) {
  Tensor tensor(DType::kF32, {kElements});
  float* const values = tensor.mutable_values<float>().data();
  for (int64_t i = 0; i < kElements; ++i) values[i] = static_cast<float>(factor * (i % 65521 - 30000));
  return tensor;
}

Program ProgramOf(StrategyKind strategy) {
  Program program{.name = "large", .strategy = strategy};
  program.variables = {{"big", kBig, {.kind = Initializer::Kind::kConstant, .value = 7}}};
  program.loop.learning_rate = 1;
  return program;
}

std::unique_ptr<Cluster> Connect(const DaemonCluster& cluster) {
  return *Cluster::Connect({.address = cluster.leader_address(), .connect_timeout = absl::Seconds(10), .threads = 1});
}

TEST(LargeTest, IsAssignedReadAndReducedBitForBit) {
  DaemonCluster daemons(2, 0);
  daemons.StartAll();
  Program program = ProgramOf(StrategyKind::kMultiWorkerMirrored);
  FunctionBuilder f("exchange");
  const Value big = f.Variable("big", kBig);
  Assign(big, f.AddParameter("x", kBig));
  f.AddResult("value", ReadVariable(big));
  f.AddResult("sum", AllReduce(ReadVariable(big), "SUM"));
  COHORT_ASSERT_OK_AND_ASSIGN(program.functions["exchange"], f.Finish());
  const std::unique_ptr<Cluster> cluster = Connect(daemons);
  COHORT_ASSERT_OK_AND_ASSIGN(const auto session, Session::Open(*cluster, program));
  const std::vector<std::vector<Tensor>> feeds = {{Pattern(1)}, {Pattern(2)}};
  COHORT_ASSERT_OK_AND_ASSIGN(const auto results, session->Run("exchange", feeds, {"value", "sum"}));
  ASSERT_EQ(results.size(), 2);
  for (int worker = 0; worker < 2; ++worker) {
    EXPECT_TRUE(results[worker].fetched[0].BitwiseEquals(feeds[worker][0])) << worker;
    EXPECT_TRUE(results[worker].fetched[1].BitwiseEquals(Pattern(3))) << worker;
  }
}

// The value is pulled, its gradient pushed: w - 1 * x.
TEST(LargeTest, IsPulledAndPushedBitForBit) {
  DaemonCluster daemons(2, 1);
  daemons.StartAll();
  Program program = ProgramOf(StrategyKind::kParameterServer);
  FunctionBuilder f("exchange");
  const Value big = f.Variable("big", kBig);
  const Value x = f.AddParameter("x", kBig);
  const Value value = ReadVariable(big);
  f.AddResult("value", value);
  f.AddResult("loss", Sum(value * x), ResultRole::kLossSum);
  f.AddResult("examples", Size(ScalarConstant(f, DType::kF32, 0), DType::kI64), ResultRole::kExamples);
  ApplyGradient(big, x, {{"optimizer", std::string("sgd")}});
  COHORT_ASSERT_OK_AND_ASSIGN(program.functions["exchange"], f.Finish());
  const std::unique_ptr<Cluster> cluster = Connect(daemons);
  COHORT_ASSERT_OK_AND_ASSIGN(const auto session, Session::Open(*cluster, program));
  const std::vector<std::vector<Tensor>> feeds = {{Pattern(1)}, {Pattern(2)}};
  COHORT_ASSERT_OK(session->Run("exchange", feeds));
  COHORT_ASSERT_OK_AND_ASSIGN(const auto results, session->Run("exchange", feeds, {"value"}));
  const absl::Span<const float> first = results[0].fetched[0].values<float>();
  const Tensor sum = Pattern(3);
  const absl::Span<const float> pushed = sum.values<float>();
  // At least the first step of both is in it; the other's second may be.
  int64_t wrong = 0;
  for (int64_t i = 0; i < kElements; ++i) {
    const float left = 7 - pushed[i];
    wrong += first[i] != left && first[i] != left - pushed[i] / 3 * 2;
  }
  EXPECT_EQ(wrong, 0);
}

// Batches of 0 1 2 3 and 4 5 6 7 take off their means, 1.5 and 5.5. Every task's checksum goes into the job's.
absl::StatusOr<Program> TrainingProgram(StrategyKind strategy, const TensorSpec& spec = kBig) {
  Program program = ProgramOf(strategy);
  program.variables[0].spec = spec;
  FunctionBuilder f("train");
  const Value big = f.Variable("big", spec);
  const Value x = f.AddParameter("x", {DType::kI64, {Shape::kUnknown}});
  const Value sum = Sum(Cast(x, DType::kF32));
  f.AddResult("loss", sum, ResultRole::kLossSum);
  f.AddResult("examples", Size(x, DType::kI64), ResultRole::kExamples);
  ApplyGradient(big, BroadcastLike(sum, ReadVariable(big)), {{"optimizer", std::string("sgd")}});
  absl::StatusOr<Function> function = f.Finish();
  if (!function.ok()) return function.status();
  program.functions["train"] = *std::move(function);
  program.loop.train_function = "train";
  program.loop.train_dataset = {"Range", {{"stop", int64_t{8}}}, {}};
  program.loop.global_batch = 4;
  program.loop.epochs = 1;
  return program;
}

TEST(LargeTest, IsTrainedAlikeOnWorkersAndOnAParameterServer) {
  COHORT_ASSERT_OK_AND_ASSIGN(const Program alone, TrainingProgram(StrategyKind::kOneDevice));
  COHORT_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Cluster> in_process, Cluster::Connect());
  COHORT_ASSERT_OK_AND_ASSIGN(const JobResult expected, in_process->Train(alone));
  DaemonCluster daemons(2, 1);
  daemons.StartAll();
  const std::unique_ptr<Cluster> cluster = Connect(daemons);
  for (const StrategyKind strategy : {StrategyKind::kMultiWorkerMirrored, StrategyKind::kParameterServer}) {
    COHORT_ASSERT_OK_AND_ASSIGN(const Program program, TrainingProgram(strategy));
    COHORT_ASSERT_OK_AND_ASSIGN(const JobResult result, cluster->Train(program));
    EXPECT_EQ(result.steps, 2);
    EXPECT_EQ(result.workers.size(), 2);
    EXPECT_EQ(result.weights_crc32c, expected.weights_crc32c) << static_cast<int>(strategy);
  }
}

// 10 MB of values come with the program, which all members are given.
TEST(LargeTest, ItsProgramIsForgottenWithTheJob) {
  DaemonCluster daemons(2, 1);
  daemons.StartAll();
  const std::unique_ptr<Cluster> cluster = Connect(daemons);
  COHORT_ASSERT_OK_AND_ASSIGN(Program program, TrainingProgram(StrategyKind::kMultiWorkerMirrored, {DType::kF32, {4}}));
  const TensorSpec spec{DType::kF32, {2'500'000}};
  program.variables.push_back(
      {"values", spec, {.kind = Initializer::Kind::kTensor, .tensor = Tensor::Zeros(spec.dtype, spec.shape)}});
  const auto train = [&](int jobs) {
    for (int i = 0; i < jobs; ++i) COHORT_ASSERT_OK(cluster->Train(program));
  };
  // Not the leader: it holds several copies of a program for a moment, and its allocator keeps an uneven part of them.
  const std::vector<std::string> members = {"worker:1", "ps:0"};
  train(10);  // heaps have their size after some
  std::map<std::string, int64_t> early;
  for (const std::string& task : members) early[task] = ResourcesOf(daemons.daemon(task).pid()).resident_bytes;
  train(10);
  for (const std::string& task : members) {
    const int64_t grown = ResourcesOf(daemons.daemon(task).pid()).resident_bytes - early[task];
    EXPECT_LT(grown, 40'000'000) << task;  // of 100
    RecordProperty("grown_" + task, std::to_string(grown));
  }
}

}  // namespace
}  // namespace cohort::testing
