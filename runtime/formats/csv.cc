#include "runtime/formats/csv.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace cohort {
namespace {

constexpr size_t kFirstPeek = 512;

absl::string_view WithoutLineEnd(absl::string_view line) {
  if (!line.empty() && line.back() == '\n') line.remove_suffix(1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

}  // namespace

absl::StatusOr<bool> LineReader::Next(absl::string_view& line) {
  size_t searched = 0;
  for (size_t wanted = kFirstPeek;; wanted = std::max(2 * wanted, searched + 1)) {
    COHORT_ASSIGN_OR_RETURN(const absl::string_view bytes, stream_->Peek(wanted));
    const void* end =
        bytes.size() > searched ? std::memchr(bytes.data() + searched, '\n', bytes.size() - searched) : nullptr;
    if (end == nullptr && bytes.size() >= wanted) {
      searched = bytes.size();
      continue;
    }
    if (end == nullptr && bytes.empty()) return false;
    const size_t size = end != nullptr ? static_cast<const char*>(end) - bytes.data() + 1 : bytes.size();
    line = WithoutLineEnd(bytes.substr(0, size));
    stream_->Consume(size);
    ++line_;
    return true;
  }
}

absl::Status CsvReader::Wrong(absl::StatusCode code, absl::string_view how) const {
  return absl::Status(code, absl::StrCat("'", name(), "', row ", row_, " (line ", line_, "): ", how));
}

absl::StatusOr<size_t> CsvReader::Measure() {
  enum class Place { kFieldStart, kPlain, kQuoted, kAfterQuote };
  Place place = Place::kFieldStart;
  size_t at = 0;
  for (size_t wanted = kFirstPeek;; wanted = std::max(2 * wanted, at + 1)) {
    COHORT_ASSIGN_OR_RETURN(const absl::string_view bytes, stream_->Peek(wanted));
    for (; at < bytes.size(); ++at) {
      const char c = bytes[at];
      if (c == '\n') ++next_line_;
      if (place == Place::kQuoted) {
        if (c == '"') place = Place::kAfterQuote;
      } else if (c == '"' && place != Place::kPlain) {
        place = Place::kQuoted;  // a field begins, or a quote is doubled
      } else if (c == '\n') {
        return at + 1;
      } else {
        place = c == delimiter_ ? Place::kFieldStart : Place::kPlain;
      }
    }
    if (bytes.size() >= wanted) continue;
    if (place == Place::kQuoted) return Wrong(absl::StatusCode::kDataLoss, "the file ends within quotes");
    return bytes.size();
  }
}

absl::StatusOr<bool> CsvReader::Next(std::vector<Field>& fields) {
  fields.clear();
  unquoted_.clear();
  ++row_;
  while (true) {
    line_ = next_line_;
    COHORT_ASSIGN_OR_RETURN(const size_t size, Measure());
    if (size == 0) return false;
    COHORT_ASSIGN_OR_RETURN(const absl::string_view bytes, stream_->Peek(size));
    const absl::string_view row = WithoutLineEnd(bytes.substr(0, size));
    stream_->Consume(size);
    if (row.empty()) continue;
    COHORT_RETURN_IF_ERROR(Split(row, fields));
    return true;
  }
}

absl::Status CsvReader::Split(absl::string_view row, std::vector<Field>& fields) {
  while (true) {
    Field& field = fields.emplace_back();
    if (row.empty() || row[0] != '"') {
      const size_t end = std::min(row.find(delimiter_), row.size());
      field.text = row.substr(0, end);
      if (field.text.find('"') != absl::string_view::npos) {
        return Wrong(absl::StatusCode::kInvalidArgument,
                     absl::StrCat("field ", fields.size(), " has a quote within; a quoted field begins with one"));
      }
      row.remove_prefix(end);
    } else {
      field.quoted = true;
      row.remove_prefix(1);
      auto text = std::make_unique<std::string>();
      while (true) {
        const size_t end = row.find('"');
        if (end == absl::string_view::npos) return Wrong(absl::StatusCode::kInvalidArgument, "a quote is not closed");
        absl::StrAppend(text.get(), row.substr(0, end));
        row.remove_prefix(end + 1);
        if (row.empty() || row[0] != '"') break;
        text->push_back('"');
        row.remove_prefix(1);
      }
      if (!row.empty() && row[0] != delimiter_) {
        return Wrong(absl::StatusCode::kInvalidArgument,
                     absl::StrCat("field ", fields.size(), " goes on after its closing quote"));
      }
      field.text = *text;
      unquoted_.push_back(std::move(text));
    }
    if (row.empty()) return absl::OkStatus();
    row.remove_prefix(1);
  }
}

}  // namespace cohort
