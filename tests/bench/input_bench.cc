// How fast examples come from files in the page cache, on one core: medians over rounds, by the processor's time.
//   input_bench [--json] [--rounds=5] [NAME...]     names as printed; none: all
// With --json one line per row: {"name":…,"items_per_second":…,"bytes_per_second":…}.

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime/base/status_macros.h"
#include "runtime/dataset/iterator.h"
#include "runtime/formats/tfrecord.h"
#include "tests/testing/temp_dir.h"

namespace cohort {
namespace {

double CpuSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// What one pass over the data amounts to.
struct Amount {
  int64_t items = 0;
  int64_t bytes = 0;
};

struct Case {
  std::string name;
  std::function<absl::StatusOr<Amount>()> pass;
};

absl::Status WriteRecords(FileSystem& files, const std::string& path, const std::string& record, int64_t count) {
  COHORT_ASSIGN_OR_RETURN(const auto writer, TfRecordWriter::Create(files, path));
  for (int64_t i = 0; i < count; ++i) COHORT_RETURN_IF_ERROR(writer->Write(record));
  return writer->Close();
}

absl::StatusOr<Amount> ReadRecords(const FileSystem& files, const std::string& path) {
  COHORT_ASSIGN_OR_RETURN(const auto reader, TfRecordReader::Open(files, path));
  Amount amount;
  absl::string_view record;
  while (true) {
    COHORT_ASSIGN_OR_RETURN(const bool more, reader->Next(record));
    if (!more) break;
    ++amount.items;
  }
  amount.bytes = reader->offset();
  return amount;
}

// One epoch of a data set; an item is a row of the first component.
absl::StatusOr<Amount> ReadEpoch(DatasetIterator& iterator, int64_t epoch) {
  COHORT_RETURN_IF_ERROR(iterator.Reset(epoch));
  Amount amount;
  Element element;
  while (true) {
    COHORT_ASSIGN_OR_RETURN(const bool more, iterator.Next(element));
    if (!more) return amount;
    amount.items += element[0].shape().rank() > 0 ? element[0].shape().dim(0) : 1;
    for (const Tensor& component : element) amount.bytes += component.num_bytes();
  }
}

absl::StatusOr<Case> DatasetCase(const std::string& name, const DatasetDef& definition) {
  COHORT_ASSIGN_OR_RETURN(std::shared_ptr<DatasetIterator> iterator, MakeIterator(definition));
  return Case{name, [iterator, epoch = int64_t{0}]() mutable { return ReadEpoch(*iterator, epoch++); }};
}

// {"x": 10 floats, "label": an int64}.
std::string SmallExample() {
  std::string message("\x0a\x45\x0a\x31\x0a\x01x\x12\x2c\x12\x2a\x0a\x28", 13);
  message.append(40, '\x3f');
  message.append("\x0a\x10\x0a\x05label\x12\x07\x1a\x05\x0a\x03\x81\x82\x03", 18);
  return message;
}

DatasetDef Batches(DatasetDef input, bool shuffled) {
  if (shuffled) input = {"Shuffle", {}, {std::move(input)}};
  return {"Batch", {{"batch_size", int64_t{128}}}, {std::move(input)}};
}

absl::StatusOr<std::vector<Case>> Cases(FileSystem& files, const testing::TempDir& dir) {
  const std::string large = dir.File("large"), small = dir.File("small"), examples = dir.File("examples");
  COHORT_RETURN_IF_ERROR(WriteRecords(files, large, std::string(64 * 1024, 'x'), 4000));
  COHORT_RETURN_IF_ERROR(WriteRecords(files, small, std::string(100, 'x'), 1'000'000));
  COHORT_RETURN_IF_ERROR(WriteRecords(files, examples, SmallExample(), 200'000));
  std::string rows;
  for (int i = 0; i < 200'000; ++i) absl::StrAppend(&rows, i, ",0.5,1.25,", i % 10, "\n");
  COHORT_RETURN_IF_ERROR(WriteFileAtomically(files, dir.File("csv"), rows));

  const auto names = [](const std::string& path) { return std::vector<std::string>{path}; };
  std::vector<Case> cases;
  cases.push_back({"tfrecord_64k", [&files, large] { return ReadRecords(files, large); }});
  cases.push_back({"tfrecord_100", [&files, small] { return ReadRecords(files, small); }});
  const DatasetDef records{"TFRecord", {{"files", names(small)}}, {}};
  COHORT_ASSIGN_OR_RETURN(cases.emplace_back(), DatasetCase("tfrecord_100_dataset", records));
  const DatasetDef parsed{"ParseExample",
                          {{"keys", std::vector<std::string>{"x", "label"}},
                           {"types", std::vector<std::string>{"float32 [10]", "int64 []"}}},
                          {Batches({"TFRecord", {{"files", names(examples)}}, {}}, false)}};
  COHORT_ASSIGN_OR_RETURN(cases.emplace_back(), DatasetCase("parse_example", parsed));
  const DatasetDef csv{"Csv",
                       {{"files", names(dir.File("csv"))},
                        {"columns", std::vector<std::string>{"int64", "float32", "float32", "int64"}}},
                       {}};
  COHORT_ASSIGN_OR_RETURN(cases.emplace_back(), DatasetCase("csv", Batches(csv, false)));
  const std::string fashion = "/usr/share/datasets/fashion-mnist/train-";
  const DatasetDef idx{
      "Idx",
      {{"paths", std::vector<std::string>{fashion + "images-idx3-ubyte.gz", fashion + "labels-idx1-ubyte.gz"}}},
      {}};
  COHORT_ASSIGN_OR_RETURN(cases.emplace_back(), DatasetCase("fashion_mnist_uint8", Batches(idx, true)));
  COHORT_ASSIGN_OR_RETURN(cases.emplace_back(),
                          DatasetCase("fashion_mnist_float32", Batches({"FashionMnist", {}, {}}, true)));
  return cases;
}

absl::Status Run(bool json, int rounds, const std::vector<std::string>& names) {
  COHORT_ASSIGN_OR_RETURN(const auto files, MakePosixFileSystem(""));
  const testing::TempDir dir;
  COHORT_ASSIGN_OR_RETURN(const std::vector<Case> cases, Cases(*files, dir));
  for (const Case& row : cases) {
    if (!names.empty() && std::find(names.begin(), names.end(), row.name) == names.end()) continue;
    std::vector<double> seconds;
    Amount amount;
    for (int round = 0; round <= rounds; ++round) {
      const double start = CpuSeconds();
      COHORT_ASSIGN_OR_RETURN(amount, row.pass());
      if (round > 0) seconds.push_back(CpuSeconds() - start);  // the first one warms up
    }
    std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
    const double median = seconds[seconds.size() / 2];
    const double items = amount.items / median, bytes = amount.bytes / median;
    if (json) {
      std::printf("{\"name\":\"%s\",\"items_per_second\":%.0f,\"bytes_per_second\":%.0f}\n", row.name.c_str(), items,
                  bytes);
    } else {
      std::printf("%-24s %12.0f items/s %8.3f GB/s\n", row.name.c_str(), items, bytes / 1e9);
    }
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace cohort

int main(int argc, char** argv) {
  bool json = false;
  int rounds = 5;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    absl::string_view argument = argv[i];
    if (argument == "--json") {
      json = true;
    } else if (absl::ConsumePrefix(&argument, "--rounds=")) {
      if (!absl::SimpleAtoi(argument, &rounds) || rounds < 1) return 2;
    } else if (absl::StartsWith(argument, "--")) {
      return 2;
    } else {
      names.emplace_back(argument);
    }
  }
  const absl::Status status = cohort::Run(json, rounds, names);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
