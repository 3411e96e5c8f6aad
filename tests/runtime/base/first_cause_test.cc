#include "runtime/base/first_cause.h"

#include <gtest/gtest.h>

#include "absl/strings/cord.h"

namespace cohort {
namespace {

const FirstCause kCause = {.task = {"worker", 1},
                           .address = "h1:2222",
                           .incarnation = 0xfedcba9876543210,
                           .seq = 42,
                           .name = "grads/0 \"\xc3\xa4\"",
                           .arrived = {{"chief", 0}, {"worker", 0}},
                           .missing = {{"worker", 1}}};

TEST(FirstCauseTest, ComesBackAsItWasSet) {
  absl::Status status = absl::UnavailableError("gone");
  SetFirstCause(status, kCause);
  EXPECT_EQ(GetFirstCause(status), kCause);
  EXPECT_EQ(status.message(), "gone");
}

TEST(FirstCauseTest, TheFirstOneWins) {
  absl::Status status = absl::UnavailableError("gone");
  SetFirstCause(status, kCause);
  SetFirstCause(status, {.task = {"ps", 0}});
  EXPECT_EQ(GetFirstCause(status)->task, (TaskId{"worker", 1}));
}

TEST(FirstCauseTest, OkCarriesNone) {
  absl::Status status;
  SetFirstCause(status, kCause);
  EXPECT_EQ(status, absl::OkStatus());
  EXPECT_EQ(GetFirstCause(status), std::nullopt);
}

TEST(FirstCauseTest, ForeignPayloadsGiveNone) {
  for (const char* payload : {"", "x", "{}", "[]", R"({"job": 3, "index": 0})"}) {
    absl::Status status = absl::AbortedError("old");
    status.SetPayload(kFirstCauseUrl, absl::Cord(payload));
    EXPECT_EQ(GetFirstCause(status), std::nullopt) << payload;
  }
}

TEST(FirstCauseTest, BytesThatAreNoUtf8DoNotThrow) {
  absl::Status status = absl::UnavailableError("gone");
  SetFirstCause(status, {.name = "\xff"});
  EXPECT_EQ(GetFirstCause(status)->name, "\xef\xbf\xbd");  // the replacement character
}

}  // namespace
}  // namespace cohort
