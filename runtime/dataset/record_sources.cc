#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/file_system.h"
#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"
#include "runtime/dataset/element_memory.h"
#include "runtime/dataset/file_pattern.h"
#include "runtime/dataset/node_attributes.h"
#include "runtime/dataset/parse_value.h"
#include "runtime/dataset/record_files.h"
#include "runtime/formats/csv.h"
#include "runtime/formats/tfrecord.h"

namespace cohort {
namespace {

const TensorSpec kText{DType::kString, Shape{}};

// The files of "files", of which "num_file_shards" and "file_index" choose file_index, file_index + num_file_shards...
absl::StatusOr<std::vector<std::string>> FilesOf(const DatasetDef& node, const FileSystem& files) {
  COHORT_ASSIGN_OR_RETURN(const auto patterns, RequiredAttribute<std::vector<std::string>>(node, "files"));
  COHORT_ASSIGN_OR_RETURN(const int64_t shards, OptionalAttribute<int64_t>(node, "num_file_shards", 1));
  COHORT_ASSIGN_OR_RETURN(const int64_t index, OptionalAttribute<int64_t>(node, "file_index", 0));
  COHORT_RETURN_IF_ERROR(AtLeast("num_file_shards", shards, 1));
  COHORT_RETURN_IF_ERROR(AtLeast("file_index", index, 0));
  if (index >= shards) {
    return absl::InvalidArgumentError(
        absl::StrCat("file_index is ", index, ", must be less than num_file_shards, ", shards));
  }
  COHORT_ASSIGN_OR_RETURN(const std::vector<std::string> all, ExpandFilePatterns(files, patterns));
  if (shards == 1) return all;
  if (static_cast<int64_t>(all.size()) < shards) {
    return absl::InvalidArgumentError(absl::StrCat("there are ", all.size(), " files (", absl::StrJoin(patterns, ", "),
                                                   "), not enough for the required ", shards,
                                                   " shards/workers: shard by DATA or make more files"));
  }
  std::vector<std::string> own;
  for (size_t i = index; i < all.size(); i += shards) own.push_back(all[i]);
  return own;
}

absl::StatusOr<std::optional<Compression>> CompressionOf(const DatasetDef& node) {
  COHORT_ASSIGN_OR_RETURN(const std::string name, OptionalAttribute<std::string>(node, "compression", "AUTO"));
  if (name == "AUTO") return std::optional<Compression>();
  if (name.empty()) return std::optional<Compression>(Compression::kNone);
  for (const Compression known : {Compression::kNone, Compression::kGzip, Compression::kZlib}) {
    if (name == CompressionName(known)) return std::optional<Compression>(known);
  }
  return absl::InvalidArgumentError(absl::StrCat("compression is '", name, "'; AUTO, NONE, GZIP and ZLIB are known"));
}

// Of files without a form of their own: gzip's first bytes tell.
absl::StatusOr<std::unique_ptr<InputStream>> OpenStream(const FileSystem& files, const std::string& path,
                                                        std::optional<Compression> compression) {
  COHORT_ASSIGN_OR_RETURN(std::unique_ptr<ReadableFile> file, files.OpenForRead(path));
  if (!compression.has_value()) {
    char head[3] = {};
    COHORT_ASSIGN_OR_RETURN(const size_t got, file->ReadAt(0, head, sizeof(head)));
    const bool gzip = got == sizeof(head) && absl::string_view(head, 3) == absl::string_view("\x1f\x8b\x08", 3);
    compression = gzip ? Compression::kGzip : Compression::kNone;
  }
  return InputStream::Create(std::move(file), path, *compression);
}

void SetText(Element& element, absl::string_view text) {
  element.resize(1);
  FitTensor(element[0], kText);
  element[0].mutable_strings()[0].assign(text.data(), text.size());
}

class TfRecordFile final : public RecordFile {
 public:
  TfRecordFile(std::unique_ptr<TfRecordReader> reader, std::string path)
      : reader_(std::move(reader)), path_(std::move(path)) {}
  ~TfRecordFile() override {
    if (reader_->skipped_places() == 0) return;
    LogWarn("dataset", absl::StrCat("'", path_, "': skipped ", reader_->skipped_places(), " damaged places, ",
                                    reader_->skipped_bytes(), " bytes"));
  }

  absl::StatusOr<bool> Next(Element& element) override {
    absl::string_view record;
    COHORT_ASSIGN_OR_RETURN(const bool more, reader_->Next(record));
    if (more) SetText(element, record);
    return more;
  }
  absl::StatusOr<int64_t> Skip(int64_t count) override { return reader_->Skip(count); }

 private:
  const std::unique_ptr<TfRecordReader> reader_;
  const std::string path_;
};

// Files whose records are skipped by reading them.
template <typename Derived>
class ReadFile : public RecordFile {
 public:
  absl::StatusOr<int64_t> Skip(int64_t count) override {
    int64_t done = 0;
    for (; done < count; ++done) {
      COHORT_ASSIGN_OR_RETURN(const bool more, static_cast<Derived*>(this)->Read());
      if (!more) break;
    }
    return done;
  }
};

class TextFile final : public ReadFile<TextFile> {
 public:
  explicit TextFile(std::unique_ptr<InputStream> stream) : reader_(std::move(stream)) {}

