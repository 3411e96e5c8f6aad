// Rules of distributed data sets: batches, shards, unequal amounts of data.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/dataset/iterator.h"
#include "runtime/distribute/auto_shard.h"
#include "runtime/distribute/denominators.h"
#include "runtime/distribute/rebatch.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::IsOkAndHolds;
using ::cohort::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Sizes = std::vector<int64_t>;
using Policy = AutoShardPolicy;

std::string Text(const Sizes& values) { return absl::StrCat("[", absl::StrJoin(values, ","), "]"); }

// Pipelines as sharding sees them.
ShardNode Leaf(std::string kind) { return {.kind = std::move(kind)}; }
ShardNode Over(std::string kind, ShardNode input) {
  ShardNode node{.kind = std::move(kind)};
  node.inputs.push_back(std::move(input));
  return node;
}
ShardNode Batched(int64_t size, ShardNode input = Leaf("Range")) {
  ShardNode node = Over("Batch", std::move(input));
  node.batch_size = size;
  return node;
}
ShardNode Both(std::string kind, ShardNode a, ShardNode b) {
  ShardNode node{.kind = std::move(kind)};
  node.inputs = {std::move(a), std::move(b)};
  return node;
}
ShardNode Files(int64_t count) { return {.kind = "TFRecord", .files = count}; }

Sizes Iota(int64_t end, int64_t begin = 0) {
  Sizes values(end - begin);
  std::iota(values.begin(), values.end(), begin);
  return values;
}

// What a data set of `rows`, batched by `batch`, becomes on one worker: the batches of its replicas, one after the
// other.
std::vector<Sizes> OnWorker(const Sizes& rows, int64_t batch, const ShardPlan& plan, int64_t worker) {
  std::vector<ExampleRange> pieces;
  const auto count = static_cast<int64_t>(rows.size());
  if (plan.rebatch == RebatchRule::kSizes) {
    pieces = RebatchRanges(count, plan.batch_sizes(worker));
  } else {
    for (int64_t b = 0; b < BatchesPerEpoch(count, batch); ++b) {
      const ExampleRange whole = BatchRange(b, count, batch);
      const int64_t parts = plan.rebatch == RebatchRule::kSplit ? plan.num_workers * plan.replicas_per_worker : 1;
      for (int64_t p = 0; p < parts; ++p) {
        const ExampleRange piece = SplitPiece(whole.size(), parts, p);
        pieces.push_back({whole.begin + piece.begin, whole.begin + piece.end});
      }
    }
  }
  std::vector<Sizes> elements;
  for (size_t p = 0; p < pieces.size(); ++p) {
    if (plan.shard_pieces && !IsInShard(p, plan.num_workers, worker)) continue;
    elements.emplace_back(rows.begin() + pieces[p].begin, rows.begin() + pieces[p].end);
  }
  return elements;
}

// The steps of all workers as the table writes them, "[0,1] | [2,3] ; ...": step k of replica r is element k R + r of
// its worker; who has none takes part with an empty batch until nobody has one.
std::string Steps(const std::vector<std::vector<Sizes>>& workers, int64_t replicas_per_worker) {
  std::vector<std::string> steps;
  for (size_t step = 0;; ++step) {
    bool any = false;
    std::vector<std::string> parts;
    for (const std::vector<Sizes>& elements : workers) {
      std::vector<std::string> batches;
      for (int64_t r = 0; r < replicas_per_worker; ++r) {
        const size_t k = step * replicas_per_worker + r;
        any |= k < elements.size();
        batches.push_back(k < elements.size() ? Text(elements[k]) : "[]");
      }
      parts.push_back(absl::StrJoin(batches, " "));
    }
    if (!any) return absl::StrJoin(steps, " ; ");
    steps.push_back(absl::StrJoin(parts, " | "));
  }
}

