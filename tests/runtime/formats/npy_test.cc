#include "runtime/formats/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "runtime/base/crc32c.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::IsOkAndHolds;
using ::cohort::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::unique_ptr<FileSystem> files = *MakePosixFileSystem("");

std::string Fixture(const std::string& name) { return "tests/testdata/" + name; }

template <typename T>
std::vector<T> As(const NpyArray& array) {
  std::vector<T> values(array.data.size() / sizeof(T));
  std::memcpy(values.data(), array.data.data(), values.size() * sizeof(T));
  return values;
}

TEST(NpyTest, ReadsRealFiles) {
  const struct {
    const char* name;
    char kind;
    int64_t item_bytes;
    std::vector<int64_t> dims;
    uint32_t crc32c;  // of the data in the file; 0: not in the order in which it is read
  } kTable[] = {
      {"candle/test.npy", 'i', 8, {10}, 0xa477522a},
      {"numpy1.24/bool.npy", 'b', 1, {3}, 0x374eb207},
      {"numpy1.24/bytes_S4.npy", 'S', 4, {2}, 0x55adc213},
      {"numpy1.24/float16.npy", 'f', 2, {4}, 0xee09b778},
      {"numpy1.24/float32_2x3.npy", 'f', 4, {2, 3}, 0xef3aca9e},
      {"numpy1.24/float32_empty_0x3.npy", 'f', 4, {0, 3}, 0},
      {"numpy1.24/float32_fortran_2x3.npy", 'f', 4, {2, 3}, 0xef3aca9e},  // as the same values in C order
      {"numpy1.24/float32_version2.npy", 'f', 4, {3}, 0x8f88ce66},
      {"numpy1.24/float32_version3.npy", 'f', 4, {3}, 0x8f88ce66},
      {"numpy1.24/int8.npy", 'i', 1, {2}, 0},
      {"numpy1.24/string_U5.npy", 'U', 20, {2}, 0xd7e59584},
      {"numpy1.24/uint64.npy", 'u', 8, {1}, 0x48674bc7},
      {"numpy1.24/void2_bfloat16_like.npy", 'V', 2, {2}, 0x040d780e},
      {"numpy_tests/python3.npy", 'f', 8, {2}, 0},
      {"tensorboard/colormaps.npy", 'f', 8, {4, 256, 3}, 0},
      {"xtensor/bool.le.npy", 'b', 1, {3, 3, 3}, 0},
      {"xtensor/unsignedlong.le.npy", 'u', 8, {5}, 0},
      {"xtensor_old/unsignedlong_fortran.npy", 'u', 8, {5}, 0},
  };
  for (const auto& row : kTable) {
    const absl::StatusOr<NpyArray> array = ReadNpy(*files, Fixture(std::string("npy/") + row.name));
    ASSERT_TRUE(array.ok()) << array.status();
    EXPECT_EQ(array->kind, row.kind) << row.name;
    EXPECT_EQ(array->item_bytes, row.item_bytes) << row.name;
    EXPECT_EQ(array->dims, row.dims) << row.name;
    EXPECT_EQ(static_cast<int64_t>(array->data.size()), array->num_elements() * row.item_bytes) << row.name;
    if (row.crc32c != 0) {
      EXPECT_EQ(Crc32c(array->data), row.crc32c) << row.name;
    }
  }
}

TEST(NpyTest, OrdersBecomeRowMajorAndLittleEndian) {
  COHORT_ASSERT_OK_AND_ASSIGN(NpyArray array, ReadNpy(*files, Fixture("npy/numpy1.24/float32_fortran_2x3.npy")));
  EXPECT_THAT(As<float>(array), ElementsAre(0, 0.25f, 0.5f, 0.75f, 1, 1.25f));
  COHORT_ASSERT_OK_AND_ASSIGN(array, ReadNpy(*files, Fixture("npy/numpy1.24/int32_be_2x2.npy")));
  EXPECT_THAT(As<int32_t>(array), ElementsAre(1, -2, 3, 4));
  COHORT_ASSERT_OK_AND_ASSIGN(const NpyArray c, ReadNpy(*files, Fixture("npy/xtensor/double.le.npy")));
  COHORT_ASSERT_OK_AND_ASSIGN(const NpyArray fortran, ReadNpy(*files, Fixture("npy/xtensor_old/double_fortran.npy")));
  EXPECT_EQ(As<double>(c), As<double>(fortran));
  COHORT_ASSERT_OK_AND_ASSIGN(const NpyArray b, ReadNpy(*files, Fixture("npy/xtensor/bool.le.npy")));
  COHORT_ASSERT_OK_AND_ASSIGN(const NpyArray bf, ReadNpy(*files, Fixture("npy/xtensor/bool_fortran.le.npy")));
  EXPECT_EQ(b.data, bf.data);
}

TEST(NpyTest, ScalarsAndTexts) {
  COHORT_ASSERT_OK_AND_ASSIGN(NpyArray array, ReadNpy(*files, Fixture("npy/numpy1.24/int64_scalar.npy")));
  EXPECT_THAT(array.dims, IsEmpty());
  EXPECT_THAT(As<int64_t>(array), ElementsAre(-7));
  COHORT_ASSERT_OK_AND_ASSIGN(array, ReadNpy(*files, Fixture("npy/numpy1.24/string_U5.npy")));
  EXPECT_THAT(array.Text(0), IsOkAndHolds("h\xc3\xa9llo"));
  EXPECT_THAT(array.Text(1), IsOkAndHolds("a"));
  COHORT_ASSERT_OK_AND_ASSIGN(array, ReadNpy(*files, Fixture("npy/numpy1.24/bytes_S4.npy")));
  EXPECT_THAT(array.Text(0), IsOkAndHolds("abcd"));
  EXPECT_THAT(array.Text(1), IsOkAndHolds("x"));
}

