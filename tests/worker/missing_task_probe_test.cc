#include "worker/missing_task_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "absl/time/clock.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(MissingTaskProbeTest, SaysOfEachMissingTaskWhyItCannotBeReached) {
  MembershipOptions options;
  for (int i = 0; i < 4; ++i) options.expected.push_back({{"worker", i}, "h" + std::to_string(i) + ":2222"});
  MemberInfo self;
  self.task = {"worker", 0};
  self.address = "h0:2222";
  self.incarnation = 1;
  Membership membership(options, self, Clock::Real());
  Mutex mu;
  std::map<std::string, int> dialled;
  const auto dial = [&](const std::string& address, absl::Time) -> absl::Status {
    MutexLock lock(&mu);
    ++dialled[address];
    if (address == "h1:2222") return absl::UnavailableError("DNS resolution failed for h1:2222: C-ares status");
    if (address == "h2:2222") return absl::UnavailableError("failed to connect to all addresses: Connection refused");
    return absl::OkStatus();
  };
  {
    MissingTaskProbe probe(membership, dial);
    MutexLock lock(&mu);
    const auto twice = [&] { return dialled["h3:2222"] >= 2; };
    ASSERT_TRUE(mu.AwaitWithDeadline(twice, absl::Now() + absl::Seconds(10)));
  }
  EXPECT_THAT(membership.StartupReport(),
              AllOf(HasSubstr("h1:2222 (name not resolved)"), HasSubstr("h2:2222 (connection refused)"),
                    HasSubstr("h3:2222 (it answers, but has not joined)"), Not(HasSubstr("worker/task:0"))));
  EXPECT_EQ(dialled.count("h0:2222"), 0);
}

}  // namespace
}  // namespace cohort