// Of range(rows).batch(batch) on W workers with R replicas each.
std::string RangeSteps(int64_t rows, int64_t batch, int64_t workers, int64_t replicas, Policy policy,
                       const ShardNode* pipeline = nullptr, RebatchMode mode = RebatchMode::kTfExact) {
  const ShardNode node = pipeline != nullptr ? *pipeline : Batched(batch);
  const auto plan = PlanSharding(node, policy, workers, workers * replicas, mode);
  if (!plan.ok()) return plan.status().ToString();
  std::vector<std::vector<Sizes>> on_workers;
  for (int64_t w = 0; w < workers; ++w) on_workers.push_back(OnWorker(Iota(rows), batch, *plan, w));
  return Steps(on_workers, replicas);
}

TEST(DistributedDatasetTest, Rule7x1StepKOfReplicaRIsElementKRPlusR) {
  const auto plan = PlanSharding(Batched(8), Policy::kOff, 2, 4);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->rebatch, RebatchRule::kSizes);
  EXPECT_EQ(plan->prefetch, 2);
  EXPECT_EQ(RangeSteps(8, 4, 1, 2, Policy::kOff), "[0,1] [2,3] ; [4,5] [6,7]");
  // One replica: nothing is cut, nothing made ahead.
  const auto one = PlanSharding(Batched(8), Policy::kAuto, 1, 1);
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->rebatch, RebatchRule::kNone);
  EXPECT_EQ(one->prefetch, 0);
}

TEST(DistributedDatasetTest, Rule7x2WorkersHaveEqualNumbersOfReplicas) {
  EXPECT_THAT(PlanSharding(Batched(8), Policy::kAuto, 2, 3),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("same number of replicas")));
  const DatasetDef scalars{"LegacyRebatch", {{"num_replicas", int64_t{2}}}, {{"Range", {{"stop", int64_t{4}}}, {}}}};
  EXPECT_THAT(MakeIterator(scalars), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("batch")));
}

TEST(DistributedDatasetTest, Rule7x3GlobalBatchSizeIsInferred) {
  EXPECT_EQ(InferBatchSize(Batched(4)), 4);
  EXPECT_EQ(InferBatchSize(Over("Take", Batched(4))), 4);
  EXPECT_EQ(InferBatchSize(Over("Map", Batched(4))), -1);
  ShardNode dropped = Over("Map", Batched(4));  // with drop_remainder, so that the map's result has a static shape
  dropped.static_rows = 4;
  EXPECT_EQ(InferBatchSize(dropped), 4);
  EXPECT_EQ(InferBatchSize(Both("Zip", Batched(4), Batched(4))), 4);
  EXPECT_EQ(InferBatchSize(Both("Zip", Batched(4), Batched(8))), -1);
  for (const char* kind : {"Cache", "Filter", "Repeat", "Shard", "Shuffle", "Skip", "Take", "Prefetch", "Options",
                           "AssertCardinality", "ParseExample"}) {
    EXPECT_EQ(InferBatchSize(Over(kind, Batched(4))), 4) << kind;
  }
  EXPECT_EQ(InferBatchSize(Leaf("Range")), -1);
}

TEST(DistributedDatasetTest, Rule7x4SizeAndPolicyChooseTheRule) {
  const auto rule = [](const ShardNode& node, Policy policy, int64_t workers) {
    const auto plan = PlanSharding(node, policy, workers, 4);
    return plan.ok() ? plan->rebatch : RebatchRule::kNone;
  };
  for (const int64_t workers : {1, 2}) {
    for (const Policy policy : {Policy::kOff, Policy::kFile, Policy::kHint}) {
      EXPECT_EQ(rule(Batched(8, Files(4)), policy, workers), RebatchRule::kSizes);
      EXPECT_EQ(rule(Over("Map", Batched(8, Files(4))), policy, workers), RebatchRule::kSplit);
    }
    EXPECT_EQ(rule(Batched(8, Files(4)), Policy::kData, workers), RebatchRule::kSplit);
    EXPECT_EQ(rule(Batched(8), Policy::kAuto, workers), RebatchRule::kSplit);
    EXPECT_EQ(rule(Batched(8, Files(4)), Policy::kAuto, workers), RebatchRule::kSizes);
  }
}

