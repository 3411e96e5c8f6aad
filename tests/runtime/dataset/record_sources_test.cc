#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/file_system.h"
#include "runtime/dataset/file_pattern.h"
#include "runtime/dataset/iterator.h"
#include "runtime/formats/example.h"
#include "runtime/formats/tfrecord.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace cohort {
namespace {

using ::cohort::testing::IsOkAndHolds;
using ::cohort::testing::StatusIs;
using ::cohort::testing::TempDir;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Texts = std::vector<std::string>;

const std::string kData = "tests/testdata/";
const std::unique_ptr<FileSystem> files = *MakePosixFileSystem("");

void Write(const std::string& path, const std::string& bytes) {
  COHORT_ASSERT_OK(WriteFileAtomically(*files, path, bytes));
}

DatasetDef TfRecord(Texts patterns) { return {"TFRecord", {{"files", std::move(patterns)}}, {}}; }
DatasetDef Parse(Texts keys, Texts types, Texts defaults, DatasetDef input) {
  return {"ParseExample",
          {{"keys", std::move(keys)}, {"types", std::move(types)}, {"defaults", std::move(defaults)}},
          {std::move(input)}};
}
DatasetDef Batch(int64_t size, DatasetDef input) { return {"Batch", {{"batch_size", size}}, {std::move(input)}}; }

struct Read {
  std::vector<Element> elements;
  absl::Status end;
};

// All elements of epoch 0.
Read ReadAll(const DatasetDef& definition) {
  Read read;
  auto iterator = MakeIterator(definition);
  if (!iterator.ok()) return {{}, iterator.status()};
  while (true) {
    Element element;
    const absl::StatusOr<bool> more = (*iterator)->Next(element);
    read.end = more.status();
    if (!more.ok() || !*more) return read;
    read.elements.push_back(std::move(element));
  }
}

Texts Strings(const DatasetDef& definition) {
  const Read read = ReadAll(definition);
  COHORT_EXPECT_OK(read.end);
  Texts texts;
  for (const Element& element : read.elements) texts.push_back(element[0].strings()[0]);
  return texts;
}

TEST(RecordSourcesTest, PatternsAreExpandedInAStatedOrder) {
  const TempDir dir;
  for (const char* name : {"b-1", "a-2", "a-10", ".a-3"}) Write(dir.File(name), "");
  COHORT_ASSERT_OK(files->CreateDir(dir.File("d")));
  Write(dir.File("d/a-0"), "");
  EXPECT_THAT(ExpandFilePatterns(*files, {dir.File("b*"), dir.File("a-*"), dir.File("none")}),
              IsOkAndHolds(ElementsAre(dir.File("b-1"), dir.File("a-10"), dir.File("a-2"), dir.File("none"))));
  EXPECT_THAT(ExpandFilePatterns(*files, {dir.File("*/a-?")}), IsOkAndHolds(ElementsAre(dir.File("d/a-0"))));
  EXPECT_THAT(ExpandFilePatterns(*files, {dir.File("[ab]-[0-9]")}),
              IsOkAndHolds(ElementsAre(dir.File("a-2"), dir.File("b-1"))));
  EXPECT_THAT(ExpandFilePatterns(*files, {dir.File("c*")}), StatusIs(absl::StatusCode::kNotFound, HasSubstr("/c*'")));
}

TEST(RecordSourcesTest, ExamplesFromFourCompressedFiles) {
  const DatasetDef iris = Parse({"petal_length", "variety"}, {"float32 []", "int64 []"}, {},
                                TfRecord({kData + "tfrecord/data_tfrecord-*-of-00004.gz"}));
  COHORT_ASSERT_OK_AND_ASSIGN(const auto iterator, MakeIterator(Batch(8, iris)));
  EXPECT_EQ(iterator->cardinality(), 4);  // 28 examples
  EXPECT_THAT(iterator->element_spec(),
              ElementsAre(TensorSpec{DType::kF32, Shape{-1}}, TensorSpec{DType::kI64, Shape{-1}}));
  Element element;
  ASSERT_THAT(iterator->Next(element), IsOkAndHolds(true));
  EXPECT_EQ(element[0].values<float>()[0], 5.69999981f);
  EXPECT_EQ(element[1].values<int64_t>()[1], 2);
  EXPECT_EQ(element[0].values<float>()[7], 1.5f);  // the first of the second file
  // Parsed batch by batch it is the same.
  const DatasetDef by_batch = Parse({"petal_length", "variety"}, {"float32 []", "int64 []"}, {},
                                    Batch(8, TfRecord({kData + "tfrecord/data_tfrecord-*-of-00004.gz"})));
  const Read a = ReadAll(Batch(8, iris));
  const Read b = ReadAll(by_batch);
  ASSERT_EQ(a.elements.size(), 4u);
  ASSERT_EQ(b.elements.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    for (size_t c = 0; c < 2; ++c) EXPECT_TRUE(a.elements[i][c].BitwiseEquals(b.elements[i][c]));
  }
}

TEST(RecordSourcesTest, DefaultsAndFeaturesOfAnyLength) {
  const DatasetDef toy = TfRecord({kData + "tfrecord/toy.nocompress-tfe-tfrecord-00000-of-00002"});
  const Read read = ReadAll(
      Parse({"Cat_set_1", "Num_2", "Bool_2"}, {"string [?]", "float32 []", "int64 [1]"}, {"", "=0.5", "=-1"}, toy));
  COHORT_ASSERT_OK(read.end);
  ASSERT_EQ(read.elements.size(), 3u);
  EXPECT_THAT(read.elements[0][0].strings(), ElementsAre("x"));
  EXPECT_THAT(read.elements[1][0].strings(), ElementsAre("x", "y"));
  EXPECT_EQ(read.elements[0][1].values<float>()[0], 0.5f);
  EXPECT_EQ(read.elements[1][1].values<float>()[0], 2.0f);
  EXPECT_EQ(read.elements[1][2].values<int64_t>()[0], -1);
  // In a batch the shorter ones are filled up.
  const Read batch = ReadAll(Parse({"Cat_set_1"}, {"string [?]"}, {}, Batch(2, toy)));
  EXPECT_EQ(batch.elements[0][0].shape(), (Shape{2, 2}));
  EXPECT_THAT(batch.elements[0][0].strings(), ElementsAre("x", "", "x", "y"));
  // The bytes of a string.
  const Read bytes = ReadAll(Parse({"Cat_1"}, {"uint8 [1]"}, {}, toy));
  EXPECT_EQ(bytes.elements[1][0].values<uint8_t>()[0], 'B');
}

TEST(RecordSourcesTest, ExamplesThatDoNotFitAreNamedWithTheKey) {
  const DatasetDef toy = TfRecord({kData + "tfrecord/toy.nocompress-tfe-tfrecord-00000-of-00002"});
  const struct {
    const char* key;
    const char* type;
    const char* message;
  } kTable[] = {
      {"Num_3", "float32 []", "element 0 of epoch 0: feature 'Num_3': is missing"},
      {"Num_2", "float32 []", "feature 'Num_2': is missing"},  // there, but without a value
      {"Num_1", "int64 []", "feature 'Num_1': holds float values, not int64"},
      {"Num_1", "float32 [2]", "feature 'Num_1': has 1 values, its shape [2] needs 2"},
  };
  for (const auto& row : kTable) {
    EXPECT_THAT(ReadAll(Parse({row.key}, {row.type}, {}, toy)).end,
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(row.message)));
  }
  EXPECT_THAT(ReadAll(Parse({"x"}, {"float32 []"}, {}, TfRecord({kData + "tfrecord/five.tfrecord"}))).end,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("element 0 of epoch 0")));
  EXPECT_THAT(ReadAll(Parse({"x"}, {"float64 []"}, {}, toy)).end,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("cannot be float64 []")));
  EXPECT_THAT(ReadAll(Parse({"x"}, {"int64 []"}, {"=y"}, toy)).end,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'y', is no number")));
}