  absl::StatusOr<bool> Read() { return reader_.Next(line_); }
  absl::StatusOr<bool> Next(Element& element) override {
    COHORT_ASSIGN_OR_RETURN(const bool more, Read());
    if (more) SetText(element, line_);
    return more;
  }

 private:
  LineReader reader_;
  absl::string_view line_;
};

class FixedLengthFile final : public RecordFile {
 public:
  FixedLengthFile(std::unique_ptr<InputStream> stream, size_t record_bytes, size_t footer_bytes)
      : stream_(std::move(stream)), record_bytes_(record_bytes), footer_bytes_(footer_bytes) {}

  absl::StatusOr<bool> Next(Element& element) override {
    COHORT_ASSIGN_OR_RETURN(const absl::string_view bytes, stream_->Peek(record_bytes_ + footer_bytes_));
    if (bytes.size() < record_bytes_ + footer_bytes_) {
      if (bytes.size() == footer_bytes_) return false;
      return absl::DataLossError(absl::StrCat("'", stream_->name(), "' is cut off: at offset ", stream_->offset(),
                                              " there are ", bytes.size(), " bytes, a record has ", record_bytes_,
                                              ", the footer ", footer_bytes_));
    }
    SetText(element, bytes.substr(0, record_bytes_));
    stream_->Consume(record_bytes_);
    return true;
  }

  absl::StatusOr<int64_t> Skip(int64_t count) override {
    int64_t done = 0;
    for (Element waste; done < count; ++done) {
      COHORT_ASSIGN_OR_RETURN(const bool more, Next(waste));
      if (!more) break;
    }
    return done;
  }

 private:
  const std::unique_ptr<InputStream> stream_;
  const size_t record_bytes_;
  const size_t footer_bytes_;
};

// A column of a Csv source: its type, and what an empty field means.
struct CsvColumn {
  TensorSpec spec;
  std::optional<std::string> default_value;
};

class CsvFile final : public ReadFile<CsvFile> {
 public:
  CsvFile(std::unique_ptr<InputStream> stream, char delimiter, const std::vector<CsvColumn>& columns)
      : reader_(std::move(stream), delimiter), columns_(columns) {}

  absl::StatusOr<bool> Read() { return reader_.Next(fields_); }

  absl::StatusOr<bool> Next(Element& element) override {
    COHORT_ASSIGN_OR_RETURN(const bool more, Read());
    if (!more) return false;
    if (fields_.size() != columns_.size()) {
      return Wrong(absl::StrCat("has ", fields_.size(), " fields, ", columns_.size(), " columns are expected"));
    }
    element.resize(columns_.size());
    for (size_t c = 0; c < columns_.size(); ++c) {
      FitTensor(element[c], columns_[c].spec);
      absl::string_view text = fields_[c].text;
      const bool empty = text.empty() && !fields_[c].quoted;
      if (empty && !columns_[c].default_value.has_value()) {
        return Wrong(absl::StrCat("field ", c + 1, " is empty, and its column has no default"));
      }
      if (empty) text = *columns_[c].default_value;
      if (!ParseValue(text, element[c], 0)) {
        return Wrong(absl::StrCat("field ", c + 1, " is '", text, "', no ", DTypeName(columns_[c].spec.dtype)));
      }
    }
    return true;
  }

 private:
  absl::Status Wrong(absl::string_view how) const {
    return absl::InvalidArgumentError(
        absl::StrCat("'", reader_.name(), "', row ", reader_.row(), " (line ", reader_.line(), "): ", how));
  }