TEST(DistributedDatasetTest, Rule7x5SizesOfBatches) {
  const struct {
    int64_t global_batch, workers, replicas, worker;
    Sizes list;
  } kTable[] = {
      {8, 2, 2, 0, {2, 2, 2, 2}}, {8, 2, 2, 1, {2, 2, 2, 2}}, {7, 2, 2, 0, {2, 2, 2, 1}},
      {7, 2, 2, 1, {2, 1, 2, 2}}, {4, 3, 1, 0, {2, 1, 1}},    {4, 3, 1, 1, {1, 1, 2}},
      {4, 3, 1, 2, {1, 2, 1}},    {3, 1, 2, 0, {2, 1}},       {4, 1, 5, 0, {1, 1, 1, 1, 0}},
  };
  for (const auto& row : kTable) {
    EXPECT_EQ(RebatchSizes(row.global_batch, row.workers, row.replicas, row.worker), row.list)
        << row.global_batch << " " << row.workers << " " << row.replicas << " " << row.worker;
  }
  for (int64_t g = 1; g <= 20; ++g) {
    for (int64_t workers = 1; workers <= 4; ++workers) {
      for (int64_t replicas = 1; replicas <= 3; ++replicas) {
        // The sizes of a list sum to G, and so do those of all workers in a step.
        const int64_t n = workers * replicas;
        for (int64_t step = 0; step < workers; ++step) {
          int64_t in_step = 0;
          for (int64_t w = 0; w < workers; ++w) {
            const Sizes sizes = RebatchSizes(g, workers, replicas, w);
            EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), int64_t{0}), g);
            for (int64_t r = 0; r < replicas; ++r) {
              const int64_t size = sizes[step * replicas + r];
              EXPECT_TRUE(size == g / n || size == g / n + 1);
              in_step += size;
            }
          }
          EXPECT_EQ(in_step, g);
        }
      }
    }
  }
}

TEST(DistributedDatasetTest, Rule7x6NewRuleCutsTheStream) {
  const struct {
    int64_t rows;
    Sizes list;
    const char* output;
  } kTable[] = {
      {8, {2, 2}, "[0,1][2,3][4,5][6,7]"},
      {5, {2, 2}, "[0,1][2,3][4]"},
      {8, {1, 1, 1, 1, 0}, "[0][1][2][3][][4][5][6][7][]"},
      {8, {1, 0}, "[0][][1][][2][][3][][4][][5][][6][][7][]"},
      {8, {0, 1}, "[][0][][1][][2][][3][][4][][5][][6][][7]"},  // and no empty one more
      {0, {0, 1}, ""},
  };
  for (const auto& row : kTable) {
    std::string output;
    for (const ExampleRange& range : RebatchRanges(row.rows, row.list)) output += Text(Iota(range.end, range.begin));
    EXPECT_EQ(output, row.output);
    // The data set does the same, whatever batches it gets.
    for (const int64_t batch : {1, 3, 20}) {
      const DatasetDef definition{"Rebatch",
                                  {{"batch_sizes", row.list}},
                                  {{"Batch", {{"batch_size", batch}}, {{"Range", {{"stop", row.rows}}, {}}}}}};
      COHORT_ASSERT_OK_AND_ASSIGN(const auto iterator, MakeIterator(definition));
      std::string made;
      for (Element element; *iterator->Next(element);) {
        const auto values = element[0].values<int64_t>();
        made += Text(Sizes(values.begin(), values.end()));
      }
      EXPECT_EQ(made, row.output) << batch;
    }
  }
}

