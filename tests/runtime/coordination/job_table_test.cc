#include "runtime/coordination/job_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/fake_clock.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::FakeClock;
using ::cohort::testing::IsOk;
using ::cohort::testing::IsOkAndHolds;
using ::cohort::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class JobTableTest : public ::testing::Test {
 protected:
  static JobRequest Request(std::string name, absl::Duration wait = absl::InfiniteDuration()) {
    JobRequest request;
    request.name = std::move(name);
    request.program_bytes = "program of " + request.name;
    request.wait = wait;
    return request;
  }

  static JobRecord Known(int64_t id, JobState state) {
    JobRecord record;
    record.id = id;
    record.name = "old";
    record.program_bytes = "old program";
    record.state = state;
    return record;
  }

  int64_t Submit(std::string name) {
    const absl::StatusOr<int64_t> id = table_.Submit(Request(std::move(name)));
    COHORT_EXPECT_OK(id);
    return id.value_or(0);
  }

  JobState StateOf(int64_t id) { return table_.Get(id).value().state; }

  FakeClock clock_;
  AdmissionQueue admission_{clock_};
  std::vector<int64_t> started_;
  std::vector<std::string> programs_;
  std::vector<int64_t> cancels_;
  JobTable table_{{[this](const JobRecord& job) {
                     started_.push_back(job.id);
                     programs_.push_back(job.program_bytes);
                   },
                   [this](int64_t id) { cancels_.push_back(id); }},
                  admission_,
                  clock_};
};

TEST_F(JobTableTest, TheFirstJobStartsAtOnceWithItsProgram) {
  EXPECT_EQ(Submit("mlp"), 1);
  EXPECT_THAT(started_, ElementsAre(1));
  EXPECT_THAT(programs_, ElementsAre("program of mlp"));
  const JobRecord job = table_.Get(1).value();
  EXPECT_EQ(job.state, JobState::kRunning);
  EXPECT_EQ(job.started, clock_.Now());
  EXPECT_EQ(job.ended, absl::InfinitePast());
}

TEST_F(JobTableTest, LaterJobsWaitInOrderAndSayBehindWhom) {
  Submit("a");
  Submit("b");
  Submit("c");
  EXPECT_THAT(started_, ElementsAre(1));
  EXPECT_EQ(StateOf(2), JobState::kQueued);
  EXPECT_EQ(table_.Get(2)->behind, "job 1 'a'");
  EXPECT_EQ(table_.List()[2].behind, "job 2 'b'");
  table_.Finish(1, absl::OkStatus(), "{}");
  EXPECT_THAT(started_, ElementsAre(1, 2));
  EXPECT_EQ(table_.Get(2)->behind, "");
  table_.Finish(2, absl::OkStatus(), "{}");
  EXPECT_THAT(started_, ElementsAre(1, 2, 3));
}

TEST_F(JobTableTest, WithoutWaitingTheHolderIsNamedAndNothingIsKept) {
  Submit("a");
  EXPECT_THAT(table_.Submit(Request("b", absl::ZeroDuration())),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("job 1 'a' is using the cluster")));
  EXPECT_EQ(table_.List().size(), 1u);
}

TEST_F(JobTableTest, AnAsynchronousJobRunsBesideAnother) {
  Submit("a");
  JobRequest request = Request("b");
  request.synchronous = false;
  COHORT_ASSERT_OK(table_.Submit(request));
  EXPECT_THAT(started_, ElementsAre(1, 2));
  table_.Finish(2, absl::OkStatus(), "");
  EXPECT_EQ(StateOf(1), JobState::kRunning);
}

TEST_F(JobTableTest, ADoneJobKeepsItsResultButNotItsProgram) {
  Submit("a");
  clock_.Advance(absl::Seconds(3));
  table_.Finish(1, absl::OkStatus(), R"({"loss":0.5})");
  const JobRecord job = table_.Get(1).value();
  EXPECT_EQ(job.state, JobState::kDone);
  EXPECT_EQ(job.result_json, R"({"loss":0.5})");
  EXPECT_EQ(job.program_bytes, "");
  EXPECT_EQ(job.ended - job.started, absl::Seconds(3));
  table_.Finish(1, absl::InternalError("too late"), "");
  EXPECT_EQ(StateOf(1), JobState::kDone);
}

