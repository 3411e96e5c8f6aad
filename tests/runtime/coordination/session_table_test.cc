#include "runtime/coordination/session_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/base/first_cause.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::FakeClock;
using ::cohort::testing::IsOk;
using ::cohort::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class SessionTableTest : public ::testing::Test {
 protected:
  SessionOptions Options() {
    SessionOptions options;
    options.lease = absl::Seconds(10);
    options.on_end = [this](int64_t id, const absl::Status& reason) { ends_.emplace_back(id, reason); };
    return options;
  }

  SessionStream Open(std::string client, uint64_t incarnation = 5) {
    SessionRequest request;
    request.client = std::move(client);
    request.client_incarnation = incarnation;
    const auto stream = table_.Open(request, [this](absl::Status status) { admissions_.push_back(std::move(status)); });
    COHORT_EXPECT_OK(stream);
    return stream.value_or(SessionStream{});
  }

  void Pass(absl::Duration duration) {
    clock_.Advance(duration);
    table_.Tick();
  }

  SessionState StateOf(int64_t id) {
    for (const SessionRecord& session : table_.List()) {
      if (session.id == id) return session.state;
    }
    ADD_FAILURE() << "no session " << id;
    return SessionState::kEnding;
  }

  FakeClock clock_;
  AdmissionQueue admission_{clock_};
  std::vector<std::pair<int64_t, absl::Status>> ends_;
  std::vector<absl::Status> admissions_;
  SessionTable table_{Options(), admission_, clock_};
};

TEST_F(SessionTableTest, TheFirstSessionIsOpenAtOnce) {
  EXPECT_EQ(Open("client a").session, 1);
  EXPECT_THAT(admissions_, ElementsAre(IsOk()));
  COHORT_EXPECT_OK(table_.Check(1));
  EXPECT_EQ(StateOf(1), SessionState::kOpen);
}

TEST_F(SessionTableTest, TheSecondSessionWaitsUntilTheFirstIsFreed) {
  Open("client a");
  Open("client b");
  EXPECT_EQ(admissions_.size(), 1u);
  EXPECT_EQ(table_.List()[1].behind, "session 1 of client a");
  EXPECT_THAT(table_.Check(2), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("waiting for its turn")));
  COHORT_EXPECT_OK(table_.Close(1));
  EXPECT_THAT(ends_, ElementsAre(Pair(1, IsOk())));
  EXPECT_EQ(StateOf(1), SessionState::kEnding);
  EXPECT_EQ(admissions_.size(), 1u) << "the tasks still hold what the first one made";
  table_.Freed(1);
  EXPECT_THAT(admissions_, ElementsAre(IsOk(), IsOk()));
  EXPECT_EQ(table_.List().size(), 1u);
}

TEST_F(SessionTableTest, JobsAndSessionsTakeTurns) {
  COHORT_ASSERT_OK(
      admission_.Enter(admission_.NewTicket(), "job 3 'mlp'", absl::InfiniteFuture(), [](absl::Status) {}));
  SessionRequest request;
  request.wait = absl::ZeroDuration();
  EXPECT_THAT(table_.Open(request, [](absl::Status) { FAIL(); }),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("job 3 'mlp' is using the cluster")));
  Open("client a");
  EXPECT_EQ(table_.List().front().behind, "job 3 'mlp'");
}

TEST_F(SessionTableTest, ASessionThatNeedsNoTurnOpensBesideAnother) {
  Open("client a");
  SessionRequest request;
  request.synchronous = false;
  bool open = false;
  COHORT_ASSERT_OK(table_.Open(request, [&](const absl::Status& status) { open = status.ok(); }));
  EXPECT_TRUE(open);
}

TEST_F(SessionTableTest, ALostClientsSessionEndsAfterTheLeaseNamingTheClient) {
  const SessionStream stream = Open("cohort train, pid 71 on h0");
  table_.Disconnected(stream);
  EXPECT_EQ(StateOf(1), SessionState::kDisconnected);
  COHORT_EXPECT_OK(table_.Check(1));
  Pass(absl::Milliseconds(9999));
  EXPECT_THAT(ends_, IsEmpty());
  Pass(absl::Milliseconds(1));
  const auto names_client = HasSubstr("cohort train, pid 71 on h0 did not come back within 10s");
  ASSERT_THAT(ends_, ElementsAre(Pair(1, StatusIs(absl::StatusCode::kUnavailable, names_client))));
  EXPECT_EQ(GetFirstCause(ends_[0].second)->name, "cohort train, pid 71 on h0");
  EXPECT_THAT(table_.Check(1), StatusIs(absl::StatusCode::kNotFound, names_client));
  Pass(absl::Seconds(10));
  EXPECT_EQ(ends_.size(), 1u);
  table_.Freed(1);
  EXPECT_THAT(table_.Resume(1, 5), StatusIs(absl::StatusCode::kNotFound, names_client));
}

