#include "runtime/base/philox.h"

#include <gtest/gtest.h>

namespace cohort {
namespace {

// The known answers that come with the authors' Random123.
TEST(PhiloxTest, PublishedValues) {
  EXPECT_EQ(Philox4x32(PhiloxBlock{0, 0, 0, 0}, PhiloxKey{0, 0}),
            (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox4x32(PhiloxBlock{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, PhiloxKey{0xffffffff, 0xffffffff}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox4x32(PhiloxBlock{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, PhiloxKey{0xa4093822, 0x299f31d0}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(PhiloxTest, WideFormTakesLowWordsFirst) {
  EXPECT_EQ(Philox4x32(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(PhiloxTest, UnitDoublesAreBelowOne) {
  EXPECT_EQ(UnitDouble(0, 0), 0.0);
  EXPECT_EQ(UnitDouble(0x80000000, 0), 0.5);
  EXPECT_EQ(UnitDouble(0xffffffff, 0xffffffff), 1 - 0x1p-53);
}

}  // namespace
}  // namespace cohort