  CsvReader reader_;
  const std::vector<CsvColumn>& columns_;
  std::vector<CsvReader::Field> fields_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeTfRecordSource(const DatasetDef& node,
                                                                    const IteratorContext& context) {
  TfRecordOptions options;
  COHORT_ASSIGN_OR_RETURN(options.compression, CompressionOf(node));
  COHORT_ASSIGN_OR_RETURN(options.skip_damaged, OptionalAttribute<bool>(node, "skip_damaged", false));
  COHORT_ASSIGN_OR_RETURN(std::vector<std::string> paths, FilesOf(node, *context.files));
  const auto open = [files = context.files,
                     options](const std::string& path) -> absl::StatusOr<std::unique_ptr<RecordFile>> {
    COHORT_ASSIGN_OR_RETURN(std::unique_ptr<TfRecordReader> reader, TfRecordReader::Open(*files, path, options));
    return std::make_unique<TfRecordFile>(std::move(reader), path);
  };
  return MakeRecordFiles(std::move(paths), {kText}, open);
}

absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeTextLinesSource(const DatasetDef& node,
                                                                     const IteratorContext& context) {
  COHORT_ASSIGN_OR_RETURN(const std::optional<Compression> compression, CompressionOf(node));
  COHORT_ASSIGN_OR_RETURN(std::vector<std::string> paths, FilesOf(node, *context.files));
  const auto open = [files = context.files,
                     compression](const std::string& path) -> absl::StatusOr<std::unique_ptr<RecordFile>> {
    COHORT_ASSIGN_OR_RETURN(std::unique_ptr<InputStream> stream, OpenStream(*files, path, compression));
    return std::make_unique<TextFile>(std::move(stream));
  };
  return MakeRecordFiles(std::move(paths), {kText}, open);
}

absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeFixedLengthSource(const DatasetDef& node,
                                                                       const IteratorContext& context) {
  COHORT_ASSIGN_OR_RETURN(const std::optional<Compression> compression, CompressionOf(node));
  COHORT_ASSIGN_OR_RETURN(const int64_t record, IntegerAttribute(node, "record_bytes", 1));
  COHORT_ASSIGN_OR_RETURN(const int64_t header, OptionalAttribute<int64_t>(node, "header_bytes", 0));
  COHORT_ASSIGN_OR_RETURN(const int64_t footer, OptionalAttribute<int64_t>(node, "footer_bytes", 0));
  COHORT_RETURN_IF_ERROR(AtLeast("header_bytes", header, 0));
  COHORT_RETURN_IF_ERROR(AtLeast("footer_bytes", footer, 0));
  COHORT_ASSIGN_OR_RETURN(std::vector<std::string> paths, FilesOf(node, *context.files));
  const auto open = [=, files = context.files](const std::string& path) -> absl::StatusOr<std::unique_ptr<RecordFile>> {
    COHORT_ASSIGN_OR_RETURN(std::unique_ptr<InputStream> stream, OpenStream(*files, path, compression));
    COHORT_ASSIGN_OR_RETURN(const int64_t skipped, stream->Skip(header));
    if (skipped < header) {
      return absl::DataLossError(absl::StrCat("'", path, "' is cut off within its header of ", header, " bytes"));
    }
    return std::make_unique<FixedLengthFile>(std::move(stream), record, footer);
  };
  return MakeRecordFiles(std::move(paths), {kText}, open);
}

absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeCsvSource(const DatasetDef& node, const IteratorContext& context) {
  COHORT_ASSIGN_OR_RETURN(const std::optional<Compression> compression, CompressionOf(node));
  COHORT_ASSIGN_OR_RETURN(const auto types, RequiredAttribute<std::vector<std::string>>(node, "columns"));
  COHORT_ASSIGN_OR_RETURN(const auto defaults, OptionalAttribute<std::vector<std::string>>(node, "defaults", {}));
  COHORT_ASSIGN_OR_RETURN(const bool header, OptionalAttribute<bool>(node, "header", false));
  COHORT_ASSIGN_OR_RETURN(const std::string delimiter, OptionalAttribute<std::string>(node, "delimiter", ","));
  if (delimiter.size() != 1 || delimiter == "\"" || delimiter == "\n" || types.empty() ||
      (!defaults.empty() && defaults.size() != types.size())) {
    return absl::InvalidArgumentError(
        "columns must not be empty, defaults as many or none, delimiter one character that is no quote");
  }
  auto columns = std::make_shared<std::vector<CsvColumn>>();
  std::vector<TensorSpec> specs;
  for (size_t c = 0; c < types.size(); ++c) {
    CsvColumn& column = columns->emplace_back();
    COHORT_ASSIGN_OR_RETURN(column.spec, ParseTensorSpec(types[c]));
    Tensor value(column.spec.dtype, Shape{});
    if (column.spec.shape.rank() != 0 || (!ParseValue("0", value, 0))) {
      return absl::InvalidArgumentError(absl::StrCat("column ", c + 1, " is '", types[c],
                                                     "'; float32, float64, int32, int64 and string can be read"));
    }
    COHORT_ASSIGN_OR_RETURN(column.default_value, DefaultOf(defaults.empty() ? "" : defaults[c]));
    if (column.default_value.has_value() && !ParseValue(*column.default_value, value, 0)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the default of column ", c + 1, ", '", *column.default_value, "', is no ", types[c]));
    }
    specs.push_back(column.spec);
  }
  COHORT_ASSIGN_OR_RETURN(std::vector<std::string> paths, FilesOf(node, *context.files));
  const auto open = [=, files = context.files](const std::string& path) -> absl::StatusOr<std::unique_ptr<RecordFile>> {
    COHORT_ASSIGN_OR_RETURN(std::unique_ptr<InputStream> stream, OpenStream(*files, path, compression));
    auto file = std::make_unique<CsvFile>(std::move(stream), delimiter[0], *columns);
    if (header) COHORT_RETURN_IF_ERROR(file->Read().status());
    return file;
  };
  return MakeRecordFiles(std::move(paths), std::move(specs), open);
}

}  // namespace cohort