TEST_F(SessionTableTest, AClientThatComesBackWithinTheLeaseGoesOn) {
  table_.Disconnected(Open("client a"));
  Pass(absl::Seconds(9));
  COHORT_ASSERT_OK_AND_ASSIGN(const SessionStream stream, table_.Resume(1, 5));
  Pass(absl::Seconds(60));
  EXPECT_THAT(ends_, IsEmpty());
  EXPECT_EQ(StateOf(1), SessionState::kOpen);
  table_.Disconnected(stream);
  Pass(absl::Seconds(10));
  EXPECT_EQ(ends_.size(), 1u);
}

TEST_F(SessionTableTest, NewsOfTheOldStreamAfterAResumeAreIgnored) {
  const SessionStream old = Open("client a");
  COHORT_ASSERT_OK(table_.Resume(1, 5));  // the client noticed the break first
  table_.Disconnected(old);
  EXPECT_EQ(StateOf(1), SessionState::kOpen);
}

TEST_F(SessionTableTest, AnotherClientCannotResume) {
  table_.Disconnected(Open("client a"));
  EXPECT_THAT(table_.Resume(1, 6), StatusIs(absl::StatusCode::kAborted, HasSubstr("belongs to client a")));
  EXPECT_THAT(table_.Resume(8, 5), StatusIs(absl::StatusCode::kNotFound, "there is no session 8"));
}

TEST_F(SessionTableTest, AWaitingClientThatGoesAwayLosesItsPlaceAtOnce) {
  Open("client a");
  const SessionStream b = Open("client b");
  Open("client c");
  table_.Disconnected(b);
  EXPECT_THAT(admissions_, ElementsAre(IsOk(), StatusIs(absl::StatusCode::kCancelled)));
  EXPECT_THAT(ends_, IsEmpty()) << "it held nothing";
  EXPECT_EQ(table_.List()[1].behind, "session 1 of client a");
  COHORT_ASSERT_OK(table_.Close(1));
  table_.Freed(1);
  EXPECT_THAT(admissions_, ElementsAre(IsOk(), StatusIs(absl::StatusCode::kCancelled), IsOk()));
}

TEST_F(SessionTableTest, ClosingTwiceSaysThatItIsOver) {
  Open("client a");
  COHORT_EXPECT_OK(table_.Close(1, absl::UnavailableError("/job:worker/task:1 is lost")));
  EXPECT_THAT(table_.Close(1), StatusIs(absl::StatusCode::kNotFound, "session 1 is over: /job:worker/task:1 is lost"));
  EXPECT_EQ(ends_.size(), 1u);
}

TEST_F(SessionTableTest, ClosingTheAdmissionEndsWaitingSessions) {
  Open("client a");
  Open("client b");
  admission_.Close(absl::CancelledError("shutdown"));
  EXPECT_THAT(admissions_, ElementsAre(IsOk(), StatusIs(absl::StatusCode::kCancelled, "shutdown")));
  EXPECT_EQ(table_.List().size(), 1u);
}

TEST_F(SessionTableTest, AJobsSessionHasNoLeaseAndTakesNoTurn) {
  const int64_t id = table_.OpenForJob(3);
  table_.Disconnected({id, 1});
  Pass(absl::Hours(1));
  EXPECT_THAT(ends_, IsEmpty());
  EXPECT_EQ(table_.List().front().job, 3);
  EXPECT_EQ(table_.List().front().owner, "job 3");
  EXPECT_THAT(table_.Resume(id, 0), StatusIs(absl::StatusCode::kAborted));
  COHORT_EXPECT_OK(table_.Close(id));
  table_.Freed(id);
  EXPECT_THAT(table_.List(), IsEmpty());
}

TEST_F(SessionTableTest, IdsBeginWhereTheLeaderSays) {
  SessionOptions options = Options();
  options.first_id = 1000;
  SessionTable table(options, admission_, clock_);
  EXPECT_EQ(table.OpenForJob(1), 1000);
  EXPECT_EQ(table.OpenForJob(1), 1001);
}

}  // namespace
}  // namespace cohort
