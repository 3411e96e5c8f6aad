#include "runtime/dataset/iterator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/crc32c.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::IsOkAndHolds;
using ::cohort::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

DatasetDef Node(std::string kind, Attributes attributes, DatasetDef input) {
  return {std::move(kind), std::move(attributes), {std::move(input)}};
}

// Images of one element whose value tells which example it is: see Ids.
DatasetDef Examples(int64_t count, int64_t seed = 0) {
  return {"Synthetic", {{"examples", count}, {"shape", Shape{2}}, {"classes", int64_t{1000}}, {"seed", seed}}, {}};
}

DatasetDef Batch(int64_t size, DatasetDef input) { return Node("Batch", {{"batch_size", size}}, std::move(input)); }

DatasetDef WorkerBatch(const char* kind, int64_t size, int64_t workers, int64_t index, DatasetDef input) {
  return Node(kind, {{"batch_size", size}, {"num_workers", workers}, {"index", index}}, std::move(input));
}

// The first of the two floats identifies an example well enough.
float Id(absl::Span<const float> images, int64_t row) { return images[2 * row]; }

std::unique_ptr<DatasetIterator> Make(const DatasetDef& definition) {
  auto iterator = MakeIterator(definition);
  EXPECT_TRUE(iterator.ok()) << iterator.status();
  return iterator.ok() ? *std::move(iterator) : nullptr;
}

// All batches of an epoch as positions in the plain sequence of `count` examples.
std::vector<std::vector<int64_t>> Epoch(const DatasetDef& definition, int64_t count, int64_t epoch = 0) {
  std::vector<float> ids;
  auto plain = Make(Examples(count));
  Element element;
  while (*plain->Next(element)) ids.push_back(Id(element[0].values<float>(), 0));
  std::vector<std::vector<int64_t>> batches;
  auto iterator = Make(definition);
  EXPECT_THAT(iterator->Reset(epoch), cohort::testing::IsOk());
  while (*iterator->Next(element)) {
    std::vector<int64_t>& batch = batches.emplace_back();
    for (int64_t row = 0; row < element[0].shape().dim(0); ++row) {
      const float id = Id(element[0].values<float>(), row);
      batch.push_back(std::find(ids.begin(), ids.end(), id) - ids.begin());
    }
  }
  EXPECT_EQ(iterator->cardinality(), static_cast<int64_t>(batches.size()));
  return batches;
}

using Batches = std::vector<std::vector<int64_t>>;

TEST(IteratorTest, BatchesInOrderWithAShortLastOne) {
  EXPECT_EQ(Epoch(Batch(4, Examples(10)), 10), (Batches{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}}));
  DatasetDef drop = Batch(4, Examples(10));
  drop.attributes["drop_remainder"] = true;
  EXPECT_EQ(Epoch(drop, 10), (Batches{{0, 1, 2, 3}, {4, 5, 6, 7}}));
}

TEST(IteratorTest, GlobalBatchGivesEachWorkerItsPart) {
  EXPECT_EQ(Epoch(WorkerBatch("GlobalBatch", 3, 2, 0, Examples(8)), 8), (Batches{{0, 1}, {3, 4}, {6}}));
  EXPECT_EQ(Epoch(WorkerBatch("GlobalBatch", 3, 2, 1, Examples(8)), 8), (Batches{{2}, {5}, {7}}));
  // A worker without an example still has a batch.
  EXPECT_EQ(Epoch(WorkerBatch("GlobalBatch", 2, 2, 1, Examples(9)), 9), (Batches{{1}, {3}, {5}, {7}, {}}));
}

TEST(IteratorTest, DealtBatchesGoToWorkersInTurn) {
  EXPECT_EQ(Epoch(WorkerBatch("DealtBatch", 2, 2, 0, Examples(9)), 9), (Batches{{0, 1}, {4, 5}, {8}}));
  EXPECT_EQ(Epoch(WorkerBatch("DealtBatch", 2, 2, 1, Examples(9)), 9), (Batches{{2, 3}, {6, 7}}));
}

TEST(IteratorTest, ShufflingIsTheSameForAnyNumberOfWorkers) {
  const auto shuffled = [] { return Node("Shuffle", {{"seed", int64_t{5}}}, Examples(103)); };
  for (int64_t epoch : {0, 1}) {
    const Batches whole = Epoch(Batch(16, shuffled()), 103, epoch);
    std::vector<int64_t> all;
    for (const auto& batch : whole) all.insert(all.end(), batch.begin(), batch.end());
    EXPECT_FALSE(std::is_sorted(all.begin(), all.end()));
    EXPECT_EQ(std::set<int64_t>(all.begin(), all.end()).size(), 103u);
    for (int64_t workers : {2, 3, 5}) {
      Batches joined(whole.size());
      for (int64_t w = 0; w < workers; ++w) {
        const Batches part = Epoch(WorkerBatch("GlobalBatch", 16, workers, w, shuffled()), 103, epoch);
        ASSERT_EQ(part.size(), whole.size());
        for (size_t b = 0; b < part.size(); ++b) joined[b].insert(joined[b].end(), part[b].begin(), part[b].end());
      }
      EXPECT_EQ(joined, whole) << workers << " workers, epoch " << epoch;
    }
  }
  EXPECT_NE(Epoch(Batch(16, shuffled()), 103, 0), Epoch(Batch(16, shuffled()), 103, 1));
}

