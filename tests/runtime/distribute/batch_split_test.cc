#include "runtime/distribute/batch_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace cohort {
namespace {

using ::testing::ElementsAreArray;

TEST(BatchSplitTest, PartsAreContiguousInRankOrderAndTheFirstAreLarger) {
  const struct {
    int64_t examples;
    std::vector<ExampleRange> parts;
  } kTable[] = {
      {8, {{0, 4}, {4, 8}}},
      {7, {{0, 4}, {4, 7}}},
      {7, {{0, 3}, {3, 5}, {5, 7}}},
      {104, {{0, 52}, {52, 104}}},
      {128, {{0, 43}, {43, 86}, {86, 128}}},
      {96, {{0, 24}, {24, 48}, {48, 72}, {72, 96}}},
      {1, {{0, 1}, {1, 1}}},
      {4, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 4}}},
      {0, {{0, 0}, {0, 0}, {0, 0}}},
      {5, {{0, 5}}},
  };
  for (const auto& row : kTable) {
    std::vector<ExampleRange> parts;
    for (size_t w = 0; w < row.parts.size(); ++w) parts.push_back(WorkerPart(row.examples, row.parts.size(), w));
    EXPECT_THAT(parts, ElementsAreArray(row.parts)) << row.examples << " over " << row.parts.size();
  }
}

TEST(BatchSplitTest, BatchesPerEpochRoundsUp) {
  EXPECT_EQ(BatchesPerEpoch(60000, 128), 469);
  EXPECT_EQ(BatchesPerEpoch(60000, 100), 600);
  EXPECT_EQ(BatchesPerEpoch(1000, 128), 8);
  EXPECT_EQ(BatchesPerEpoch(1, 128), 1);
  EXPECT_EQ(BatchesPerEpoch(0, 128), 0);
}

TEST(BatchSplitTest, TheLastBatchHoldsTheRest) {
  EXPECT_EQ(BatchRange(0, 1000, 128), (ExampleRange{0, 128}));
  EXPECT_EQ(BatchRange(6, 1000, 128), (ExampleRange{768, 896}));
  EXPECT_EQ(BatchRange(7, 1000, 128), (ExampleRange{896, 1000}));
  EXPECT_EQ(BatchRange(8, 1000, 128), (ExampleRange{1000, 1000}));
}

// Spec 7.12, one replica a worker: data, G, workers -> the steps.
TEST(BatchSplitTest, EveryWorkerHasAPartOfEveryBatch) {
  const struct {
    int64_t examples, global_batch;
    std::vector<std::vector<ExampleRange>> steps;
  } kTable[] = {
      {6, 4, {{{0, 2}, {2, 4}}, {{4, 5}, {5, 6}}}},
      {14, 8, {{{0, 4}, {4, 8}}, {{8, 11}, {11, 14}}}},
      {8, 3, {{{0, 2}, {2, 3}}, {{3, 5}, {5, 6}}, {{6, 7}, {7, 8}}}},
      {3, 2, {{{0, 1}, {1, 2}}, {{2, 3}, {3, 3}}}},
  };
  for (const auto& row : kTable) {
    ASSERT_EQ(BatchesPerEpoch(row.examples, row.global_batch), static_cast<int64_t>(row.steps.size()));
    for (size_t b = 0; b < row.steps.size(); ++b) {
      for (size_t w = 0; w < row.steps[b].size(); ++w) {
        EXPECT_EQ(WorkerBatchRange(b, row.examples, row.global_batch, row.steps[b].size(), w), row.steps[b][w])
            << "batch " << b << " of " << row.examples << " by " << row.global_batch << ", worker " << w;
      }
    }
  }
}

TEST(BatchSplitTest, PartsOfAllWorkersCoverTheEpochOnce) {
  for (int64_t n : {0, 1, 7, 128, 1000}) {
    for (int64_t g : {1, 3, 64, 128}) {
      for (int64_t workers : {1, 2, 3, 5}) {
        int64_t next = 0;
        for (int64_t b = 0; b < BatchesPerEpoch(n, g); ++b) {
          for (int64_t w = 0; w < workers; ++w) {
            const ExampleRange part = WorkerBatchRange(b, n, g, workers, w);
            ASSERT_EQ(part.begin, next);
            next = part.end;
          }
        }
        EXPECT_EQ(next, n);
      }
    }
  }
}

TEST(BatchSplitTest, DealingGivesEachBatchToOneWorker) {
  EXPECT_EQ(DealtBatches(469, 2, 0), 235);
  EXPECT_EQ(DealtBatches(469, 2, 1), 234);
  EXPECT_EQ(DealtBatches(2, 3, 2), 0);
  EXPECT_EQ(DealtSteps(1, 60000, 128), 469);
  EXPECT_EQ(DealtSteps(3, 1000, 128), 24);
}

}  // namespace
}  // namespace cohort