TEST(RecordSourcesTest, DamagedAndMissingFilesAreNamed) {
  const Read damaged =
      ReadAll(TfRecord({kData + "tfrecord/five.tfrecord", kData + "damaged/tfrecord_data_crc.tfrecord"}));
  EXPECT_EQ(damaged.elements.size(), 6u);
  EXPECT_THAT(damaged.end, StatusIs(absl::StatusCode::kDataLoss,
                                    AllOf(HasSubstr("tfrecord_data_crc.tfrecord"), HasSubstr("offset 28"))));
  DatasetDef skipping = TfRecord({kData + "damaged/tfrecord_data_crc.tfrecord"});
  skipping.attributes["skip_damaged"] = true;
  EXPECT_THAT(Strings(skipping), ElementsAre("first record", "third record"));
  EXPECT_THAT(ReadAll(TfRecord({kData + "nowhere"})).end, StatusIs(absl::StatusCode::kNotFound, HasSubstr("nowhere")));
  EXPECT_THAT(ReadAll(TfRecord({kData + "now*"})).end, StatusIs(absl::StatusCode::kNotFound, HasSubstr("now*")));
}

TEST(RecordSourcesTest, AFileThatShrinksWhileItIsReadIsDataLoss) {
  const TempDir dir;
  COHORT_ASSERT_OK_AND_ASSIGN(const auto writer, TfRecordWriter::Create(*files, dir.File("f")));
  for (int i = 0; i < 100; ++i) COHORT_ASSERT_OK(writer->Write(std::string(10'000, 'x')));
  COHORT_ASSERT_OK(writer->Close());
  COHORT_ASSERT_OK_AND_ASSIGN(const auto iterator, MakeIterator(TfRecord({dir.File("f")})));
  Element element;
  ASSERT_THAT(iterator->Next(element), IsOkAndHolds(true));
  ASSERT_EQ(truncate(dir.File("f").c_str(), 500'000), 0);
  absl::StatusOr<bool> more = true;
  while (more.ok() && *more) more = iterator->Next(element);
  EXPECT_THAT(more, StatusIs(absl::StatusCode::kDataLoss, HasSubstr("cut off")));
}

TEST(RecordSourcesTest, FilesAreDealtToWorkers) {
  const TempDir dir;
  for (const char* name : {"f0", "f1", "f2"}) Write(dir.File(name), absl::StrCat(name, "\n"));
  const auto part = [&](int64_t shards, int64_t index) {
    return DatasetDef{
        "TextLines", {{"files", Texts{dir.File("f*")}}, {"num_file_shards", shards}, {"file_index", index}}, {}};
  };
  EXPECT_THAT(Strings(part(2, 0)), ElementsAre("f0", "f2"));
  EXPECT_THAT(Strings(part(2, 1)), ElementsAre("f1"));
  for (const int64_t worker : {0, 3}) {
    EXPECT_THAT(MakeIterator(part(4, worker)),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("3 files"), HasSubstr("not enough for the required 4 shards/workers"))));
  }
}

TEST(RecordSourcesTest, LinesAndFixedLengths) {
  const TempDir dir;
  Write(dir.File("text"), "one\r\ntwo\n\nfour");
  EXPECT_THAT(Strings({"TextLines", {{"files", Texts{dir.File("text")}}}, {}}), ElementsAre("one", "two", "", "four"));
  const auto fixed = [&](const std::string& bytes) {
    Write(dir.File("fixed"), bytes);
    return DatasetDef{"FixedLengthRecords",
                      {{"files", Texts{dir.File("fixed")}},
                       {"record_bytes", int64_t{3}},
                       {"header_bytes", int64_t{2}},
                       {"footer_bytes", int64_t{1}}},
                      {}};
  };
  EXPECT_THAT(Strings(fixed("hhabcdeff")), ElementsAre("abc", "def"));
  EXPECT_THAT(Strings(fixed("hhf")), ElementsAre());
  EXPECT_THAT(ReadAll(fixed("hhabcde")).end,
              StatusIs(absl::StatusCode::kDataLoss, AllOf(HasSubstr("fixed"), HasSubstr("offset 5"))));
  EXPECT_THAT(ReadAll(fixed("h")).end, StatusIs(absl::StatusCode::kDataLoss, HasSubstr("header")));
}

DatasetDef Csv(const std::string& path, Texts columns, Texts defaults = {}, bool header = false) {
  return {"Csv", {{"files", Texts{path}}, {"columns", columns}, {"defaults", defaults}, {"header", header}}, {}};
}

TEST(RecordSourcesTest, CsvColumnsHaveTypesAndDefaults) {
  const TempDir dir;
  Write(dir.File("f.csv"), "id,x,name\n1,0.5,\"a,b\"\n-2,,\n3,1e3,\"\"\n");
  const Read read = ReadAll(Csv(dir.File("f.csv"), {"int64", "float32", "string"}, {"", "=7", "=none"}, true));
  COHORT_ASSERT_OK(read.end);
  ASSERT_EQ(read.elements.size(), 3u);
  EXPECT_EQ(read.elements[1][0].values<int64_t>()[0], -2);
  EXPECT_EQ(read.elements[1][1].values<float>()[0], 7.0f);
  EXPECT_EQ(read.elements[2][1].values<float>()[0], 1000.0f);
  EXPECT_EQ(read.elements[0][2].strings()[0], "a,b");
  EXPECT_EQ(read.elements[1][2].strings()[0], "none");
  EXPECT_EQ(read.elements[2][2].strings()[0], "");  // quoted: empty, not missing
}

TEST(RecordSourcesTest, CsvErrorsNameFileAndRow) {
  const TempDir dir;
  const struct {
    const char* text;
    const char* message;
  } kTable[] = {
      {"1,2\n3\n", "row 2 (line 2): has 1 fields, 2 columns"},
      {"1,2\n3,4,5\n", "row 2 (line 2): has 3 fields, 2 columns"},
      {"1,x\n", "row 1 (line 1): field 2 is 'x', no int32"},
      {"\"1\",4000000000\n", "field 2 is '4000000000', no int32"},
      {"1,2\n\n,4\n", "row 2 (line 3): field 1 is empty, and its column has no default"},
  };
  for (const auto& row : kTable) {
    Write(dir.File("f.csv"), row.text);
    EXPECT_THAT(ReadAll(Csv(dir.File("f.csv"), {"int64", "int32"})).end,
                StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("f.csv"), HasSubstr(row.message))));
  }
  EXPECT_THAT(ReadAll(Csv(dir.File("f.csv"), {"uint8"})).end,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("column 1 is 'uint8'")));
}

