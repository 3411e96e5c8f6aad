#include "runtime/base/incarnation.h"

#include <gtest/gtest.h>

#include <set>

namespace cohort {
namespace {

TEST(IncarnationTest, NeverZeroAndNeverTheSame) {
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(NewIncarnation());
  EXPECT_EQ(seen.size(), 1000u);
  EXPECT_EQ(seen.count(0), 0u);
}

}  // namespace
}  // namespace cohort
