#include "runtime/formats/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/testing/bytes_file.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::BytesFile;
using ::cohort::testing::IsOkAndHolds;
using ::cohort::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<InputStream> Stream(std::string text) {
  return *InputStream::Create(std::make_unique<BytesFile>(std::move(text)), "f", Compression::kNone);
}

using Rows = std::vector<std::vector<std::string>>;

Rows Parse(std::string text, char delimiter = ',') {
  CsvReader reader(Stream(std::move(text)), delimiter);
  Rows rows;
  std::vector<CsvReader::Field> fields;
  while (true) {
    const absl::StatusOr<bool> more = reader.Next(fields);
    EXPECT_TRUE(more.ok()) << more.status();
    if (!more.ok() || !*more) return rows;
    auto& row = rows.emplace_back();
    for (const auto& field : fields) row.emplace_back(field.text);
  }
}

TEST(CsvTest, SplitsRowsAndFields) {
  EXPECT_EQ(Parse("a,b\n1,2\n"), (Rows{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(Parse("1,,3"), (Rows{{"1", "", "3"}}));
  EXPECT_EQ(Parse("1,\r\n,2\r\n"), (Rows{{"1", ""}, {"", "2"}}));
  EXPECT_EQ(Parse("\n1\n\n2\n\n"), (Rows{{"1"}, {"2"}}));
  EXPECT_EQ(Parse("1;2,3", ';'), (Rows{{"1", "2,3"}}));
  EXPECT_EQ(Parse(""), (Rows{}));
}

TEST(CsvTest, QuotesHoldAnything) {
  EXPECT_EQ(Parse("\"a,b\",c\n"), (Rows{{"a,b", "c"}}));
  EXPECT_EQ(Parse("\"a\"\"b\",\"\"\n"), (Rows{{"a\"b", ""}}));
  EXPECT_EQ(Parse("1,\"two\nlines\"\n2,x\n"), (Rows{{"1", "two\nlines"}, {"2", "x"}}));
}

TEST(CsvTest, LongRowsAndFields) {
  const std::string large(1'000'000, 'x');
  EXPECT_EQ(Parse("a," + large + "\n\"" + large + "\",b"), (Rows{{"a", large}, {large, "b"}}));
}

TEST(CsvTest, ErrorsNameFileRowAndLine) {
  const struct {
    const char* text;
    absl::StatusCode code;
    const char* message;
  } kTable[] = {
      {"1,2\n\"a\nb\",3\n\"4", absl::StatusCode::kDataLoss, "row 3 (line 4): the file ends within quotes"},
      {"1\n\"a\"b,2\n", absl::StatusCode::kInvalidArgument, "row 2 (line 2): field 1 goes on after its closing quote"},
      {"1\n2\n3,a\"b\n4", absl::StatusCode::kInvalidArgument, "row 3 (line 3): field 2 has a quote within"},
  };
  for (const auto& row : kTable) {
    CsvReader reader(Stream(row.text), ',');
    std::vector<CsvReader::Field> fields;
    absl::StatusOr<bool> more = true;
    while (more.ok() && *more) more = reader.Next(fields);
    EXPECT_THAT(more, StatusIs(row.code, AllOf(HasSubstr("'f'"), HasSubstr(row.message))));
  }
}

TEST(LineReaderTest, LinesWithAndWithoutEnds) {
  const std::string large(600'000, 'y');
  LineReader reader(Stream("one\r\n\n" + large + "\nlast"));
  std::vector<std::string> lines;
  for (absl::string_view line; *reader.Next(line);) lines.emplace_back(line);
  EXPECT_THAT(lines, ElementsAre("one", "", large, "last"));
  EXPECT_EQ(reader.line(), 4);
  absl::string_view line;
  EXPECT_THAT(LineReader(Stream("")).Next(line), IsOkAndHolds(false));
  EXPECT_THAT(LineReader(Stream("\n")).Next(line), IsOkAndHolds(true));
}

}  // namespace
}  // namespace cohort
