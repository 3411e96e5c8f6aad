#include "runtime/formats/tfrecord.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/base/crc32c.h"
#include "tests/testing/bytes_file.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace cohort {
namespace {

using ::cohort::testing::BytesFile;
using ::cohort::testing::IsOkAndHolds;
using ::cohort::testing::StatusIs;
using ::cohort::testing::TempDir;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::unique_ptr<FileSystem> files = *MakePosixFileSystem("");

std::string Fixture(const std::string& name) { return "tests/testdata/" + name; }

struct Content {
  std::vector<std::string> records;
  absl::Status end;
};

Content ReadToTheEnd(TfRecordReader& reader) {
  Content content;
  while (true) {
    absl::string_view record;
    const absl::StatusOr<bool> more = reader.Next(record);
    content.end = more.status();
    if (!more.ok() || !*more) return content;
    content.records.emplace_back(record);
  }
}

Content ReadFixture(const std::string& name, const TfRecordOptions& options = {}) {
  auto reader = TfRecordReader::Open(*files, Fixture(name), options);
  if (!reader.ok()) return {{}, reader.status()};
  return ReadToTheEnd(**reader);
}

std::unique_ptr<TfRecordReader> OverBytes(std::string bytes, const TfRecordOptions& options = {}) {
  return *TfRecordReader::Create(std::make_unique<BytesFile>(std::move(bytes)), "f", options);
}

std::vector<std::string> Five() {
  std::vector<std::string> five;
  for (int i = 0; i < 5; ++i) {
    std::string& record = five.emplace_back();
    for (int k = 0; k <= i; ++k) record += "record " + std::to_string(i);
  }
  return five;
}

TEST(TfRecordTest, ReadsRealFiles) {
  const struct {
    const char* name;
    size_t records;
    uint32_t payload_crc32c;
  } kTable[] = {
      {"data_tfrecord-00000-of-00004.gz", 7, 0x356dab47},
      {"data_tfrecord-00001-of-00004.gz", 7, 0x2d13f091},
      {"empty.tfrecord", 0, 0},
      {"example_encodings.tfrecord", 3, 0xf5c5620f},
      {"five.tfrecord", 5, 0x42a6426f},
      {"five.tfrecord.zlib", 5, 0x42a6426f},
      {"five_two_members.tfrecord.gz", 5, 0x42a6426f},
      {"zero_length_records.tfrecord", 3, 0},
      {"penguin_train_data_tfrecord-00000-of-00001.gz", 234, 0x49d1cb10},
      {"sequence_data_tfrecord_eval.gz", 4500, 0x76de9aa7},
      {"taxi_eval_data_tfrecord-00000-of-00012.gz", 424, 0xdc7c87cc},
      {"tfjs_next_page_data.tfrecord.gz", 100, 0xb5200dd2},
      {"toy.nocompress-tfe-tfrecord-00000-of-00002", 3, 0x2f9d1cb4},
      {"toy.nocompress-tfe-tfrecord-00001-of-00002", 1, 0x67e53e0c},
      {"toy.tfe-tfrecord-00000-of-00002", 3, 0x2f9d1cb4},
      {"toy.tfe-tfrecord-00001-of-00002", 1, 0x67e53e0c},
      {"unicode_vocabulary.tfrecord.gz", 165, 0xb18d1154},
      {"warriors_vocabulary.tfrecord.gz", 5, 0xc35ae4f4},
  };
  for (const auto& row : kTable) {
    const Content content = ReadFixture(std::string("tfrecord/") + row.name);
    COHORT_EXPECT_OK(content.end) << row.name;
    EXPECT_EQ(content.records.size(), row.records) << row.name;
    uint32_t crc = 0;
    for (const std::string& record : content.records) crc = ExtendCrc32c(crc, record.data(), record.size());
    EXPECT_EQ(crc, row.payload_crc32c) << row.name;
  }
}

TEST(TfRecordTest, ReadsWhatItWrote) {
  const TempDir dir;
  std::vector<std::string> records = Five();
  records.push_back("");
  records.push_back(std::string(3'000'000, 'x'));  // larger than every buffer
  records.push_back("end");
  for (const Compression compression : {Compression::kNone, Compression::kGzip, Compression::kZlib}) {
    COHORT_ASSERT_OK_AND_ASSIGN(const auto writer, TfRecordWriter::Create(*files, dir.File("f"), compression));
    for (const std::string& record : records) COHORT_ASSERT_OK(writer->Write(record));
    COHORT_ASSERT_OK(writer->Close());
    for (const std::optional<Compression> how : {std::optional<Compression>(), std::optional(compression)}) {
      COHORT_ASSERT_OK_AND_ASSIGN(const auto reader, TfRecordReader::Open(*files, dir.File("f"), {.compression = how}));
      EXPECT_EQ(ReadToTheEnd(*reader).records, records) << CompressionName(compression);
    }
  }
}

TEST(TfRecordTest, WritesTheBytesThatTensorFlowWrites) {
  const TempDir dir;
  COHORT_ASSERT_OK_AND_ASSIGN(const auto writer, TfRecordWriter::Create(*files, dir.File("f")));
  for (const std::string& record : Five()) COHORT_ASSERT_OK(writer->Write(record));
  COHORT_ASSERT_OK(writer->Close());
  EXPECT_EQ(*files->ReadFile(dir.File("f")), *files->ReadFile(Fixture("tfrecord/five.tfrecord")));
}

TEST(TfRecordTest, SkipsWithoutReading) {
  for (const char* name : {"tfrecord/five.tfrecord", "tfrecord/five_two_members.tfrecord.gz"}) {
    COHORT_ASSERT_OK_AND_ASSIGN(const auto reader, TfRecordReader::Open(*files, Fixture(name)));
    EXPECT_THAT(reader->Skip(3), IsOkAndHolds(3));
    EXPECT_EQ(reader->record(), 3);
    absl::string_view record;
    ASSERT_THAT(reader->Next(record), IsOkAndHolds(true));
    EXPECT_EQ(record, Five()[3]);
    EXPECT_THAT(reader->Skip(5), IsOkAndHolds(1));
    EXPECT_THAT(reader->Next(record), IsOkAndHolds(false));
  }
}

TEST(TfRecordTest, DamageIsNamedWithFileRecordAndOffset) {
  const struct {
    const char* name;
    size_t records;
    const char* offset;
    const char* how;
  } kTable[] = {
      {"damaged/tfrecord_length_crc.tfrecord", 1, "record 1 at offset 28 ", "checksum of its length"},
      {"damaged/tfrecord_data_crc.tfrecord", 1, "record 1 at offset 28 ", "wrong checksum: stored"},
      {"damaged/tfrecord_truncated.tfrecord", 2, "record 2 at offset 57 ", "cut off"},
      {"damaged/tfrecord_length_huge.tfrecord", 1, "record 1 at offset 28 ", "4611686018427387904"},
  };
  for (const auto& row : kTable) {
    const Content content = ReadFixture(row.name);
    EXPECT_EQ(content.records.size(), row.records) << row.name;
    EXPECT_THAT(content.end, StatusIs(absl::StatusCode::kDataLoss,
                                      AllOf(HasSubstr(row.name), HasSubstr(row.offset), HasSubstr(row.how))));
  }
}

TEST(TfRecordTest, TruncatedCompressionGivesWhatIsWhole) {
  const Content content = ReadFixture("damaged/tfrecord_truncated.gz");
  EXPECT_EQ(content.records.size(), 83u);
  EXPECT_THAT(content.end,
              StatusIs(absl::StatusCode::kDataLoss, AllOf(HasSubstr("tfrecord_truncated.gz"), HasSubstr("byte 2000"))));
  // What comes after a break cannot be found again.
  const Content skipping = ReadFixture("damaged/tfrecord_truncated.gz", {.skip_damaged = true});
  EXPECT_THAT(skipping.end, StatusIs(absl::StatusCode::kDataLoss));
}

TEST(TfRecordTest, EveryCutIsDataLossAndNeverAQuietEnd) {
  const std::string whole = *files->ReadFile(Fixture("tfrecord/five.tfrecord"));
  size_t boundary = 0;
  size_t before = 0;
  for (size_t cut = 0; cut < whole.size(); ++cut) {
    if (cut == boundary) {  // between two records: not damage
      EXPECT_THAT(ReadToTheEnd(*OverBytes(whole.substr(0, cut))).end, ::cohort::testing::IsOk());
      boundary += 16 + Five()[before++].size();
      continue;
    }
    const Content content = ReadToTheEnd(*OverBytes(whole.substr(0, cut), {.compression = Compression::kNone}));
    EXPECT_THAT(content.end, StatusIs(absl::StatusCode::kDataLoss, HasSubstr("cut off"))) << cut;
    EXPECT_EQ(content.records.size(), before - 1) << cut;
  }
  const std::string packed = *files->ReadFile(Fixture("tfrecord/five_two_members.tfrecord.gz"));
  int good_ends = 0;  // after the first member
  for (size_t cut = 1; cut < packed.size(); ++cut) {
    const Content content = ReadToTheEnd(*OverBytes(packed.substr(0, cut), {.compression = Compression::kGzip}));
    good_ends += content.end.ok() ? 1 : 0;
  }
  EXPECT_EQ(good_ends, 1);
}

TEST(TfRecordTest, AnyFlippedBitIsFound) {
  const std::string whole = *files->ReadFile(Fixture("damaged/tfrecord_data_crc.tfrecord"));
  for (size_t at = 57; at < whole.size(); ++at) {
    std::string flipped = *files->ReadFile(Fixture("tfrecord/five.tfrecord"));
    flipped[at] ^= 4;
    EXPECT_THAT(ReadToTheEnd(*OverBytes(flipped)).end, StatusIs(absl::StatusCode::kDataLoss)) << at;
  }
}

TEST(TfRecordTest, SkipModeGoesOnAndCounts) {
  const struct {
    const char* name;
    std::vector<std::string> records;
    int64_t places;
    int64_t bytes;
  } kTable[] = {
      {"damaged/tfrecord_length_crc.tfrecord", {"first record", "third record"}, 1, 29},
      {"damaged/tfrecord_data_crc.tfrecord", {"first record", "third record"}, 1, 29},
      {"damaged/tfrecord_truncated.tfrecord", {"first record", "second record"}, 1, 22},
      {"damaged/tfrecord_length_huge.tfrecord", {"first record"}, 1, 14},
      {"tfrecord/five.tfrecord", Five(), 0, 0},
  };
  for (const auto& row : kTable) {
    COHORT_ASSERT_OK_AND_ASSIGN(const auto reader,
                                TfRecordReader::Open(*files, Fixture(row.name), {.skip_damaged = true}));
    const Content content = ReadToTheEnd(*reader);
    COHORT_EXPECT_OK(content.end) << row.name;
    EXPECT_EQ(content.records, row.records) << row.name;
    EXPECT_EQ(reader->skipped_places(), row.places) << row.name;
    EXPECT_EQ(reader->skipped_bytes(), row.bytes) << row.name;
  }
}

TEST(TfRecordTest, HugeLengthsAreRefusedInCompressedFilesToo) {
  const TempDir dir;
  std::string bytes(8, '\0');
  bytes[7] = 0x10;  // 2^60
  const uint32_t crc = MaskCrc32c(Crc32c(bytes));
  bytes.append(reinterpret_cast<const char*>(&crc), 4);
  EXPECT_THAT(ReadToTheEnd(*OverBytes(bytes)).end,
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("1152921504606846976")));
  absl::string_view record;
  EXPECT_THAT(OverBytes(bytes + std::string(100, 'x'))->Next(record), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(OverBytes(bytes + std::string(100, 'x'))->Skip(1), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(TfRecordTest, MissingFilesAreNamed) {
  EXPECT_THAT(TfRecordReader::Open(*files, "nowhere/f"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("nowhere/f")));
}

}  // namespace
}  // namespace cohort
