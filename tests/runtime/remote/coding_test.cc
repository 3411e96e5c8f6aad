#include <gmock/gmock.h>

#include "runtime/remote/common_coding.h"
#include "runtime/remote/job_coding.h"
#include "runtime/remote/member_coding.h"
#include "runtime/remote/ps_coding.h"
#include "runtime/remote/worker_coding.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::StatusIs;
using ::testing::ElementsAre;

FirstCause SomeCause() {
  FirstCause cause;
  cause.task = {"worker", 2};
  cause.address = "h2:2222";
  cause.incarnation = 0xfedcba9876543210;
  cause.seq = 41;
  cause.name = "grads/0";
  cause.arrived.push_back({"worker", 0});
  cause.missing.push_back({"worker", 2});
  return cause;
}

absl::Status SomeStatus() {
  absl::Status status = absl::UnavailableError("\xff rank 2 is gone");
  SetFirstCause(status, SomeCause());
  return status;
}

TEST(CommonCodingTest, StatusKeepsItsFirstCause) {
  EXPECT_EQ(FromProto(ToProto(SomeStatus())), SomeStatus());
  EXPECT_EQ(GetFirstCause(FromProto(ToProto(SomeStatus()))), SomeCause());
  EXPECT_EQ(FromProto(ToProto(absl::OkStatus())), absl::OkStatus());
  EXPECT_EQ(FromProto(ToProto(absl::NotFoundError("m"))), absl::NotFoundError("m"));
}

TEST(CommonCodingTest, TimesComeBackToTheNanosecond) {
  for (const absl::Duration duration :
       {absl::ZeroDuration(), absl::Nanoseconds(-1), absl::Seconds(-1.5), absl::Hours(3) + absl::Nanoseconds(7)}) {
    EXPECT_EQ(FromProto(ToProto(duration)).value(), duration);
    EXPECT_EQ(FromProto(ToProto(absl::UnixEpoch() + duration)).value(), absl::UnixEpoch() + duration);
  }
  EXPECT_GT(FromProto(ToProto(absl::InfiniteDuration())).value(), absl::Hours(24 * 365 * 1000));
}

TEST(CommonCodingTest, WrongTasksAreRefused) {
  wire::TaskId task;
  EXPECT_THAT(FromProto(task), StatusIs(absl::StatusCode::kInvalidArgument));
  task.set_job("ps");
  task.set_index(-1);
  EXPECT_THAT(FromProto(task), StatusIs(absl::StatusCode::kInvalidArgument));
}

SessionSpec SomeSession() {
  SessionSpec spec;
  spec.session = 0xfedcba9876543210;
  spec.epoch = 5;
  spec.group.push_back({{"worker", 0}, "h0:1", 11});
  spec.group.push_back({{"worker", 1}, "h1:1", 12});
  spec.rank = 1;
  spec.parameter_servers.push_back({{"ps", 0}, "h2:1", 13});
  spec.collective_timeout = absl::Seconds(5);
  return spec;
}

wire::OpenSessionRequest WithCaller(const SessionSpec& spec) {
  wire::OpenSessionRequest proto = ToProto(spec);
  proto.mutable_caller()->set_session(spec.session);
  proto.mutable_caller()->set_epoch(spec.epoch);
  return proto;
}

TEST(WorkerCodingTest, SessionComesBack) {
  COHORT_ASSERT_OK_AND_ASSIGN(const SessionSpec back, FromProto(WithCaller(SomeSession())));
  EXPECT_EQ(back.session, 0xfedcba9876543210);
  EXPECT_EQ(back.epoch, 5);
  EXPECT_EQ(back.rank, 1);
  ASSERT_EQ(back.group.size(), 2u);
  EXPECT_EQ(back.group[1].task, (TaskId{"worker", 1}));
  EXPECT_EQ(back.group[1].address, "h1:1");
  EXPECT_EQ(back.group[1].incarnation, 12u);
  EXPECT_EQ(back.parameter_servers[0].incarnation, 13u);
  EXPECT_EQ(back.collective_timeout, absl::Seconds(5));
}

