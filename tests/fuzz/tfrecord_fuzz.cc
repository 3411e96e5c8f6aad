// Any bytes are records or an error; skipping damaged places ends, too.

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/base/check.h"
#include "runtime/formats/tfrecord.h"
#include "tests/testing/bytes_file.h"

namespace cohort {
namespace {

void ReadAll(const std::string& bytes, const TfRecordOptions& options) {
  const auto reader = TfRecordReader::Create(std::make_unique<testing::BytesFile>(bytes), "input", options);
  if (!reader.ok()) return;
  int64_t records = 0;
  absl::string_view record;
  absl::StatusOr<bool> more = true;
  while ((more = (*reader)->Next(record)).ok() && *more) ++records;
  if (!more.ok() || options.skip_damaged) return;
  // What can be read can be skipped.
  const auto again = TfRecordReader::Create(std::make_unique<testing::BytesFile>(bytes), "input", options);
  const absl::StatusOr<int64_t> skipped = (*again)->Skip(INT64_MAX);
  COHORT_CHECK(skipped.ok() && *skipped == records, "skipping counts what reading does");
}

}  // namespace
}  // namespace cohort

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  cohort::ReadAll(bytes, {});
  cohort::ReadAll(bytes, {.skip_damaged = true});
  return 0;
}
