#include "runtime/base/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace cohort {
namespace {

TEST(Crc32cTest, CheckValue) { EXPECT_EQ(Crc32c("123456789"), 0xe3069283u); }

// RFC 3720, B.4.
TEST(Crc32cTest, ValuesOfTheRfc) {
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string ascending;
  for (char c = 0; c < 32; ++c) ascending += c;
  EXPECT_EQ(Crc32c(ascending), 0x46dd794eu);
}

TEST(Crc32cTest, NothingGivesZeroAndChangesNothing) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(ExtendCrc32c(0xe3069283u, nullptr, 0), 0xe3069283u);
}

TEST(Crc32cTest, MaskAndBack) {
  EXPECT_EQ(MaskCrc32c(0), 0xa282ead8u);
  EXPECT_EQ(MaskCrc32c(0xe3069283u), 0xc78ab0e5u);
  for (const uint32_t crc : {0u, 1u, 0xe3069283u, 0xffffffffu}) EXPECT_EQ(UnmaskCrc32c(MaskCrc32c(crc)), crc);
}

TEST(Crc32cTest, AnyCutGivesTheChecksumOfTheWhole) {
  const std::string text = "123456789";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(ExtendCrc32c(Crc32c(text.substr(0, cut)), text.data() + cut, text.size() - cut), 0xe3069283u) << cut;
  }
}

}  // namespace
}  // namespace cohort
