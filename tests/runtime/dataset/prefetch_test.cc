#include "runtime/dataset/prefetch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "runtime/base/mutex.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::IsOkAndHolds;
using ::cohort::testing::StatusIs;

// Counts up from 100 * epoch; fails at `fail_at`. Tells how far it has been read.
class Counter final : public DatasetIterator {
 public:
  explicit Counter(int64_t size, int64_t fail_at = -1) : size_(size), fail_at_(fail_at) {}

  const std::vector<TensorSpec>& element_spec() const override { return spec_; }
  int64_t cardinality() const override { return size_; }
  absl::Status DoSeek(const DatasetPosition& to) override {
    MutexLock lock(&mu_);
    epoch_ = to.epoch;
    next_ = to.element;
    return absl::OkStatus();
  }
  absl::StatusOr<bool> DoNext(Element& element) override {
    MutexLock lock(&mu_);
    if (next_ == fail_at_) return absl::DataLossError("broken");
    if (next_ == size_) return false;
    if (element.empty()) element.push_back(Tensor(DType::kI64, Shape{}));
    element[0].mutable_values<int64_t>()[0] = 100 * epoch_ + next_++;
    return true;
  }

  bool AwaitRead(int64_t count) {
    MutexLock lock(&mu_);
    const auto read = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return next_ >= count; };
    return mu_.AwaitWithDeadline(read, absl::Now() + absl::Seconds(10));
  }
  int64_t read() {
    MutexLock lock(&mu_);
    return next_;
  }

 private:
  const std::vector<TensorSpec> spec_ = {{DType::kI64, Shape{}}};
  const int64_t size_;
  const int64_t fail_at_;
  Mutex mu_;
  int64_t epoch_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t next_ ABSL_GUARDED_BY(mu_) = 0;
};

int64_t Value(const Element& element) { return element[0].values<int64_t>()[0]; }

TEST(PrefetchTest, GivesEverythingInOrderThenEnds) {
  auto iterator = MakePrefetch(std::make_unique<Counter>(50), 3);
  EXPECT_EQ(iterator->cardinality(), 50);
  Element element;
  for (int64_t i = 0; i < 50; ++i) {
    ASSERT_THAT(iterator->Next(element), IsOkAndHolds(true));
    EXPECT_EQ(Value(element), i);
  }
  EXPECT_THAT(iterator->Next(element), IsOkAndHolds(false));
  EXPECT_THAT(iterator->Next(element), IsOkAndHolds(false));
}

TEST(PrefetchTest, ReadsAheadAsFarAsItsBufferAndNoFurther) {
  auto counter = std::make_unique<Counter>(50);
  Counter& input = *counter;
  auto iterator = MakePrefetch(std::move(counter), 3);
  EXPECT_EQ(input.read(), 0);
  Element element;
  ASSERT_THAT(iterator->Next(element), IsOkAndHolds(true));
  ASSERT_TRUE(input.AwaitRead(4));
  EXPECT_EQ(input.read(), 4);
}

TEST(PrefetchTest, ABufferOfAnySizeCanBeAskedFor) {
  auto iterator = MakePrefetch(std::make_unique<Counter>(1), std::numeric_limits<int64_t>::max());
  Element element;
  EXPECT_THAT(iterator->Next(element), IsOkAndHolds(true));
  EXPECT_THAT(iterator->Next(element), IsOkAndHolds(false));
}

TEST(PrefetchTest, ResetDropsWhatWasMadeAhead) {
  auto iterator = MakePrefetch(std::make_unique<Counter>(10), 4);
  Element element;
  for (int64_t epoch = 1; epoch < 200; ++epoch) {
    COHORT_ASSERT_OK(iterator->Reset(epoch));
    for (int64_t i = 0; i < epoch % 11; ++i) {
      ASSERT_THAT(iterator->Next(element), IsOkAndHolds(true));
      ASSERT_EQ(Value(element), 100 * epoch + i);
    }
  }
}

TEST(PrefetchTest, MemoryGoesRound) {
  auto iterator = MakePrefetch(std::make_unique<Counter>(100), 2);
  Element elements[2];
  std::set<const void*> memory;
  for (int i = 0; i < 100; ++i) {
    ASSERT_THAT(iterator->Next(elements[i % 2]), IsOkAndHolds(true));
    memory.insert(elements[i % 2][0].data());
  }
  EXPECT_LE(memory.size(), 4u);  // two of the caller's, two of the ring
}

TEST(PrefetchTest, AnErrorComesAfterWhatWasGood) {
  auto iterator = MakePrefetch(std::make_unique<Counter>(10, /*fail_at=*/2), 4);
  Element element;
  EXPECT_THAT(iterator->Next(element), IsOkAndHolds(true));
  EXPECT_THAT(iterator->Next(element), IsOkAndHolds(true));
  EXPECT_THAT(iterator->Next(element), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(iterator->Next(element), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(PrefetchTest, CanBeDroppedAtAnyTime) {
  MakePrefetch(std::make_unique<Counter>(10), 4);  // before the first element
  auto iterator = MakePrefetch(std::make_unique<Counter>(1000000), 4);
  Element element;
  EXPECT_THAT(iterator->Next(element), IsOkAndHolds(true));
}

}  // namespace
}  // namespace cohort