TEST_F(JobTableTest, AFailedJobKeepsItsFirstCause) {
  Submit("a");
  table_.Finish(1, absl::UnavailableError("/job:worker/task:1 is lost"), "");
  EXPECT_EQ(StateOf(1), JobState::kFailed);
  EXPECT_THAT(table_.Get(1)->result, StatusIs(absl::StatusCode::kUnavailable, "/job:worker/task:1 is lost"));
}

TEST_F(JobTableTest, AQueuedJobIsCancelledAtOnceAndNeverStarts) {
  Submit("a");
  Submit("b");
  Submit("c");
  COHORT_EXPECT_OK(table_.Cancel(2, "asked by a user"));
  EXPECT_EQ(StateOf(2), JobState::kCancelled);
  EXPECT_THAT(table_.Get(2)->result,
              StatusIs(absl::StatusCode::kCancelled, "job 2 'b' was cancelled: asked by a user"));
  EXPECT_THAT(cancels_, IsEmpty());
  table_.Finish(1, absl::OkStatus(), "");
  EXPECT_THAT(started_, ElementsAre(1, 3));
}

TEST_F(JobTableTest, ARunningJobIsAskedToStopOnceAndEndsCancelled) {
  Submit("a");
  Submit("b");
  COHORT_EXPECT_OK(table_.Cancel(1, "Ctrl-C"));
  COHORT_EXPECT_OK(table_.Cancel(1, "Ctrl-C"));
  EXPECT_THAT(cancels_, ElementsAre(1));
  EXPECT_EQ(StateOf(1), JobState::kRunning);
  EXPECT_THAT(started_, ElementsAre(1)) << "the next one waits until the runner has freed everything";
  table_.Finish(1, absl::CancelledError("Ctrl-C"), "");
  EXPECT_EQ(StateOf(1), JobState::kCancelled);
  EXPECT_THAT(started_, ElementsAre(1, 2));
  COHORT_EXPECT_OK(table_.Cancel(1, "again"));
}

TEST_F(JobTableTest, AFaultOfTheJobWinsOverItsCancelling) {
  Submit("a");
  COHORT_ASSERT_OK(table_.Cancel(1, "Ctrl-C"));
  table_.Finish(1, absl::InternalError("nan"), "");
  EXPECT_EQ(StateOf(1), JobState::kFailed);
}

TEST_F(JobTableTest, CancellingAnEndedOrUnknownJobSaysSo) {
  Submit("a");
  table_.Finish(1, absl::OkStatus(), "");
  EXPECT_THAT(table_.Cancel(1, ""),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("job 1 'a' cannot be cancelled: it is done")));
  EXPECT_THAT(table_.Cancel(9, ""), StatusIs(absl::StatusCode::kNotFound, "there is no job 9"));
  EXPECT_THAT(table_.Get(9), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(JobTableTest, AQueuedJobWhoseWaitIsOverFails) {
  Submit("a");
  COHORT_ASSERT_OK(table_.Submit(Request("b", absl::Seconds(2))));
  clock_.Advance(absl::Seconds(2));
  admission_.Tick();
  EXPECT_EQ(StateOf(2), JobState::kFailed);
  EXPECT_THAT(table_.Get(2)->result, StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("job 1 'a'")));
}

TEST_F(JobTableTest, ClosingTheAdmissionCancelsQueuedJobsAndRefusesNewOnes) {
  Submit("a");
  Submit("b");
  admission_.Close(absl::CancelledError("shutdown"));
  EXPECT_EQ(StateOf(1), JobState::kRunning);
  EXPECT_EQ(StateOf(2), JobState::kCancelled);
  EXPECT_THAT(table_.Submit(Request("c")), StatusIs(absl::StatusCode::kCancelled, "shutdown"));
}

