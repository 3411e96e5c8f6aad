#include "runtime/driver/job_result_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace cohort {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

JobResult Result() {
  JobResult result;
  result.steps = 938;
  result.examples = 120000;
  result.loss = 0.25;
  result.accuracy = 0.875;
  result.evaluated = 10000;
  result.examples_per_second = 60000;
  result.seconds = 2;
  result.weights_crc32c = "0badcafe";
  result.state_crc32c = "deadbeef";
  WorkerSummary& worker = result.workers.emplace_back();
  worker.task = {"worker", 1};
  worker.weights_crc32c = "0badcafe";
  worker.examples = 60000;
  worker.steps = 938;
  worker.bytes_sent = 1024;
  return result;
}

TEST(JobResultJsonTest, OneLineWithTheFieldsInOrder) {
  EXPECT_EQ(JobResultToJson(Result()),
            R"({"steps":938,"examples":120000,"loss":0.25,"accuracy":0.875,"examples_per_second":60000.0,)"
            R"("weights_crc32c":"0badcafe","state_crc32c":"deadbeef","seconds":2.0,"evaluated":10000,)"
            R"("workers":[{"task":"/job:worker/task:1","weights_crc32c":"0badcafe","examples":60000,"steps":938,)"
            R"("bytes_sent":1024}]})");
}

TEST(JobResultJsonTest, NoEvaluationIsNullAndZeroAccuracyIsZero) {
  JobResult result = Result();
  result.accuracy = -1;
  EXPECT_THAT(JobResultToJson(result), HasSubstr(R"("accuracy":null)"));
  result.accuracy = 0;
  EXPECT_THAT(JobResultToJson(result), HasSubstr(R"("accuracy":0.0)"));
}

TEST(JobResultJsonTest, WhatJsonCannotSayStaysJson) {
  JobResult result = Result();
  result.loss = std::nan("");
  result.weights_crc32c = "\xff\"\n";
  const std::string text = JobResultToJson(result);
  const nlohmann::json parsed = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  ASSERT_FALSE(parsed.is_discarded()) << text;
  EXPECT_TRUE(parsed["loss"].is_null());
  EXPECT_THAT(text, Not(HasSubstr("\n")));
}

TEST(JobResultJsonTest, NumbersComeBackExactly) {
  JobResult result = Result();
  result.loss = 0.1 + 0.2;
  result.examples = (int64_t{1} << 53) + 1;
  const nlohmann::json parsed = nlohmann::json::parse(JobResultToJson(result));
  EXPECT_EQ(parsed["loss"].get<double>(), 0.1 + 0.2);
  EXPECT_EQ(parsed["examples"].get<int64_t>(), (int64_t{1} << 53) + 1);
}

}  // namespace
}  // namespace cohort
