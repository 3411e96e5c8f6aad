#include "runtime/distribute/denominators.h"

#include <gtest/gtest.h>

namespace cohort {
namespace {

// Parts of 4 and 2 examples with sums 6 and 9: the mean is 15 / 6, not (1.5 + 4.5) / 2.
TEST(DenominatorsTest, ShortPartsWeighWhatTheyHold) { EXPECT_EQ(MeanOf(6.0 + 9.0, 4 + 2), 2.5); }

TEST(DenominatorsTest, NoExamplesGiveZeroAndNoUpdate) {
  EXPECT_EQ(MeanOf(0.0, 0), 0.0);
  EXPECT_FALSE(HasUpdate(0));
  EXPECT_TRUE(HasUpdate(1));
}

TEST(DenominatorsTest, IntegerMeansAreExact) {
  EXPECT_EQ(IntegerMeanOf(7, 2), 3.5);
  EXPECT_EQ(IntegerMeanOf((int64_t{1} << 40) + 2, 2), 549755813889.0);
}

}  // namespace
}  // namespace cohort