TEST(IteratorTest, TransformationsWorkOnBatchesToo) {
  DatasetDef some = Node("Take", {{"count", int64_t{2}}}, Node("Skip", {{"count", int64_t{1}}}, Batch(2, Examples(9))));
  EXPECT_EQ(Epoch(some, 9), (Batches{{2, 3}, {4, 5}}));
  DatasetDef shard = Node("Shard", {{"num_shards", int64_t{3}}, {"index", int64_t{1}}}, Batch(2, Examples(9)));
  EXPECT_EQ(Epoch(shard, 9), (Batches{{2, 3}, {8}}));
  DatasetDef twice = Node("Repeat", {{"count", int64_t{2}}}, Batch(4, Examples(6)));
  EXPECT_EQ(Epoch(twice, 6), (Batches{{0, 1, 2, 3}, {4, 5}, {0, 1, 2, 3}, {4, 5}}));
  // Repeated before it is batched, an epoch's end falls within a batch.
  EXPECT_EQ(Epoch(Batch(4, Node("Repeat", {{"count", int64_t{2}}}, Examples(6))), 6),
            (Batches{{0, 1, 2, 3}, {4, 5, 0, 1}, {2, 3, 4, 5}}));
}

TEST(IteratorTest, ABatchMayBeLargerThanTheDataSet) {
  COHORT_ASSERT_OK_AND_ASSIGN(const auto iterator, MakeIterator(Batch(INT64_MAX, Examples(4))));
  Element element;
  COHORT_ASSERT_OK(iterator->Next(element));
  EXPECT_EQ(element[0].shape().dim(0), 4);
}

TEST(IteratorTest, PrefetchChangesNothing) {
  const DatasetDef plain = WorkerBatch("GlobalBatch", 5, 2, 1, Node("Shuffle", {}, Examples(33)));
  const DatasetDef ahead = Node("Prefetch", {{"buffer_size", int64_t{3}}}, plain);
  for (int64_t epoch : {0, 4}) EXPECT_EQ(Epoch(ahead, 33, epoch), Epoch(plain, 33, epoch));
}

TEST(IteratorTest, EndlessOnesHaveNoCardinality) {
  auto iterator = Make(Batch(4, Node("Repeat", {}, Examples(6))));
  EXPECT_EQ(iterator->cardinality(), -1);
  Element element;
  for (int i = 0; i < 100; ++i) ASSERT_THAT(iterator->Next(element), IsOkAndHolds(true));
}

TEST(IteratorTest, SpecsKnowAllButTheBatch) {
  auto examples = Make(Examples(10));
  EXPECT_THAT(examples->element_spec(),
              ElementsAre(TensorSpec{DType::kF32, Shape{2}}, TensorSpec{DType::kI32, Shape{}}));
  auto batches = Make(Batch(4, Examples(10)));
  EXPECT_THAT(batches->element_spec(),
              ElementsAre(TensorSpec{DType::kF32, Shape{-1, 2}}, TensorSpec{DType::kI32, Shape{-1}}));
  Element element;
  ASSERT_THAT(batches->Next(element), IsOkAndHolds(true));
  EXPECT_EQ(element[0].shape(), (Shape{4, 2}));
  EXPECT_EQ(element[1].shape(), (Shape{4}));
}

TEST(IteratorTest, ElementsKeepTheirMemory) {
  auto iterator = Make(Batch(4, Examples(10)));
  Element element;
  std::set<const void*> memory;
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    COHORT_ASSERT_OK(iterator->Reset(epoch));
    while (*iterator->Next(element)) memory.insert(element[0].data());
  }
  EXPECT_EQ(memory.size(), 1u);
}

TEST(IteratorTest, ATensorThatSomebodyHoldsIsNotOverwritten) {
  auto iterator = Make(Batch(4, Examples(10)));
  Element element;
  ASSERT_THAT(iterator->Next(element), IsOkAndHolds(true));
  const Tensor held = element[0];
  const Tensor copy = held.Clone();
  ASSERT_THAT(iterator->Next(element), IsOkAndHolds(true));
  EXPECT_TRUE(held.BitwiseEquals(copy));
  EXPECT_FALSE(element[0].BitwiseEquals(copy));
}