TEST(RecordSourcesTest, ArraysOfNumPy) {
  const DatasetDef npz{"Npz", {{"path", kData + "npy/candle/test.npz"}, {"keys", Texts{"x_plus_one", "x"}}}, {}};
  const Read read = ReadAll(Batch(4, npz));
  COHORT_ASSERT_OK(read.end);
  ASSERT_EQ(read.elements.size(), 3u);
  EXPECT_TRUE(read.elements[2][0].BitwiseEquals(Tensor::Of<int64_t>({2}, {9, 10})));
  EXPECT_TRUE(read.elements[2][1].BitwiseEquals(Tensor::Of<int64_t>({2}, {8, 9})));
  EXPECT_THAT(Strings({"Npy", {{"paths", Texts{kData + "npy/numpy1.24/string_U5.npy"}}}, {}}),
              ElementsAre("h\xc3\xa9llo", "a"));
  EXPECT_THAT(ReadAll({"Npy", {{"paths", Texts{kData + "npy/numpy1.24/int64_scalar.npy"}}}, {}}).end,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("scalar")));
  EXPECT_THAT(ReadAll({"Npy", {{"paths", Texts{kData + "npy/numpy1.24/void2_bfloat16_like.npy"}}}, {}}).end,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("without a meaning")));
  EXPECT_THAT(ReadAll({"Npz", {{"path", kData + "npy/numpy1.24/stored.npz"}}, {}}).end,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("array 0 is a scalar")));
  const TempDir dir;
  const std::string header = "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }\n";
  const std::string start = std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(header.size()) + '\0' + header;
  Write(dir.File("good.npy"), start + std::string("\1\0", 2));
  Write(dir.File("bad.npy"), start + "\1\2");
  EXPECT_EQ(ReadAll({"Npy", {{"paths", Texts{dir.File("good.npy")}}}, {}}).elements.size(), 2u);
  EXPECT_THAT(ReadAll({"Npy", {{"paths", Texts{dir.File("bad.npy")}}}, {}}).end,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("neither 0 nor 1")));
  const Read idx = ReadAll({"Idx", {{"paths", Texts{kData + "idx/int32-idx2"}}}, {}});
  ASSERT_EQ(idx.elements.size(), 2u);
  EXPECT_TRUE(idx.elements[0][0].BitwiseEquals(Tensor::Of<int32_t>({3}, {-1, 2, 3})));
}