TEST(WorkerCodingTest, RankOutsideTheGroupIsRefused) {
  wire::OpenSessionRequest proto = WithCaller(SomeSession());
  proto.set_rank(2);
  EXPECT_THAT(FromProto(proto), StatusIs(absl::StatusCode::kInvalidArgument));
  proto.set_rank(-1);
  EXPECT_THAT(FromProto(proto), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(WorkerCodingTest, RunReportResultAndSummaryComeBack) {
  RunSpec run;
  run.function = "evaluate";
  run.data = RunSpec::Data::kEvaluate;
  run.first_step = 7;
  run.count = 3;
  run.epoch = 2;
  run.report_every = 10;
  run.fetch = {"logits"};
  COHORT_ASSERT_OK_AND_ASSIGN(const RunSpec run_back, FromProto(ToProto(run)));
  EXPECT_EQ(run_back.function, "evaluate");
  EXPECT_EQ(run_back.data, RunSpec::Data::kEvaluate);
  EXPECT_EQ(run_back.first_step, 7);
  EXPECT_EQ(run_back.count, 3);
  EXPECT_EQ(run_back.epoch, 2);
  EXPECT_EQ(run_back.report_every, 10);
  EXPECT_THAT(run_back.fetch, ElementsAre("logits"));

  RunResult result;
  result.last_step = 9;
  result.sums = {3, 192, 0.1, {5, 6}};
  result.end_of_data = true;
  result.stopped = true;
  result.fetched.push_back(Tensor::Of<float>({2}, {1, 2}));
  COHORT_ASSERT_OK_AND_ASSIGN(const RunResult result_back, FromProto(ToProto(result)));
  EXPECT_EQ(result_back.last_step, 9);
  EXPECT_EQ(result_back.sums.steps, 3);
  EXPECT_EQ(result_back.sums.examples, 192);
  EXPECT_EQ(result_back.sums.loss_sum, 0.1);
  EXPECT_THAT(result_back.sums.metric_sums, ElementsAre(5, 6));
  EXPECT_TRUE(result_back.end_of_data && result_back.stopped);
  EXPECT_TRUE(result_back.fetched.at(0).BitwiseEquals(result.fetched[0]));

  WorkerSummary summary;
  summary.task = {"chief", 0};
  summary.weights_crc32c = "0123abcd";
  summary.state_crc32c = "89abcdef";
  summary.examples = 1;
  summary.steps = 2;
  summary.bytes_sent = 3;
  COHORT_ASSERT_OK_AND_ASSIGN(const WorkerSummary summary_back, FromProto(ToProto(summary)));
  EXPECT_EQ(summary_back.task, summary.task);
  EXPECT_EQ(summary_back.weights_crc32c, "0123abcd");
  EXPECT_EQ(summary_back.state_crc32c, "89abcdef");
  EXPECT_EQ(summary_back.examples, 1);
  EXPECT_EQ(summary_back.steps, 2);
  EXPECT_EQ(summary_back.bytes_sent, 3);
}

TEST(WorkerCodingTest, WrongRunsAreRefused) {
  RunSpec run;
  run.first_step = 0;
  EXPECT_THAT(FromProto(ToProto(run)), StatusIs(absl::StatusCode::kInvalidArgument));
  run.first_step = 1;
  run.count = -1;
  EXPECT_THAT(FromProto(ToProto(run)), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(FromProto(wire::RunRequest()), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(PsCodingTest, SessionAndSummaryComeBack) {
  PsSessionSpec spec;
  spec.seed = 9;
  spec.variables.resize(1);
  spec.variables[0].definition.name = "w";
  spec.variables[0].definition.spec = {DType::kF32, {2}};
  spec.variables[0].optimizer = {{"optimizer", std::string("adam")}, {"beta_1", 0.9}};
  COHORT_ASSERT_OK_AND_ASSIGN(const PsSessionSpec back, FromProto(ToProto(spec)));
  EXPECT_EQ(back.seed, 9u);
  EXPECT_EQ(back.variables.at(0).definition.name, "w");
  EXPECT_EQ(AttributesToString(back.variables[0].optimizer), AttributesToString(spec.variables[0].optimizer));

  PsSummary summary;
  summary.updates = 4;
  summary.values.emplace_back("w:m", Tensor::Of<float>({2}, {1, 2}));
  COHORT_ASSERT_OK_AND_ASSIGN(const PsSummary summary_back, FromProto(ToProto(summary)));
  EXPECT_EQ(summary_back.updates, 4);
  EXPECT_EQ(summary_back.values.at(0).first, "w:m");
  EXPECT_TRUE(summary_back.values[0].second.BitwiseEquals(summary.values[0].second));
}

JobInfo SomeJob() {
  JobInfo info;
  info.id = 3;
  info.name = "mlp";
  info.state = JobState::kFailed;
  info.waits_for = "job 2";
  info.submitted = absl::FromUnixSeconds(100);
  info.started = absl::FromUnixMicros(200);
  info.ended = absl::InfinitePast();
  info.step = 5;
  info.steps_total = 10;
  info.error = SomeStatus();
  return info;
}

void ExpectEqual(const JobInfo& a, const JobInfo& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.waits_for, b.waits_for);
  EXPECT_EQ(a.submitted, b.submitted);
  EXPECT_EQ(a.started, b.started);
  EXPECT_EQ(a.ended, b.ended);
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.steps_total, b.steps_total);
  EXPECT_EQ(a.error, b.error);
}

TEST(JobCodingTest, EveryEventComesBack) {
  JobEvent event;
  event.info = SomeJob();
  event.metric_names = {"correct"};
  event.report.step = 3;
  event.report.losses = {0.5, 0.25};
  event.report.seconds = 1.5;
  event.accuracy = 0.75;
  event.examples = 100;
  event.line = "a line";
  event.result.steps = 5;
  event.result.accuracy = 0.5;
  event.result.weights_crc32c = "00000001";
  event.result.workers.resize(1);
  event.result.workers[0].task = {"worker", 0};
  for (const JobEvent::Kind kind : {JobEvent::Kind::kState, JobEvent::Kind::kReport, JobEvent::Kind::kEvaluation,
                                    JobEvent::Kind::kLog, JobEvent::Kind::kEnd}) {
    event.kind = kind;
    COHORT_ASSERT_OK_AND_ASSIGN(const JobEvent back, FromProto(ToProto(event)));
    EXPECT_EQ(back.kind, kind);
    ExpectEqual(back.info, event.info);
    EXPECT_THAT(back.metric_names, ElementsAre("correct"));
    if (kind == JobEvent::Kind::kReport) {
      EXPECT_EQ(back.report.step, 3);
      EXPECT_THAT(back.report.losses, ElementsAre(0.5, 0.25));
      EXPECT_EQ(back.report.seconds, 1.5);
    }
    if (kind == JobEvent::Kind::kEvaluation) {
      EXPECT_EQ(back.accuracy, 0.75);
      EXPECT_EQ(back.examples, 100);
    }
    if (kind == JobEvent::Kind::kLog) {
      EXPECT_EQ(back.line, "a line");
    }
    if (kind == JobEvent::Kind::kEnd) {
      EXPECT_EQ(back.result.steps, 5);
      EXPECT_EQ(back.result.accuracy, 0.5);
      EXPECT_EQ(back.result.weights_crc32c, "00000001");
      EXPECT_EQ(back.result.workers.at(0).task, (TaskId{"worker", 0}));
    }
  }
}

TEST(JobCodingTest, ClusterStatusComesBack) {
  ClusterStatus status;
  status.epoch = 4;
  status.leader = {"chief", 0};
  status.members.resize(1);
  status.members[0].task = {{"ps", 1}, "h:1", 7};
  status.members[0].present = true;
  status.members[0].devices = "CPU:0";
  status.members[0].last_step = 8;
  status.members[0].last_heartbeat_age_seconds = 0.5;
  status.members[0].bytes_sent = 9;
  status.jobs.push_back(SomeJob());
  COHORT_ASSERT_OK_AND_ASSIGN(const ClusterStatus back, FromProto(ToProto(status)));
  EXPECT_EQ(back.epoch, 4);
  EXPECT_EQ(back.leader, status.leader);
  EXPECT_EQ(back.members.at(0).task.task, (TaskId{"ps", 1}));
  EXPECT_TRUE(back.members[0].present);
  EXPECT_EQ(back.members[0].devices, "CPU:0");
  EXPECT_EQ(back.members[0].last_step, 8);
  EXPECT_EQ(back.members[0].last_heartbeat_age_seconds, 0.5);
  EXPECT_EQ(back.members[0].bytes_sent, 9);
  ExpectEqual(back.jobs.at(0), status.jobs[0]);
}

TEST(MemberCodingTest, MemberAndItsJobsComeBack) {
  MemberInfo info;
  info.task = {"worker", 1};
  info.address = "h1:1";
  info.incarnation = 77;
  info.cluster_fingerprint = 88;
  info.cluster = "worker: h0:1, h1:1";
  info.protocol_version = 1;
  info.devices = {"CPU:0"};
  info.cpu_isa = "avx2";
  info.library_versions = "oneDNN 2.6";
  info.last_epoch = 6;
  info.known_jobs.resize(1);
  JobRecord& job = info.known_jobs[0];
  job.id = 3;
  job.name = "mlp";
  job.program_bytes = std::string("\0\xff", 2);
  job.options = {{"detach", "true"}};
  job.state = JobState::kFailed;
  job.result = SomeStatus();
  job.submitted = absl::FromUnixSeconds(9);
  job.progress.step = 4;
  job.progress.loss = 0.5;
  COHORT_ASSERT_OK_AND_ASSIGN(const MemberInfo back, FromProto(ToProto(info)));
  EXPECT_EQ(back.task, info.task);
  EXPECT_EQ(back.address, info.address);
  EXPECT_EQ(back.incarnation, 77u);
  EXPECT_EQ(back.cluster_fingerprint, 88u);
  EXPECT_EQ(back.cluster, info.cluster);
  EXPECT_EQ(back.protocol_version, 1);
  EXPECT_EQ(back.devices, info.devices);
  EXPECT_EQ(back.cpu_isa, "avx2");
  EXPECT_EQ(back.library_versions, "oneDNN 2.6");
  EXPECT_EQ(back.last_epoch, 6);
  const JobRecord& job_back = back.known_jobs.at(0);
  EXPECT_EQ(job_back.id, 3);
  EXPECT_EQ(job_back.program_bytes, job.program_bytes);
  EXPECT_EQ(job_back.options, job.options);
  EXPECT_EQ(job_back.state, JobState::kFailed);
  EXPECT_EQ(job_back.result, SomeStatus());
  EXPECT_EQ(job_back.submitted, job.submitted);
  EXPECT_EQ(job_back.started, absl::InfinitePast());
  EXPECT_EQ(job_back.progress, job.progress);
}

TEST(MemberCodingTest, RosterChangeComesBack) {
  RosterChange change;
  change.roster.epoch = 7;
  change.roster.leader = {"chief", 0};
  change.roster.members.resize(1);
  change.roster.members[0].task = {"chief", 0};
  change.roster.members[0].address = "h:1";
  change.roster.members[0].incarnation = 5;
  change.roster.members[0].state = MemberState::kLost;
  change.roster.members[0].devices = {"CPU:0"};
  change.losses.resize(1);
  change.losses[0].task = {"worker", 2};
  change.losses[0].epoch = 7;
  change.losses[0].status = SomeStatus();
  change.joined.push_back({"worker", 1});
  COHORT_ASSERT_OK_AND_ASSIGN(const RosterChange back, FromProto(ToProto(change)));
  EXPECT_EQ(back.roster.epoch, 7);
  EXPECT_EQ(back.roster.leader, change.roster.leader);
  EXPECT_EQ(back.roster.members.at(0).state, MemberState::kLost);
  EXPECT_EQ(back.roster.members[0].incarnation, 5u);
  EXPECT_THAT(back.roster.members[0].devices, ElementsAre("CPU:0"));
  EXPECT_EQ(back.losses.at(0).task, (TaskId{"worker", 2}));
  EXPECT_EQ(back.losses[0].status, SomeStatus());
  EXPECT_THAT(back.joined, ElementsAre(TaskId{"worker", 1}));
}

TEST(MemberCodingTest, JoinWithoutIncarnationIsRefused) {
  MemberInfo info;
  info.task = {"worker", 1};
  EXPECT_THAT(FromProto(ToProto(info)), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace cohort
