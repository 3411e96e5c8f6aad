#include "runtime/formats/idx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>

#include "runtime/base/crc32c.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Fixture(const std::string& name) { return "tests/testdata/" + name; }

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string WriteTemp(const std::string& name, const std::string& bytes) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

uint32_t DataCrc(const IdxArray& array) { return ExtendCrc32c(0, array.data.data(), array.data.size()); }

template <typename T>
std::vector<T> As(const IdxArray& array) {
  std::vector<T> values(array.data.size() / sizeof(T));
  std::memcpy(values.data(), array.data.data(), array.data.size());
  return values;
}

TEST(IdxTest, ReadsImagesPlainAndCompressed) {
  for (const char* name : {"idx/t10k-first100-images-idx3-ubyte", "idx/t10k-first100-images-idx3-ubyte.gz"}) {
    COHORT_ASSERT_OK_AND_ASSIGN(const IdxArray images, ReadIdx(Fixture(name)));
    EXPECT_EQ(images.type, IdxType::kU8);
    EXPECT_THAT(images.dims, ElementsAre(100, 28, 28));
    EXPECT_EQ(images.row_elements(), 784);
    EXPECT_EQ(DataCrc(images), 0xd1a2e1dd);
    EXPECT_EQ(std::accumulate(images.data.begin(), images.data.end(), 0), 5854180);
  }
}

TEST(IdxTest, ReadsLabels) {
  COHORT_ASSERT_OK_AND_ASSIGN(const IdxArray labels, ReadIdx(Fixture("idx/t10k-first100-labels-idx1-ubyte")));
  EXPECT_THAT(labels.dims, ElementsAre(100));
  EXPECT_EQ(labels.row_elements(), 1);
  EXPECT_EQ(DataCrc(labels), 0xeb099363);
}

TEST(IdxTest, ReadsTheFirstRowsOnly) {
  for (const char* name : {"idx/t10k-first100-images-idx3-ubyte", "idx/t10k-first100-images-idx3-ubyte.gz"}) {
    COHORT_ASSERT_OK_AND_ASSIGN(const IdxArray whole, ReadIdx(Fixture(name)));
    COHORT_ASSERT_OK_AND_ASSIGN(const IdxArray some, ReadIdx(Fixture(name), 3));
    EXPECT_THAT(some.dims, ElementsAre(3, 28, 28));
    EXPECT_EQ(some.data, std::vector<uint8_t>(whole.data.begin(), whole.data.begin() + 3 * 784));
    COHORT_ASSERT_OK_AND_ASSIGN(const IdxArray more, ReadIdx(Fixture(name), 1000));
    EXPECT_EQ(more.data, whole.data);
  }
}

TEST(IdxTest, OtherTypesComeInTheHostsByteOrder) {
  COHORT_ASSERT_OK_AND_ASSIGN(const IdxArray f32, ReadIdx(Fixture("idx/float32-idx1")));
  EXPECT_EQ(f32.type, IdxType::kF32);
  EXPECT_THAT(As<float>(f32), ElementsAre(1.5f, -2.25f, 1e10f));
  COHORT_ASSERT_OK_AND_ASSIGN(const IdxArray i32, ReadIdx(Fixture("idx/int32-idx2")));
  EXPECT_THAT(i32.dims, ElementsAre(2, 3));
  EXPECT_THAT(As<int32_t>(i32), ElementsAre(-1, 2, 3, 40000, -50000, 2147483647));
  COHORT_ASSERT_OK_AND_ASSIGN(const IdxArray i8, ReadIdx(Fixture("idx/int8-idx1")));
  EXPECT_EQ(i8.type, IdxType::kI8);
  EXPECT_THAT(As<int8_t>(i8), ElementsAre(-128, 0, 127));
}

TEST(IdxTest, UnknownTypeCodeIsNamed) {
  EXPECT_THAT(ReadIdx(Fixture("damaged/idx_bad_magic-idx1-ubyte")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("idx_bad_magic-idx1-ubyte"), HasSubstr("0x07"), HasSubstr("offset 2"))));
}

TEST(IdxTest, ShortFileSaysWhatItNeedsAndHas) {
  const auto short_file = ReadIdx(Fixture("damaged/idx_short-images-idx3-ubyte"));
  EXPECT_EQ(short_file.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(short_file.status().message()),
              AllOf(HasSubstr("idx_short-images-idx3-ubyte"), HasSubstr("[200,28,28]"), HasSubstr("156800"),
                    HasSubstr("2352")));
}

TEST(IdxTest, EveryCutIsDataLoss) {
  const std::string plain = ReadAll(Fixture("idx/int32-idx2"));
  for (size_t size = 0; size < plain.size(); ++size) {
    EXPECT_THAT(ReadIdx(WriteTemp("cut", plain.substr(0, size))),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("cut")))
        << size;
  }
  const std::string gz = ReadAll(Fixture("idx/t10k-first100-images-idx3-ubyte.gz"));
  for (const size_t size : {size_t{20}, size_t{1000}, gz.size() / 2, gz.size() - 9, gz.size() - 4, gz.size() - 1}) {
    EXPECT_THAT(ReadIdx(WriteTemp("cut.gz", gz.substr(0, size))),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("compressed data")))
        << size;
  }
}

TEST(IdxTest, FlippedCompressedByteIsDataLoss) {
  std::string gz = ReadAll(Fixture("idx/t10k-first100-images-idx3-ubyte.gz"));
  gz[gz.size() - 6] ^= 1;  // gzip's checksum
  EXPECT_THAT(ReadIdx(WriteTemp("flipped.gz", gz)), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("flipped.gz")));
}

TEST(IdxTest, HugeDimensionsAreRefusedBeforeAllocation) {
  const std::string dim = "\xff\xff\xff\xff";
  const std::string header("\0\0\x08\x04", 4);
  EXPECT_THAT(ReadIdx(WriteTemp("huge", header + dim + dim + dim + dim + "x")),
              StatusIs(absl::StatusCode::kDataLoss, AllOf(HasSubstr("'"), HasSubstr("4294967295"))));
  const std::string one("\0\0\x08\x01", 4);
  EXPECT_THAT(ReadIdx(WriteTemp("huge", one + dim + "x")), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("huge")));
}

TEST(IdxTest, BytesAfterTheEndAreDataLoss) {
  const std::string plain = ReadAll(Fixture("idx/int32-idx2"));
  EXPECT_THAT(ReadIdx(WriteTemp("long", plain + "x")), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("offset 36")));
}

TEST(IdxTest, OtherFilesAndMissingOnesAreToldApart) {
  EXPECT_THAT(ReadIdx(WriteTemp("text", "hello world")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("68 65 6c 6c")));
  EXPECT_THAT(ReadIdx(Fixture("idx/nothing")), StatusIs(absl::StatusCode::kNotFound, HasSubstr("idx/nothing")));
  EXPECT_THAT(ReadIdx(::testing::TempDir()), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("not a file")));
}

}  // namespace
}  // namespace cohort
