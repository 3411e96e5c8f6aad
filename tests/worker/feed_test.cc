#include "worker/feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

DatasetDef Batches(int64_t examples, int64_t batch, bool shuffled = false) {
  DatasetDef data = {"Synthetic", {{"examples", examples}, {"shape", Shape{2}}, {"classes", int64_t{1000}}}, {}};
  if (shuffled) data = {"Shuffle", {}, {std::move(data)}};
  return {"Batch", {{"batch_size", batch}}, {std::move(data)}};
}

std::unique_ptr<Feed> Make(const DatasetDef& definition) {
  auto feed = Feed::Create(definition);
  EXPECT_THAT(feed, testing::IsOk());
  return *std::move(feed);
}

// The first number of each example of the next batch.
std::vector<float> Take(Feed& feed) {
  const absl::StatusOr<const Element*> batch = feed.Take();
  EXPECT_THAT(batch, testing::IsOk());
  const Tensor& images = (**batch)[0];
  std::vector<float> ids;
  for (int64_t row = 0; row < images.shape().dim(0); ++row) ids.push_back(images.values<float>()[2 * row]);
  return ids;
}

std::vector<std::vector<float>> Epoch(Feed& feed, int64_t epoch) {
  COHORT_EXPECT_OK(feed.RestartEpoch(epoch));
  std::vector<std::vector<float>> batches;
  while (feed.has_next()) batches.push_back(Take(feed));
  return batches;
}

std::vector<size_t> Sizes(const std::vector<std::vector<float>>& batches) {
  std::vector<size_t> sizes;
  for (const auto& batch : batches) sizes.push_back(batch.size());
  return sizes;
}

// As of a PaddedBatch of texts: nobody knows how long the next one is.
TEST(FeedTest, UnknownDimensionsAreZeroInAnEmptyBatch) {
  const auto rows = [](int64_t columns) {
    return DatasetDef{"FromTensorSlices", {{"tensor_0", Tensor::Zeros(DType::kI64, Shape{1, columns})}}, {}};
  };
  const auto feed =
      Make({"PaddedBatch", {{"batch_size", int64_t{2}}}, {DatasetDef{"Concatenate", {}, {rows(1), rows(3)}}}});
  const auto shape = [&] { return (**feed->Take())[0].shape(); };
  COHORT_ASSERT_OK(feed->StartEpoch(0));
  EXPECT_EQ(shape(), (Shape{2, 3}));
  EXPECT_EQ(shape(), (Shape{0, 0}));
}

TEST(FeedTest, EachBatchKnowsWhetherThereIsAnother) {
  const auto feed = Make(Batches(10, 4));
  EXPECT_EQ(feed->batches_per_epoch(), 3);
  EXPECT_FALSE(feed->has_next());  // stands nowhere yet
  COHORT_ASSERT_OK(feed->StartEpoch(0));
  EXPECT_TRUE(feed->has_next());
  EXPECT_EQ(Take(*feed).size(), 4u);
  EXPECT_TRUE(feed->has_next());
  EXPECT_EQ(Take(*feed).size(), 4u);
  EXPECT_TRUE(feed->has_next());
  EXPECT_EQ(Take(*feed).size(), 2u);
  EXPECT_FALSE(feed->has_next());
}

TEST(FeedTest, AfterTheEndBatchesAreEmptyAndOfTheRightRank) {
  const auto feed = Make(Batches(4, 4));
  COHORT_ASSERT_OK(feed->StartEpoch(0));
  Take(*feed);
  for (int i = 0; i < 2; ++i) {
    const absl::StatusOr<const Element*> batch = feed->Take();
    COHORT_ASSERT_OK(batch);
    ASSERT_EQ((*batch)->size(), 2u);
    EXPECT_EQ((**batch)[0].spec(), (TensorSpec{DType::kF32, {0, 2}}));
    EXPECT_EQ((**batch)[1].spec(), (TensorSpec{DType::kI32, {0}}));
    EXPECT_FALSE(feed->has_next());
  }
}

TEST(FeedTest, DataWithoutExamplesIsAllEnd) {
  const auto feed = Make(Batches(0, 4));
  EXPECT_EQ(feed->batches_per_epoch(), 0);
  COHORT_ASSERT_OK(feed->StartEpoch(0));
  EXPECT_FALSE(feed->has_next());
  EXPECT_TRUE(Take(*feed).empty());
}

TEST(FeedTest, TheBatchInHandSurvivesTheOneThatIsMadeAhead) {
  const auto feed = Make(Batches(8, 4));
  const auto expected = Epoch(*feed, 0);
  COHORT_ASSERT_OK(feed->RestartEpoch(0));
  EXPECT_EQ(Take(*feed), expected[0]);
  const absl::StatusOr<const Element*> last = feed->Take();
  COHORT_ASSERT_OK(feed->StartEpoch(1));  // makes a batch of the next epoch
  EXPECT_EQ((**last)[0].values<float>()[0], expected[1][0]);
}

TEST(FeedTest, StartEpochGoesOnInTheMiddleAndRestartsOtherwise) {
  const auto feed = Make(Batches(12, 4));
  const auto expected = Epoch(*feed, 0);
  COHORT_ASSERT_OK(feed->StartEpoch(0));  // it was at its end: again from its start
  EXPECT_EQ(Take(*feed), expected[0]);
  COHORT_ASSERT_OK(feed->StartEpoch(0));
  EXPECT_EQ(Take(*feed), expected[1]);
  COHORT_ASSERT_OK(feed->RestartEpoch(0));
  EXPECT_EQ(Take(*feed), expected[0]);
  COHORT_ASSERT_OK(feed->StartEpoch(3));
  EXPECT_EQ(feed->epoch(), 3);
  EXPECT_EQ(Take(*feed), expected[0]);
}

TEST(FeedTest, ShuffledEpochsDifferAndRepeat) {
  const auto feed = Make(Batches(64, 64, /*shuffled=*/true));
  const auto first = Epoch(*feed, 0);
  EXPECT_THAT(Sizes(first), ElementsAre(64u));
  EXPECT_NE(Epoch(*feed, 1), first);
  EXPECT_EQ(Epoch(*feed, 0), first);
}

TEST(FeedTest, AfterAnErrorNothingStandsHere) {
  const auto feed = Make(Batches(8, 4));
  COHORT_ASSERT_OK(feed->StartEpoch(0));
  EXPECT_THAT(feed->StartEpoch(-1), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_FALSE(feed->has_next());
  EXPECT_TRUE(Take(*feed).empty());
  EXPECT_THAT(feed->StartEpoch(-1), StatusIs(absl::StatusCode::kInvalidArgument));  // not taken for its middle
  COHORT_ASSERT_OK(feed->StartEpoch(0));
  EXPECT_EQ(Take(*feed).size(), 4u);
}

TEST(FeedTest, UnknownDataIsRefused) {
  EXPECT_THAT(Feed::Create({"Nonsense", {}, {}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'Nonsense'")));
}

}  // namespace
}  // namespace cohort