TEST(DistributedDatasetTest, Rule7x7OldRuleSplitsEachBatch) {
  const struct {
    int64_t rows, batch, pieces;
    const char* output;
  } kTable[] = {
      {8, 4, 3, "[0,1][2,3][][4,5][6,7][]"},  {10, 4, 2, "[0,1][2,3][4,5][6,7][8][9]"},
      {9, 4, 2, "[0,1][2,3][4,5][6,7][8][]"}, {4, 4, 5, "[0][1][2][3][]"},
      {5, 5, 4, "[0,1][2,3][4][]"},
  };
  for (const auto& row : kTable) {
    std::string output;
    for (int64_t begin = 0; begin < row.rows; begin += row.batch) {
      const int64_t size = std::min(row.batch, row.rows - begin);
      for (int64_t p = 0; p < row.pieces; ++p) {
        const ExampleRange piece = SplitPiece(size, row.pieces, p);
        output += Text(Iota(begin + piece.end, begin + piece.begin));
      }
    }
    EXPECT_EQ(output, row.output);
    const DatasetDef definition{"LegacyRebatch",
                                {{"num_replicas", row.pieces}},
                                {{"Batch", {{"batch_size", row.batch}}, {{"Range", {{"stop", row.rows}}, {}}}}}};
    COHORT_ASSERT_OK_AND_ASSIGN(const auto iterator, MakeIterator(definition));
    std::string made;
    for (Element element; *iterator->Next(element);) {
      const auto values = element[0].values<int64_t>();
      made += Text(Sizes(values.begin(), values.end()));
    }
    EXPECT_EQ(made, row.output);
  }
}

TEST(DistributedDatasetTest, Rule7x8Policies) {
  EXPECT_EQ(static_cast<int>(Policy::kOff), -1);
  EXPECT_EQ(static_cast<int>(Policy::kAuto), 0);
  EXPECT_EQ(static_cast<int>(Policy::kFile), 1);
  EXPECT_EQ(static_cast<int>(Policy::kData), 2);
  EXPECT_EQ(static_cast<int>(Policy::kHint), 3);
  const ShardNode files = Batched(8, Files(4));
  const auto plan = [&](Policy policy, int64_t workers) { return *PlanSharding(files, policy, workers, 4); };
  for (const int64_t workers : {1, 2}) {
    EXPECT_FALSE(plan(Policy::kOff, workers).shard_files || plan(Policy::kOff, workers).shard_pieces);
    EXPECT_EQ(plan(Policy::kFile, workers).shard_files, workers > 1);
    EXPECT_EQ(plan(Policy::kData, workers).shard_pieces, workers > 1);
    EXPECT_EQ(plan(Policy::kAuto, workers).policy, Policy::kFile);
    EXPECT_EQ(PlanSharding(Batched(8), Policy::kAuto, workers, 4)->policy, Policy::kData);
    EXPECT_TRUE(plan(Policy::kHint, workers).shard_hints);
  }
}