TEST(NpyTest, PicklesAreRefused) {
  EXPECT_THAT(ReadNpy(*files, Fixture("npy/numpy_tests/py2-objarr.npy")),
              StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("pickled"), HasSubstr("py2-objarr.npy"))));
  EXPECT_THAT(ReadNpz(*files, Fixture("npy/numpy_tests/py2-objarr.npz")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("py2-objarr.npz:x.npy")));
}

TEST(NpyTest, DamageIsNamed) {
  EXPECT_THAT(ReadNpy(*files, Fixture("damaged/npy_header_huge.npy")),
              StatusIs(absl::StatusCode::kDataLoss, AllOf(HasSubstr("npy_header_huge"), HasSubstr("4294967280"))));
  EXPECT_THAT(
      ReadNpy(*files, Fixture("damaged/npy_data_short.npy")),
      StatusIs(absl::StatusCode::kDataLoss, AllOf(HasSubstr("npy_data_short"), HasSubstr("24 data"), HasSubstr("20"))));
  const std::string good = *files->ReadFile(Fixture("npy/numpy1.24/float32_2x3.npy"));
  for (size_t cut = 0; cut < good.size(); ++cut) {
    EXPECT_THAT(ParseNpy(good.substr(0, cut), "f"),
                StatusIs(cut < 6 ? absl::StatusCode::kInvalidArgument : absl::StatusCode::kDataLoss, HasSubstr("'f'")))
        << cut;
  }
  EXPECT_THAT(ParseNpy(good + "x", "f"), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("25")));
}

TEST(NpyTest, HeadersThatLie) {
  const auto with_header = [](std::string header) {
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + "12345678";
  };
  const char* const kBad[] = {
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)",
      "{'descr': '<f4', 'fortran_order': False}",
      "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x",
      "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}",
      "{'descr': '<f3', 'fortran_order': False, 'shape': (2,)}",
      "{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}",
      "{'descr': '', 'fortran_order': False, 'shape': (1,)}",
  };
  for (const char* header : kBad) {
    EXPECT_THAT(ParseNpy(with_header(header), "f"), StatusIs(absl::StatusCode::kInvalidArgument)) << header;
  }
  EXPECT_THAT(ParseNpy(with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 8)}"), "f"),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(ParseNpy(with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (2L,)}"), "f"),
              ::cohort::testing::IsOk());
}

TEST(NpzTest, ReadsStoredAndDeflatedMembers) {
  COHORT_ASSERT_OK_AND_ASSIGN(const auto stored, ReadNpz(*files, Fixture("npy/numpy1.24/stored.npz")));
  ASSERT_EQ(stored.size(), 3u);
  EXPECT_EQ(stored[0].name, "step");
  EXPECT_EQ(stored[1].name, "layer/kernel");
  EXPECT_EQ(stored[2].name, "arr_0");
  EXPECT_EQ(Crc32c(stored[1].array.data), 0x26258ca4u);
  COHORT_ASSERT_OK_AND_ASSIGN(const auto deflated, ReadNpz(*files, Fixture("npy/made/deflated.npz"), {"kernel"}));
  ASSERT_EQ(deflated.size(), 1u);
  EXPECT_EQ(Crc32c(deflated[0].array.data), 0xef3aca9eu);
  COHORT_ASSERT_OK_AND_ASSIGN(const auto candle, ReadNpz(*files, Fixture("npy/candle/test.npz"), {"x_plus_one", "x"}));
  EXPECT_EQ(As<int64_t>(candle[0].array)[9], 10);
  EXPECT_EQ(As<int64_t>(candle[1].array)[9], 9);
}

TEST(NpzTest, MissingArraysAreNamedWithThoseThatAreThere) {
  EXPECT_THAT(ReadNpz(*files, Fixture("npy/candle/test.npz"), {"y"}),
              StatusIs(absl::StatusCode::kNotFound, AllOf(HasSubstr("'y'"), HasSubstr("x, x_plus_one"))));
}

TEST(NpzTest, DamageIsFound) {
  for (const char* name : {"npy/made/deflated.npz", "npy/candle/test.npz"}) {
    const std::string good = *files->ReadFile(Fixture(name));
    for (size_t cut = 0; cut < good.size(); ++cut) {
      EXPECT_THAT(ParseNpz(good.substr(0, cut), "f"), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("'f"))) << cut;
    }
    for (size_t at = 0; at < good.size(); ++at) {  // some bytes mean nothing; none may crash, none may change a value
      std::string flipped = good;
      flipped[at] ^= 0x55;
      const auto members = ParseNpz(flipped, "f");
      if (!members.ok()) continue;
      const auto expected = *ParseNpz(good, "f");
      ASSERT_EQ(members->size(), expected.size()) << at;
      for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ((*members)[i].array.data, expected[i].array.data) << at;
    }
  }
  EXPECT_THAT(ParseNpz("hello world, no archive", "f"), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace cohort
