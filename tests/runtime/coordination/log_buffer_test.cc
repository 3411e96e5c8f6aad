#include "runtime/coordination/log_buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cohort {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Texts(const LogChunk& chunk) {
  std::vector<std::string> texts;
  for (const LogLine& line : chunk.lines) texts.push_back(line.text);
  return texts;
}

TEST(LogBuffer, ReadsOnFromACursor) {
  LogBuffer logs;
  for (const char* text : {"a", "b", "c"}) logs.Append(text);
  const LogChunk first = logs.Read(1, 2);
  EXPECT_THAT(Texts(first), ElementsAre("a", "b"));
  EXPECT_EQ(first.next_seq, 3);
  const LogChunk second = logs.Read(first.next_seq, 2);
  EXPECT_THAT(Texts(second), ElementsAre("c"));
  EXPECT_THAT(Texts(logs.Read(second.next_seq, 2)), IsEmpty());
  EXPECT_EQ(logs.next_seq(), 4);
}

TEST(LogBuffer, AFullRingCountsWhatAReaderMissed) {
  LogBuffer logs(3);
  for (const char* text : {"a", "b", "c", "d", "e"}) logs.Append(text);
  const LogChunk chunk = logs.Read(2, 10);
  EXPECT_THAT(Texts(chunk), ElementsAre("c", "d", "e"));
  EXPECT_EQ(chunk.dropped, 1);
  EXPECT_EQ(chunk.lines[0].seq, 3);
}

TEST(LogBuffer, KeepsTenThousandLinesUnlessToldOtherwise) {
  LogBuffer logs;
  for (int i = 0; i < 10001; ++i) logs.Append("x");
  EXPECT_EQ(logs.Read(1, 20000).lines.size(), 10000u);
}

TEST(LogBuffer, OneJobsLinesAreReadWithoutTheOthers) {
  LogBuffer logs;
  logs.Append("ready");
  logs.Append("step 1", 3);
  logs.Append("other", 4);
  logs.Append("step 2", 3);
  const LogChunk chunk = logs.Read(1, 1, 3);
  EXPECT_THAT(Texts(chunk), ElementsAre("step 1"));
  const LogChunk next = logs.Read(chunk.next_seq, 10, 3);
  EXPECT_THAT(Texts(next), ElementsAre("step 2"));
  EXPECT_EQ(next.next_seq, 5);
}

TEST(LogBuffer, AFollowerIsWokenOnceByTheLineItWaitsFor) {
  LogBuffer logs;
  logs.Append("a");
  int woken = 0;
  logs.NotifyAt(3, [&] { ++woken; });
  logs.Append("b");
  EXPECT_EQ(woken, 0);
  logs.Append("c");
  EXPECT_EQ(woken, 1);
  logs.Append("d");
  EXPECT_EQ(woken, 1);
  logs.NotifyAt(1, [&] { ++woken; });
  EXPECT_EQ(woken, 2) << "the line is there already";
}

TEST(LogBuffer, AFollowerThatCancelledIsNotWoken) {
  LogBuffer logs;
  int woken = 0;
  logs.CancelNotify(logs.NotifyAt(1, [&] { ++woken; }));
  logs.Append("a");
  EXPECT_EQ(woken, 0);
}

TEST(LogBuffer, ClosingWakesEverybodyAndEndsTheLog) {
  LogBuffer logs;
  logs.Append("a");
  int woken = 0;
  logs.NotifyAt(100, [&] { ++woken; });
  EXPECT_FALSE(logs.Read(1, 10).closed);
  logs.Close();
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(logs.Append("late"), 0);
  EXPECT_FALSE(logs.Read(1, 0).closed);
  EXPECT_TRUE(logs.Read(1, 10).closed);
  logs.NotifyAt(100, [&] { ++woken; });
  EXPECT_EQ(woken, 2);
}

}  // namespace
}  // namespace cohort