TEST(DistributedDatasetTest, Rule7x9FilesAreFoundFromTheEnd) {
  const auto readers = [](const ShardNode& node) { return FindFileReaders(node); };
  using Paths = std::vector<std::vector<int>>;
  EXPECT_THAT(readers(Files(10)), IsOkAndHolds(Paths{{}}));
  ShardNode node = Files(10);
  int depth = 0;
  for (const char* kind : {"Batch", "Map", "Filter", "Shuffle", "Repeat", "Take", "Skip", "Cache", "Prefetch",
                           "PaddedBatch", "Window", "Options", "AssertCardinality"}) {
    node = Over(kind, std::move(node));
    EXPECT_THAT(readers(node), IsOkAndHolds(Paths{std::vector<int>(++depth, 0)})) << kind;
  }
  EXPECT_THAT(readers(Both("Zip", Files(2), Over("Map", Files(2)))), IsOkAndHolds(Paths{{0}, {1, 0}}));
  EXPECT_THAT(readers(Both("Concatenate", Files(2), Leaf("Range"))), StatusIs(absl::StatusCode::kNotFound));
  ShardNode interleave = Over("Interleave", Leaf("FromTensorSlices"));
  interleave.function_reads_files = true;
  EXPECT_THAT(readers(Over("Batch", interleave)), IsOkAndHolds(Paths{{0}}));
  for (const char* source : {"Range", "FromTensors", "FromTensorSlices", "Generator"}) {
    EXPECT_THAT(readers(Batched(2, Leaf(source))),
                StatusIs(absl::StatusCode::kNotFound, HasSubstr("unshardable source")));
  }
  EXPECT_THAT(readers(Over("Frobnicate", Files(2))), StatusIs(absl::StatusCode::kNotFound, HasSubstr("Frobnicate")));
  ShardNode constant = Files(3);
  constant.constant_file_names = true;
  EXPECT_THAT(readers(constant), StatusIs(absl::StatusCode::kNotFound));
  // For FILE that is an error, AUTO takes DATA.
  EXPECT_THAT(PlanSharding(Batched(4), Policy::kFile, 2, 2), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(PlanSharding(Batched(4), Policy::kAuto, 2, 2)->policy, Policy::kData);

  const auto files_of = [](int64_t workers, int64_t worker) {
    Sizes own;
    for (int64_t f = 0; f < 10; ++f) {
      if (IsInShard(f, workers, worker)) own.push_back(f);
    }
    return own;
  };
  EXPECT_THAT(files_of(5, 3), ElementsAre(3, 8));
  EXPECT_THAT(files_of(3, 0), ElementsAre(0, 3, 6, 9));
  EXPECT_THAT(files_of(3, 1), ElementsAre(1, 4, 7));
  EXPECT_THAT(files_of(3, 2), ElementsAre(2, 5, 8));
}

TEST(DistributedDatasetTest, Rule7x10TooFewInputs) {
  for (const Policy policy : {Policy::kFile, Policy::kData, Policy::kHint}) {
    for (const int64_t worker : {0, 1, 2}) {  // on all workers alike, with the true count
      EXPECT_THAT(CheckShardInputs(policy, 2, 3, worker),
                  StatusIs(absl::StatusCode::kInvalidArgument,
                           AllOf(HasSubstr(absl::StrCat("Could not apply ", AutoShardPolicyName(policy))),
                                 HasSubstr("has 2"), HasSubstr("not enough for the required 3 shards/workers"))));
    }
    COHORT_EXPECT_OK(CheckShardInputs(policy, 0, 3, 1));
    COHORT_EXPECT_OK(CheckShardInputs(policy, 3, 3, 2));
  }
  EXPECT_THAT(CheckShardInputs(Policy::kData, 9, 0, 0), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(CheckShardInputs(Policy::kData, 9, 3, 3), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(CheckShardInputs(Policy::kData, 9, 3, -1), StatusIs(absl::StatusCode::kInvalidArgument));
}

// Fewer files than workers.
TEST(DistributedDatasetTest, Rule7x10OneFileOnTwoWorkers) {
  EXPECT_THAT(PlanSharding(Batched(2, Files(1)), Policy::kFile, 2, 2),
              StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("1 files"), HasSubstr("2 shards/workers"))));
  const auto automatic = PlanSharding(Batched(2, Files(1)), Policy::kAuto, 2, 2);
  ASSERT_TRUE(automatic.ok());
  EXPECT_EQ(automatic->policy, Policy::kData);
  EXPECT_THAT(automatic->warning, HasSubstr("1 files"));
  std::multiset<int64_t> all;
  for (const int64_t w : {0, 1}) {
    for (const Sizes& batch : OnWorker(Iota(10), 2, *automatic, w)) all.insert(batch.begin(), batch.end());
  }
  const Sizes expected = Iota(10);
  EXPECT_EQ(all, std::multiset<int64_t>(expected.begin(), expected.end()));
  // f0, f1, f2: worker 0 reads f0 and f2.
  EXPECT_TRUE(IsInShard(0, 2, 0) && IsInShard(2, 2, 0) && IsInShard(1, 2, 1));
}

TEST(DistributedDatasetTest, Rule7x11Hints) {
  const ShardNode hinted = Batched(10, Over("ShardHint", Leaf("Range")));
  EXPECT_TRUE(PlanSharding(hinted, Policy::kHint, 10, 10)->shard_hints);
  EXPECT_THAT(PlanSharding(hinted, Policy::kAuto, 10, 10), StatusIs(absl::StatusCode::kFailedPrecondition));
  const DatasetDef dealt{
      "Shard", {{"num_shards", int64_t{10}}, {"index", int64_t{0}}}, {{"Range", {{"stop", int64_t{100}}}, {}}}};
  COHORT_ASSERT_OK_AND_ASSIGN(const auto iterator, MakeIterator(dealt));
  Sizes values;
  for (Element element; *iterator->Next(element);) values.push_back(element[0].values<int64_t>()[0]);
  EXPECT_THAT(values, ElementsAre(0, 10, 20, 30, 40, 50, 60, 70, 80, 90));
}

TEST(DistributedDatasetTest, Rule7x12StepsOfAllWorkers) {
  const struct {
    int64_t rows, batch, workers, replicas;
    std::vector<Policy> policies;
    const char* steps;
  } kTable[] = {
      {4, 2, 1, 2, {Policy::kOff, Policy::kAuto, Policy::kData, Policy::kHint}, "[0] [1] ; [2] [3]"},
      {6, 4, 1, 2, {Policy::kAuto, Policy::kData}, "[0,1] [2,3] ; [4] [5]"},
      {6, 4, 1, 2, {Policy::kOff}, "[0,1] [2,3] ; [4,5] []"},
      {14, 8, 1, 2, {Policy::kAuto, Policy::kData}, "[0,1,2,3] [4,5,6,7] ; [8,9,10] [11,12,13]"},
      {14, 8, 1, 2, {Policy::kOff}, "[0,1,2,3] [4,5,6,7] ; [8,9,10,11] [12,13]"},
      {10, 7, 1, 4, {Policy::kAuto}, "[0,1] [2,3] [4,5] [6] ; [7] [8] [9] []"},
      {10, 7, 1, 4, {Policy::kOff}, "[0,1] [2,3] [4,5] [6] ; [7,8] [9] [] []"},
      {4, 4, 1, 5, {Policy::kAuto, Policy::kOff}, "[0] [1] [2] [3] []"},
      {4, 4, 1, 3, {Policy::kAuto}, "[0,1] [2,3] []"},
      {4, 4, 1, 3, {Policy::kOff}, "[0,1] [2] [3]"},
      {12, 4, 2, 1, {Policy::kAuto, Policy::kData}, "[0,1] | [2,3] ; [4,5] | [6,7] ; [8,9] | [10,11]"},
      {12,
       4,
       2,
       1,
       {Policy::kOff},
       "[0,1] | [0,1] ; [2,3] | [2,3] ; [4,5] | [4,5] ; [6,7] | [6,7] ; [8,9] | [8,9] ; [10,11] | [10,11]"},
      {14, 8, 2, 1, {Policy::kAuto, Policy::kData}, "[0,1,2,3] | [4,5,6,7] ; [8,9,10] | [11,12,13]"},
      {8, 3, 2, 1, {Policy::kAuto, Policy::kData}, "[0,1] | [2] ; [3,4] | [5] ; [6] | [7]"},
      {8, 3, 2, 1, {Policy::kOff}, "[0,1] | [0] ; [2] | [1,2] ; [3,4] | [3] ; [5] | [4,5] ; [6,7] | [6] ; [] | [7]"},
      {9, 2, 2, 1, {Policy::kAuto, Policy::kData}, "[0] | [1] ; [2] | [3] ; [4] | [5] ; [6] | [7] ; [8] | []"},
      {15,
       4,
       2,
       2,
       {Policy::kAuto, Policy::kData},
       "[0] [2] | [1] [3] ; [4] [6] | [5] [7] ; [8] [10] | [9] [11] ; [12] [14] | [13] []"},
      {8, 4, 3, 1, {Policy::kAuto, Policy::kData}, "[0,1] | [2,3] | [] ; [4,5] | [6,7] | []"},
      {10, 7, 2, 2, {Policy::kAuto, Policy::kData}, "[0,1] [4,5] | [2,3] [6] ; [7] [9] | [8] []"},
  };
  for (const auto& row : kTable) {
    for (const Policy policy : row.policies) {
      EXPECT_EQ(RangeSteps(row.rows, row.batch, row.workers, row.replicas, policy), row.steps)
          << AutoShardPolicyName(policy);
    }
  }
  const ShardNode mapped = Over("Map", Batched(8));
  EXPECT_EQ(RangeSteps(12, 8, 2, 1, Policy::kOff, &mapped),
            "[0,1,2,3] | [0,1,2,3] ; [4,5,6,7] | [4,5,6,7] ; [8,9] | [8,9] ; [10,11] | [10,11]");
}

TEST(DistributedDatasetTest, Rule7x12StepsFromFiles) {
  const auto steps = [](const std::vector<Sizes>& files, int64_t batch, int64_t replicas, Policy policy) {
    const auto plan = PlanSharding(Batched(batch, Files(2)), policy, 2, 2 * replicas);
    std::vector<std::vector<Sizes>> workers;
    for (int64_t w = 0; w < 2; ++w) workers.push_back(OnWorker(files[w], batch, *plan, w));
    return Steps(workers, replicas);
  };
  for (const Policy policy : {Policy::kFile, Policy::kAuto}) {
    EXPECT_EQ(steps({Iota(6), Iota(12, 6)}, 4, 1, policy), "[0,1] | [6,7] ; [2,3] | [8,9] ; [4,5] | [10,11]");
  }
  EXPECT_EQ(steps({Iota(7), Iota(17, 10)}, 7, 2, Policy::kFile),
            "[0,1] [2,3] | [10,11] [12] ; [4,5] [6] | [13,14] [15,16]");
  EXPECT_EQ(steps({Iota(5), Iota(109, 100)}, 4, 1, Policy::kFile),
            "[0,1] | [100,101] ; [2,3] | [102,103] ; [4] | [104,105] ; [] | [106,107] ; [] | [108]");
}

TEST(DistributedDatasetTest, Rule7x13OneRuleForAllPoliciesIfWanted) {
  const ShardNode node = Batched(8);
  EXPECT_EQ(RangeSteps(14, 8, 1, 2, Policy::kAuto, &node, RebatchMode::kAlwaysNew),
            RangeSteps(14, 8, 1, 2, Policy::kOff, &node, RebatchMode::kAlwaysNew));
  EXPECT_EQ(RangeSteps(14, 8, 2, 1, Policy::kAuto, &node, RebatchMode::kAlwaysNew),
            "[0,1,2,3] | [4,5,6,7] ; [8,9,10,11] | [12,13]");
}

TEST(DistributedDatasetTest, Rule7x14PrefetchIsTheReplicasOfTheWorker) {
  EXPECT_EQ(PlanSharding(Batched(8), Policy::kAuto, 2, 4)->prefetch, 2);
  EXPECT_EQ(PlanSharding(Batched(8), Policy::kAuto, 1, 4)->prefetch, 4);
  EXPECT_EQ(PlanSharding(Batched(8), Policy::kAuto, 1, 1)->prefetch, 0);
}

// The last partial batch: a mean of all examples, not of means.
TEST(DistributedDatasetTest, Rule7x27MeansDivideByWhatIsThere) {
  EXPECT_EQ(RangeSteps(14, 8, 1, 2, Policy::kOff), "[0,1,2,3] [4,5,6,7] ; [8,9,10,11] [12,13]");
  EXPECT_EQ(MeanOf(8 + 9 + 10 + 11 + 12 + 13, 6), 10.5);
  EXPECT_EQ(MeanOf(0, 0), 0.0);  // a step of empty batches
}

}  // namespace
}  // namespace cohort