TEST_F(JobTableTest, AWatcherSeesEveryChangeUntilTheEnd) {
  Submit("a");
  Submit("b");
  std::vector<std::string> seen;
  COHORT_ASSERT_OK(table_.Watch(2, [&](const JobRecord& job) {
    seen.push_back(std::string(JobStateName(job.state)) + " " + std::to_string(job.progress.step));
    EXPECT_EQ(job.program_bytes, "");
  }));
  table_.Finish(1, absl::OkStatus(), "");
  table_.SetProgress(2, {.step = 20, .steps_total = 100, .examples = 2560, .loss = 0.5, .examples_per_second = 1000});
  EXPECT_EQ(table_.Get(2)->progress.examples, 2560);
  table_.Finish(2, absl::OkStatus(), "");
  table_.SetProgress(2, {.step = 40});
  EXPECT_THAT(seen, ElementsAre("queued 0", "running 0", "running 20", "done 20"));
}

TEST_F(JobTableTest, AWatcherOfAnEndedJobIsToldOnceAndAnUnwatchedOneNoMore) {
  Submit("a");
  int calls = 0;
  COHORT_ASSERT_OK_AND_ASSIGN(const int64_t watch, table_.Watch(1, [&](const JobRecord&) { ++calls; }));
  table_.Unwatch(watch);
  table_.Finish(1, absl::OkStatus(), "");
  EXPECT_EQ(calls, 1);
  COHORT_ASSERT_OK(table_.Watch(1, [&](const JobRecord& job) { calls += job.state == JobState::kDone ? 10 : 100; }));
  EXPECT_EQ(calls, 11);
  EXPECT_THAT(table_.Watch(2, nullptr), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(JobTableTest, ARestartedLeaderGivesIdsAboveTheRestoredOnes) {
  table_.Restore({Known(4, JobState::kDone), Known(7, JobState::kCancelled)});
  EXPECT_EQ(Submit("new"), 8);
  EXPECT_EQ(StateOf(4), JobState::kDone);
  EXPECT_EQ(StateOf(7), JobState::kCancelled);
}

TEST_F(JobTableTest, AJobThatRanWhenTheLeaderDiedHasFailed) {
  table_.Restore({Known(4, JobState::kRunning)});
  EXPECT_EQ(StateOf(4), JobState::kFailed);
  EXPECT_THAT(table_.Get(4)->result,
              StatusIs(absl::StatusCode::kUnavailable, "the leader restarted while job 4 'old' ran"));
  EXPECT_THAT(started_, IsEmpty());
}

TEST_F(JobTableTest, AMemberThatKnowsHowTheJobEndedIsBelieved) {
  table_.Restore({Known(4, JobState::kRunning)});
  table_.Restore({Known(4, JobState::kDone)});
  EXPECT_EQ(StateOf(4), JobState::kDone);
  table_.Restore({Known(4, JobState::kRunning)});
  EXPECT_EQ(StateOf(4), JobState::kDone);
}

TEST_F(JobTableTest, RestoredQueuedJobsStartInOrderAndOnlyOnce) {
  table_.Restore({Known(6, JobState::kQueued), Known(5, JobState::kQueued)});
  table_.Restore({Known(6, JobState::kQueued)});
  EXPECT_THAT(started_, ElementsAre(5));
  EXPECT_THAT(programs_, ElementsAre("old program"));
  table_.Finish(5, absl::OkStatus(), "");
  EXPECT_THAT(started_, ElementsAre(5, 6));
}

TEST_F(JobTableTest, WhatAMemberSaysOfThisLeadersOwnJobIsIgnored) {
  Submit("a");
  table_.Restore({Known(1, JobState::kFailed)});
  EXPECT_EQ(StateOf(1), JobState::kRunning);
  EXPECT_EQ(table_.Get(1)->name, "a");
}

TEST_F(JobTableTest, OnlyTheLastThousandEndedJobsAreListed) {
  for (int i = 1; i <= 1002; ++i) {
    Submit("a");
    table_.Finish(i, absl::OkStatus(), "");
  }
  EXPECT_EQ(table_.List().size(), 1000u);
  EXPECT_EQ(table_.List().front().id, 3);
}

}  // namespace
}  // namespace cohort
