// Any bytes are rows or an error; lines are as many as line ends, and one for what follows the last.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/check.h"
#include "runtime/formats/csv.h"
#include "tests/testing/bytes_file.h"

namespace cohort {
namespace {

std::unique_ptr<InputStream> Stream(const std::string& bytes) {
  return *InputStream::Create(std::make_unique<testing::BytesFile>(bytes), "input", Compression::kNone);
}

}  // namespace
}  // namespace cohort

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  cohort::CsvReader rows(cohort::Stream(bytes), ',');
  std::vector<cohort::CsvReader::Field> fields;
  absl::StatusOr<bool> more = true;
  while ((more = rows.Next(fields)).ok() && *more) COHORT_CHECK(!fields.empty(), "a row has fields");
  cohort::LineReader lines(cohort::Stream(bytes));
  absl::string_view line;
  while (*lines.Next(line)) {
  }
  const auto ends = std::count(bytes.begin(), bytes.end(), '\n') + (!bytes.empty() && bytes.back() != '\n' ? 1 : 0);
  COHORT_CHECK(lines.line() == ends, "every line is read");
  return 0;
}