// The same pictures from IDX, which can be read in any order, and from records, which cannot: every step of every
// number of workers holds the same, shuffled or not, after a restart too.
TEST(RecordSourcesTest, RecordsTrainAsIdxFilesDo) {
  const TempDir dir;
  const DatasetDef idx{
      "Idx",
      {{"paths", Texts{kData + "idx/t10k-first100-images-idx3-ubyte", kData + "idx/t10k-first100-labels-idx1-ubyte"}}},
      {}};
  for (int shard = 0; shard < 2; ++shard) {
    COHORT_ASSERT_OK_AND_ASSIGN(const auto writer,
                                TfRecordWriter::Create(*files, dir.File(absl::StrCat("r-", shard)),
                                                       shard == 0 ? Compression::kNone : Compression::kGzip));
    const Read all = ReadAll(idx);
    for (int i = 50 * shard; i < 50 * (shard + 1); ++i) {
      const Tensor& image = all.elements[i][0];
      ExampleBuilder example;
      example.Add("image", std::vector<absl::string_view>{
                               absl::string_view(static_cast<const char*>(image.data()), image.num_bytes())});
      example.Add("label", std::vector<absl::string_view>{
                               absl::string_view(static_cast<const char*>(all.elements[i][1].data()), 1)});
      COHORT_ASSERT_OK(writer->Write(example.Finish()));
    }
    COHORT_ASSERT_OK(writer->Close());
  }
  const DatasetDef records = Parse({"image", "label"}, {"uint8 [28,28]", "uint8 []"}, {}, TfRecord({dir.File("r-*")}));
  for (const bool shuffled : {false, true}) {
    const auto batches = [&](const DatasetDef& source, int64_t workers, int64_t worker) {
      DatasetDef input = source;
      if (shuffled) input = {"Shuffle", {{"seed", int64_t{9}}}, {input}};
      auto iterator = MakeIterator(
          {"GlobalBatch", {{"batch_size", int64_t{16}}, {"num_workers", workers}, {"index", worker}}, {input}});
      EXPECT_TRUE(iterator.ok()) << iterator.status();
      return *std::move(iterator);
    };
    for (const int64_t workers : {1, 2, 3, 4}) {
      for (int64_t w = 0; w < workers; ++w) {
        auto expected = batches(idx, workers, w);
        auto read = batches(records, workers, w);
        EXPECT_EQ(read->cardinality(), expected->cardinality());
        for (const DatasetPosition start : {DatasetPosition{0, 0}, DatasetPosition{1, 3}}) {
          COHORT_ASSERT_OK(expected->Seek(start));
          COHORT_ASSERT_OK(read->Seek(start));
          Element a, b;
          while (*expected->Next(a)) {
            ASSERT_THAT(read->Next(b), IsOkAndHolds(true));
            for (size_t c = 0; c < 2; ++c) ASSERT_TRUE(a[c].BitwiseEquals(b[c])) << workers << " " << w;
          }
          EXPECT_THAT(read->Next(b), IsOkAndHolds(false));
        }
      }
    }
  }
}

TEST(RecordSourcesTest, ADataRootKeepsThemInside) {
  const TempDir dir;
  Write(dir.File("in"), "x\n");
  COHORT_ASSERT_OK_AND_ASSIGN(const auto rooted, MakePosixFileSystem(dir.path()));
  EXPECT_THAT(MakeIterator({"TextLines", {{"files", Texts{"i*"}}}, {}}, {.files = rooted.get()}),
              ::cohort::testing::IsOk());
  COHORT_ASSERT_OK_AND_ASSIGN(const auto outside, MakeIterator({"TextLines", {{"files", Texts{"/etc/hostname"}}}, {}},
                                                               {.files = rooted.get()}));
  Element element;
  EXPECT_THAT(outside->Next(element), StatusIs(absl::StatusCode::kPermissionDenied));
}

}  // namespace
}  // namespace cohort
