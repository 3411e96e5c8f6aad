#ifndef COHORT_RUNTIME_FORMATS_CSV_H_
#define COHORT_RUNTIME_FORMATS_CSV_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/formats/input_stream.h"

namespace cohort {

// Reads the lines of a text file. Used by one thread at a time.
class LineReader {
 public:
  explicit LineReader(std::unique_ptr<InputStream> stream) : stream_(std::move(stream)) {}

  // The next line without its end ("\n" or "\r\n"; the last one may have none), valid until the next call; false at
  // the end of the file. Errors as of InputStream.
  absl::StatusOr<bool> Next(absl::string_view& line);

  int64_t line() const { return line_; }  // number of the last line, from 1
  const std::string& name() const { return stream_->name(); }

 private:
  const std::unique_ptr<InputStream> stream_;
  int64_t line_ = 0;
};

// Reads comma-separated values: a row is a line, or several where a quoted field holds line ends. A quoted field is in
// double quotes, with each double quote in it written twice. Source: RFC 4180. Used by one thread at a time.
class CsvReader {
 public:
  CsvReader(std::unique_ptr<InputStream> stream, char delimiter) : stream_(std::move(stream)), delimiter_(delimiter) {}

  struct Field {
    absl::string_view text;
    bool quoted = false;
  };

  // The next row into `fields`, valid until the next call; false at the end. Empty lines are passed over.
  // DataLoss: the file ends within quotes. InvalidArgument: text after a closing quote, or a quote within a field that
  // does not begin with one. Both name file, row and line.
  absl::StatusOr<bool> Next(std::vector<Field>& fields);

  int64_t row() const { return row_; }    // number of the last row, from 1
  int64_t line() const { return line_; }  // where it begins, from 1
  const std::string& name() const { return stream_->name(); }

 private:
  // Bytes of the next row with its line end, and how many line ends are in it; 0: the end.
  absl::StatusOr<size_t> Measure();
  absl::Status Wrong(absl::StatusCode code, absl::string_view how) const;
  absl::Status Split(absl::string_view row, std::vector<Field>& fields);

  const std::unique_ptr<InputStream> stream_;
  const char delimiter_;
  int64_t row_ = 0;
  int64_t line_ = 0;
  int64_t next_line_ = 1;
  std::vector<std::unique_ptr<std::string>> unquoted_;  // fields that are not as in the file
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_FORMATS_CSV_H_
