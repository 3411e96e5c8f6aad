#include "runtime/formats/example.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "runtime/formats/tfrecord.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> Records(const std::string& name) {
  const auto files = *MakePosixFileSystem("");
  const auto reader = *TfRecordReader::Open(*files, "tests/testdata/tfrecord/" + name);
  std::vector<std::string> records;
  for (absl::string_view record; *reader->Next(record);) records.emplace_back(record);
  return records;
}

// The features by key, of two with one key the later.
std::map<std::string, ExampleFeature> Split(absl::string_view message) {
  std::vector<ExampleFeature> features;
  EXPECT_THAT(SplitExample(message, features), ::cohort::testing::IsOk());
  std::map<std::string, ExampleFeature> by_key;
  for (const ExampleFeature& feature : features) by_key[std::string(feature.key)] = feature;
  return by_key;
}

template <typename T>
std::vector<T> Values(const ExampleFeature& feature) {
  std::vector<T> values;
  EXPECT_THAT(AppendValues(feature, values), ::cohort::testing::IsOk()) << feature.key;
  return values;
}

TEST(ExampleTest, ReadsEveryEncoding) {
  const std::vector<std::string> records = Records("example_encodings.tfrecord");
  auto features = Split(records[0]);
  EXPECT_EQ(features.size(), 11u);
  EXPECT_THAT(Values<absl::string_view>(features["bytes"]), ElementsAre("", absl::string_view("\0\xff", 2), "abc"));
  EXPECT_THAT(Values<int64_t>(features["duplicate"]), ElementsAre(2));
  EXPECT_THAT(Values<float>(features["empty_float"]), IsEmpty());
  EXPECT_EQ(features["empty_float"].kind, FeatureKind::kFloat);
  EXPECT_THAT(Values<int64_t>(features["mixed_int64"]), ElementsAre(7, 8, 9, 10));
  EXPECT_THAT(Values<int64_t>(features["oneof_last_wins"]), ElementsAre(5));
  const std::vector<float> packed = Values<float>(features["packed_float"]);
  ASSERT_EQ(packed.size(), 3u);
  EXPECT_EQ(packed[0], 1.0f);
  EXPECT_EQ(packed[1], -2.0f);
  EXPECT_TRUE(std::isnan(packed[2]));
  EXPECT_THAT(Values<int64_t>(features["packed_int64"]), ElementsAre(1, -1, INT64_MAX, INT64_MIN));
  EXPECT_THAT(Values<float>(features["unpacked_float"]), ElementsAre(1.0f, 0.5f));
  EXPECT_THAT(Values<int64_t>(features["unpacked_int64"]), ElementsAre(300, -300));
  EXPECT_EQ(features["unset"].kind, FeatureKind::kNone);
  EXPECT_THAT(Values<int64_t>(features["unset"]), IsEmpty());
  EXPECT_THAT(Values<int64_t>(features["value_before_key"]), ElementsAre(42));
  EXPECT_THAT(Split(records[1]), IsEmpty());
  EXPECT_THAT(Split(records[2]), IsEmpty());
}

TEST(ExampleTest, ReadsRealExamples) {
  const std::vector<std::string> taxis = Records("taxi_eval_data_tfrecord-00000-of-00012.gz");
  auto taxi = Split(taxis[0]);
  EXPECT_THAT(Values<int64_t>(taxi["dropoff_census_tract"]), ElementsAre(17031080100));
  EXPECT_THAT(Values<float>(taxi["dropoff_latitude"]), ElementsAre(41.9075203f));
  EXPECT_EQ(taxi["company"].kind, FeatureKind::kNone);
  const std::vector<std::string> flowers = Records("data_tfrecord-00000-of-00004.gz");
  auto iris = Split(flowers[1]);
  EXPECT_THAT(Values<float>(iris["petal_width"]), ElementsAre(2.0999999f));
  EXPECT_THAT(Values<int64_t>(iris["variety"]), ElementsAre(2));
}

TEST(ExampleTest, OtherKindsAreRefused) {
  const std::vector<std::string> records = Records("example_encodings.tfrecord");
  auto features = Split(records[0]);
  std::vector<float> floats;
  EXPECT_THAT(AppendValues(features["packed_int64"], floats),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("holds int64 values, not float")));
}

TEST(ExampleTest, BrokenMessagesAreErrorsWithAPlace) {
  std::vector<ExampleFeature> features;
  EXPECT_THAT(SplitExample("not an example", features),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("broken at its byte")));
  // Field 1 of 100 bytes, of which 2 are there; a length of ten bytes; a group.
  for (const std::string& bytes : {std::string("\x0a\x64xx"), std::string("\x0a") + std::string(10, '\xff'),
                                   std::string("\x0b\x0c"), std::string("\x0a\x02\x08\x01")}) {
    EXPECT_THAT(SplitExample(bytes, features), StatusIs(absl::StatusCode::kInvalidArgument)) << bytes;
  }
}

TEST(ExampleTest, EveryCutIsReadOrRefused) {
  const std::string whole = Records("example_encodings.tfrecord")[0];
  std::vector<ExampleFeature> features;
  size_t good = 0;  // where the second Features field of the message begins
  for (size_t cut = 1; cut < whole.size(); ++cut) {
    const absl::Status status = SplitExample(whole.substr(0, cut), features);
    if (status.ok()) {
      EXPECT_EQ(good, 0u) << cut;
      good = cut;
    } else {
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument)) << cut;
    }
  }
}

TEST(ExampleTest, BuildsWhatItReads) {
  const std::vector<int64_t> ints = {1, -1, 300, INT64_MAX, INT64_MIN};
  const std::vector<float> floats = {1.5f, -2.0f};
  const std::vector<absl::string_view> texts = {"", absl::string_view("\0\xff", 2), "abc"};
  ExampleBuilder builder;
  builder.Add("ints", ints);
  builder.Add("floats", floats);
  builder.Add("texts", texts);
  builder.Add("none", std::vector<float>());
  const std::string message = builder.Finish();
  auto features = Split(message);
  EXPECT_EQ(Values<int64_t>(features["ints"]), ints);
  EXPECT_EQ(Values<float>(features["floats"]), floats);
  EXPECT_EQ(Values<absl::string_view>(features["texts"]), texts);
  EXPECT_EQ(features["none"].kind, FeatureKind::kFloat);
  EXPECT_THAT(Values<float>(features["none"]), IsEmpty());
  EXPECT_EQ(builder.Finish(), std::string("\x0a\x00", 2));
}

}  // namespace
}  // namespace cohort