TEST(IteratorTest, SyntheticExamplesAreInRangeAndOfTheirClass) {
  const DatasetDef definition = {"Synthetic", {{"examples", int64_t{200}}, {"classes", int64_t{3}}}, {}};
  auto iterator = Make(Batch(200, definition));
  Element element;
  ASSERT_THAT(iterator->Next(element), IsOkAndHolds(true));
  EXPECT_EQ(element[0].shape(), (Shape{200, 28, 28, 1}));
  for (const float x : element[0].values<float>()) ASSERT_TRUE(x >= 0.0f && x < 1.0f) << x;
  std::set<int32_t> labels(element[1].values<int32_t>().begin(), element[1].values<int32_t>().end());
  EXPECT_THAT(labels, ElementsAre(0, 1, 2));
}

TEST(IteratorTest, SyntheticExamplesDoNotDependOnHowManyThereAre) {
  const DatasetDef later = Node("Skip", {{"count", int64_t{10}}}, Examples(15));
  EXPECT_EQ(Epoch(Batch(5, later), 15), (Batches{{10, 11, 12, 13, 14}}));
}

DatasetDef Fashion(std::string split, int64_t examples, std::string directory = "") {
  DatasetDef definition{"FashionMnist", {{"split", std::move(split)}, {"examples", examples}}, {}};
  if (!directory.empty()) definition.attributes["directory"] = std::move(directory);
  return definition;
}

TEST(IteratorTest, FashionMnistHasPixelsOver255AndLabels) {
  auto iterator = Make(Batch(100, Fashion("test", 100)));
  Element element;
  ASSERT_THAT(iterator->Next(element), IsOkAndHolds(true));
  EXPECT_EQ(element[0].spec(), (TensorSpec{DType::kF32, Shape{100, 28, 28, 1}}));
  EXPECT_EQ(element[1].spec(), (TensorSpec{DType::kI32, Shape{100}}));
  const std::vector<int32_t> first(element[1].values<int32_t>().begin(), element[1].values<int32_t>().begin() + 8);
  EXPECT_THAT(first, ElementsAre(9, 2, 1, 1, 6, 1, 4, 6));
  // Times 255 the pixels come back; the checksum is that of the file's bytes.
  std::string pixels;
  for (const float x : element[0].values<float>()) {
    const auto pixel = static_cast<unsigned char>(x * 255.0f + 0.5f);
    ASSERT_EQ(x, static_cast<float>(pixel) / 255.0f);
    pixels.push_back(static_cast<char>(pixel));
  }
  EXPECT_EQ(Crc32c(pixels), 0xd1a2e1dd);
  EXPECT_THAT(iterator->Next(element), IsOkAndHolds(false));
}

TEST(IteratorTest, FashionMnistTakesItsFirstExamples) {
  EXPECT_EQ(Make(Batch(128, Fashion("train", 1000)))->cardinality(), 8);
  EXPECT_THAT(MakeIterator(Fashion("test", 10001)),
              StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("10001"), HasSubstr("10000"))));
  EXPECT_THAT(MakeIterator(Fashion("val", 0)), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'val'")));
}

TEST(IteratorTest, MissingFilesAreNamedWithTheirPackage) {
  EXPECT_THAT(
      MakeIterator(Fashion("train", 0, "tests/testdata/nowhere")),
      StatusIs(absl::StatusCode::kNotFound, AllOf(HasSubstr("tests/testdata/nowhere/train-images-idx3-ubyte.gz"),
                                                  HasSubstr("apt-get install dataset-fashion-mnist"))));
}

TEST(IteratorTest, BadDefinitionsAreNamed) {
  const struct {
    DatasetDef definition;
    const char* message;
  } kTable[] = {
      {{"Imagenet", {}, {}}, "there is no data set 'Imagenet'; known: FashionMnist, Synthetic"},
      {Batch(0, Examples(4)), "data set 'Batch': batch_size is 0"},
      {Batch(4, Batch(4, Examples(4))), "batches already"},
      {{"Batch", {{"batch_size", int64_t{4}}}, {}}, "0 inputs, needs 1"},
      {Node("Shuffle", {{"sed", int64_t{4}}}, Examples(4)), "no attribute 'sed'; it has: seed"},
      {Node("Shuffle", {{"seed", 4.0}}, Examples(4)), "seed"},
      {Node("Shard", {{"num_shards", int64_t{2}}, {"index", int64_t{2}}}, Examples(4)),
       "index is 2, must be less than"},
      {Node("Shard", {{"num_shards", int64_t{2}}}, Examples(4)), "index"},
      {WorkerBatch("GlobalBatch", 4, 2, 2, Examples(4)), "num_workers, 2"},
      {Node("Shuffle", {}, Node("Repeat", {}, Examples(4))), "endless"},
      {{"Synthetic", {{"examples", int64_t{1}}, {"shape", Shape{-1}}}, {}}, "[?]"},
  };
  for (const auto& row : kTable) {
    EXPECT_THAT(MakeIterator(row.definition), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(row.message)));
  }
}

}  // namespace
}  // namespace cohort
